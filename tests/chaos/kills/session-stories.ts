import { expect } from "vitest";
import { post } from "../../e2e/kit/rpc.ts";
import { EventStream } from "../../hostile/kit/event-stream.ts";
import {
  ask,
  callOf,
  expectAlive,
  newMark,
  open,
  type Scenario,
  type Session,
  textOf,
  until,
  untilDead,
} from "./story.ts";
import { RESOURCE } from "./upstream.ts";

const UPDATED = "notifications/resources/updated";
const subscription = { id: 2, method: "resources/subscribe", params: { uri: RESOURCE } };
const change = () => callOf("up.change", { mark: newMark() });

/** A session is opened and used. */
export const session: Scenario = () => {
  let told: Session | undefined;
  return {
    async run({ url }) {
      const headers = await open(url, (one) => {
        told = one;
      });
      await post(url, { id: 1, method: "tools/list" }, headers);
      await post(url, callOf("up.add", { mark: newMark() }), headers);
    },
    check: (url) => expectAlive(url, told),
  };
};

/** A session is told what its client wants to hear: both wishes hold wherever it lives. */
export const wishes: Scenario = () => {
  let told: Session | undefined;
  let hasLevel = false;
  let hasSubscribed = false;
  return {
    async run({ url }) {
      const headers = await open(url, (one) => {
        told = one;
      });
      const level = await post(url, { id: 1, method: "logging/setLevel", params: { level: "error" } }, headers);
      hasLevel = level.messages.at(-1)?.result !== undefined;
      hasSubscribed = (await post(url, subscription, headers)).messages.at(-1)?.result !== undefined;
      await post(url, { id: 3, method: "logging/setLevel", params: { level: "error" } }, headers);
    },
    async check(url) {
      await expectAlive(url, told);
      if (!told || !hasLevel) return;
      using stream = await EventStream.open(url, { method: "GET", headers: told });
      const heard = (word: string) => stream.messages.some((message) => JSON.stringify(message).includes(word));
      await until(async () => {
        await ask(url, change(), told ?? {});
        return heard('"high"') && (!hasSubscribed || heard(UPDATED)) ? true : undefined;
      });
      expect(heard('"low"')).toBe(false);
    },
  };
};

/** A session is ended: when that was answered, nobody knows it any more. */
export const deletion: Scenario = ({ point }) => {
  let told: Session | undefined;
  let isAnswered = false;
  return {
    async run({ url, child }) {
      const headers = await open(url, (one) => {
        told = one;
      });
      await post(url, change(), headers);
      isAnswered = (await fetch(url, { method: "DELETE", headers })).status === 200;
      child.kill("SIGTERM");
    },
    async check(url) {
      if (!told) return await expectAlive(url, told);
      const { status } = await ask(url, { id: 3, method: "tools/list" }, told);
      // The entry is gone before anybody is told.
      if (isAnswered || /drop\.(after|acknowledged)$/.test(point)) expect(status).toBe(404);
      else expect([200, 404]).toContain(status);
    },
  };
};

/** The home of a session is gone, and so is the one who takes it over. */
export const takeover: Scenario = () => {
  let told: Session | undefined;
  let upstream = "";
  return {
    async before(url) {
      told = await open(url);
      await post(url, subscription, told);
      upstream = upstreamOf(textOf((await post(url, callOf("up.add", { mark: newMark() }), told)).messages.at(-1)));
    },
    async run({ url }) {
      await ask(url, callOf("up.add", { mark: newMark() }), told ?? {});
    },
    async check(url) {
      await expectAlive(url, told);
      const { messages } = await ask(url, callOf("up.add", { mark: newMark() }), told ?? {});
      expect(upstreamOf(textOf(messages.at(-1)))).toBe(upstream);
    },
  };
};

const upstreamOf = (text: string) => (JSON.parse(text) as { session: string }).session;

/** Something is said while nobody listens; whoever comes back from where it was gets it, once. */
export const outbox: Scenario = () => {
  let told: Session | undefined;
  let last: string | undefined;
  return {
    async run(doomed) {
      const { url } = doomed;
      const headers = await open(url, (one) => {
        told = one;
      });
      await post(url, subscription, headers);
      const stream = await EventStream.open(url, { method: "GET", headers });
      await until(async () => {
        await post(url, change(), headers);
        return stream.messages.some(({ method }) => method === UPDATED) ? true : undefined;
      });
      last = stream.lastId;
      stream.cut();
      await untilDead(doomed, () => post(url, change(), headers));
    },
    async check(url) {
      await expectAlive(url, told);
      expect(last).toBeDefined();
      using stream = await until(async () => {
        const one = await EventStream.open(url, { method: "GET", headers: { ...told, "last-event-id": last ?? "" } });
        return one.status === 200 ? one : undefined;
      });
      // All that was said before the last moment is there, whatever that was.
      await stream.message(({ method }) => method === UPDATED);
      const ids = stream.events.flatMap(({ id, message }) => (message ? (id ?? []) : []));
      expect(ids).not.toContain(last);
      expect(new Set(ids).size).toBe(ids.length);
    },
  };
};

/** A stream of 2024 dies with its process, and everybody says so. */
export const line: Scenario = () => {
  let endpoint: string | undefined;
  return {
    async run({ url }) {
      endpoint = (await listen(url)).endpoint;
    },
    async check(url) {
      if (endpoint !== undefined) {
        const { status } = await post(new URL(endpoint, url).href, { id: 1, method: "ping" });
        expect(status).toBe(404);
      }
      const next = await listen(url);
      expect(next.endpoint).toMatch(/^\/messages/);
      await next.close();
    },
  };
};

/** Opens a stream of 2024, which stays open. */
async function listen(url: string): Promise<{ endpoint: string | undefined; close(): Promise<void> }> {
  const response = await fetch(url.replace(/mcp$/, "sse"), { headers: { accept: "text/event-stream" } });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  while (!text.includes("\n\n")) text += new TextDecoder().decode((await reader.read()).value);
  return { endpoint: /data: (\S+)/.exec(text)?.[1], close: () => reader.cancel() };
}
