import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { post, type RpcMessage } from "../../e2e/kit/rpc.ts";
import { EventStream } from "../../hostile/kit/event-stream.ts";
import {
  ask,
  callOf,
  codeOf,
  expectAlive,
  newMark,
  open,
  type Scenario,
  type Session,
  textOf,
  until,
} from "./story.ts";

/** A call with a name is made once, and has one answer. */
export const keyed: Scenario = ({ world, point }) => {
  const mark = newMark();
  let told: Session | undefined;
  let answer: string | undefined;
  const call = callOf("up.add", { mark });
  const named = (headers: Session) => ({ ...headers, "idempotency-key": mark });
  return {
    async run({ url, child }) {
      const headers = await open(url, (one) => {
        told = one;
      });
      answer = textOf((await post(url, call, named(headers))).messages.at(-1));
      expect(textOf((await post(url, call, named(headers))).messages.at(-1))).toBe(answer);
      child.kill("SIGTERM");
    },
    async check(url) {
      await expectAlive(url, told);
      if (!told) return;
      const [first, second] = [await ask(url, call, named(told)), await ask(url, call, named(told))];
      const message = first.messages.at(-1);
      if (codeOf(message) !== undefined) expect(codeOf(message)).toBe("OUTCOME_UNKNOWN");
      expect(codeOf(second.messages.at(-1))).toBe(codeOf(message));
      expect(textOf(second.messages.at(-1))).toBe(textOf(message));
      if (answer !== undefined) expect(textOf(message)).toBe(answer);
      // Its end was kept, though nobody was told.
      if (/settle\.(after|acknowledged)$/.test(point)) expect(codeOf(message)).toBeUndefined();
      if (codeOf(message) === undefined) expect(world.up.timesOf(mark)).toBe(1);
      expect(world.up.timesOf(mark)).toBeLessThanOrEqual(1);
    },
  };
};

const isAnswer = (message: RpcMessage) => message.id === 1 && message.method === undefined;

/** The mark names the trace, too. */
function openSteps(url: string, session: Session, mark: string): Promise<EventStream> {
  const message = callOf("up.steps", { mark }, { _meta: { progressToken: "t" }, trace_id: mark });
  return EventStream.open(url, { method: "POST", headers: { ...session, accept: "text/event-stream" }, message });
}

/** The rest of a stream that broke off comes after what was seen, and ends. Gives the code it ends with. */
async function expectRest(url: string, session: Session, stream: EventStream): Promise<string | undefined> {
  if (stream.lastId === undefined || stream.messages.some(isAnswer)) return undefined;
  const headers = { ...session, "last-event-id": stream.lastId };
  using rest = await until(async () => {
    const one = await EventStream.open(url, { method: "GET", headers });
    return one.status === 503 ? undefined : one;
  });
  expect(rest.status).toBe(200);
  const answer = await rest.message(isAnswer);
  if (codeOf(answer) !== undefined) expect(codeOf(answer)).toBe("OUTCOME_UNKNOWN");
  const seen = stream.events.flatMap(({ id, message }) => (message ? (id ?? []) : []));
  for (const { id, message } of rest.events) if (message) expect(seen).not.toContain(id);
  return codeOf(answer);
}

type OnTrail = { readonly event_type: string; readonly details: object };

/** Whoever is told that nobody knows how its call ended finds that on the trail, in its trace. */
async function expectOnTrail(url: string, trace: string): Promise<void> {
  const found = await until(async () => {
    const response = await fetch(new URL(`/api/audit?trace_id=${trace}`, url));
    expect(response.status).toBe(200);
    const { events } = (await response.json()) as { events: readonly OnTrail[] };
    return events.length > 0 ? events : undefined;
  });
  expect(found).toMatchObject([{ event_type: "dev.isthmus.call.lost", details: { code: "OUTCOME_UNKNOWN" } }]);
}

/** A call whose answer is a stream: what broke off goes on elsewhere, and has an end, which is on record. */
export const journal: Scenario = ({ world, stores }) => {
  const mark = newMark();
  let told: Session | undefined;
  let stream: EventStream | undefined;
  return {
    async run({ url }) {
      const headers = await open(url, (one) => {
        told = one;
      });
      stream = await openSteps(url, headers, mark);
      await stream.message(isAnswer);
    },
    async check(url) {
      await expectAlive(url, told);
      // It died in the middle of the stream.
      expect(stream?.lastId).toBeDefined();
      const code = told && stream && (await expectRest(url, told, stream));
      if (code !== undefined && stores.text.includes("[audit]")) await expectOnTrail(url, mark);
      expect(world.up.timesOf(mark)).toBe(1);
    },
  };
};

/** The process of a stream is gone, and so is the first who was asked for its rest. */
export const resume: Scenario = ({ world }) => {
  const mark = newMark();
  let told: Session = {};
  let stream: EventStream | undefined;
  return {
    async before(url) {
      told = await open(url);
      stream = await openSteps(url, told, mark);
      await stream.message(({ method }) => method === "notifications/progress");
    },
    async run({ url }) {
      // Of a stream that nobody has written of, the open calls are asked.
      const headers = { ...told, "last-event-id": `${randomUUID()}.0` };
      await until(async () => {
        using one = await EventStream.open(url, { method: "GET", headers });
        return one.status === 503 ? undefined : true;
      });
    },
    async check(url) {
      await expectAlive(url, told);
      if (stream) await expectRest(url, told, stream);
      expect(world.up.timesOf(mark)).toBe(1);
    },
  };
};

/** Each client has a session of its own at the server: whoever takes over goes on with it, until its end. */
export const upstream: Scenario = () => {
  let told: Session | undefined;
  let counted: Counted | undefined;
  let end: "none" | "asked for" | "answered" = "none";
  const add = () => callOf("up.add", { mark: newMark() });
  return {
    async run({ url }) {
      const headers = await open(url, (one) => {
        told = one;
      });
      for (let times = 0; times < 2; times++) {
        counted = JSON.parse(textOf((await post(url, add(), headers)).messages.at(-1)));
      }
      end = "asked for";
      if ((await fetch(url, { method: "DELETE", headers })).status === 200) end = "answered";
    },
    async check(url) {
      if (!told) return await expectAlive(url, told);
      const { status, messages } = await ask(url, add(), told);
      if (end === "answered") expect(status).toBe(404);
      if (end !== "none" && status === 404) return;
      expect(status).toBe(200);
      const now = JSON.parse(textOf(messages.at(-1))) as Counted;
      if (counted) expect(now).toMatchObject({ session: counted.session, count: counted.count + 1 });
    },
  };
};

type Counted = { readonly session: string; readonly count: number };
