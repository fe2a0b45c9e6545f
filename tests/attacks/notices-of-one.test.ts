/** One caller that tells a sound server more than it can take, without a call: no limit counts that. */
import { Agent, request } from "node:http";
import { afterAll, expect, test } from "vitest";
import { openSession, toolCall } from "../e2e/kit/rpc.ts";
import { EventStream } from "../hostile/kit/event-stream.ts";
import { PEOPLE } from "./kit/config-parts.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";
import { PatientServer } from "./kit/patient-server.ts";

const patient = await PatientServer.start();
afterAll(() => patient[Symbol.asyncDispose]());

const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[[servers]]
id = "patient"
era = "2025"
url = "${patient.url}"
`;

const CONNECTIONS = 16;
const CALLS = 40;
const NOTICE = { jsonrpc: "2.0", method: "notifications/x", params: {} };
const [AT_ONCE, EACH_SECOND] = [256, 64];

const tokens = { ...PEOPLE, root: ["--user", "root", "--role", "admin"] };

describeAttacks("notifications without end", { config, tokens }, (field) => {
  /** Over connections of their own, one after the other on each, until it is told to stop. */
  function flood(headers: Record<string, string>, message: string): () => Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const life = { isOver: false };
    const sendOne = () =>
      new Promise<void>((resolve) => {
        const sent = request(`${field.origin(0)}/mcp`, {
          agent,
          method: "POST",
          headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
        });
        sent.on("response", (response) => response.resume().on("close", resolve));
        sent.on("error", () => resolve());
        sent.end(message);
      });
    const keepSending = async () => {
      while (!life.isOver) await sendOne();
    };
    const all = Promise.all(Array.from({ length: CONNECTIONS }, keepSending));
    return async () => {
      life.isOver = true;
      await all;
      agent.destroy();
    };
  }

  async function openOld(as: Record<string, string>): Promise<Record<string, string>> {
    const params = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "eve", version: "1" } };
    const { headers } = await field.rpc({ id: 0, method: "initialize", params }, { headers: as, at: 0 });
    return { ...as, "mcp-session-id": headers.get("mcp-session-id") ?? "" };
  }

  test.each<[string, (as: Record<string, string>) => Promise<() => Promise<void>>]>([
    [
      "one by one",
      async (as) => {
        const session = { ...(await openSession(`${field.origin(0)}/mcp`, {}, as)), ...as };
        await field.rpc(toolCall(1, "patient.greet", {}), { headers: session, at: 0 });
        return flood(session, JSON.stringify(NOTICE));
      },
    ],
    [
      "in batches",
      async (as) => {
        const session = await openOld(as);
        await field.rpc(toolCall(1, "patient.greet", {}), { headers: session, at: 0 });
        return flood(session, JSON.stringify(new Array(256).fill(NOTICE)));
      },
    ],
    [
      "about a question",
      async (as) => {
        const url = `${field.origin(0)}/mcp`;
        const session = { ...(await openSession(url, { elicitation: {} }, as)), ...as };
        const message = toolCall(1, "patient.ask", {});
        const stream = await EventStream.open(url, { method: "POST", headers: session, message });
        const question = await stream.message(({ method }) => method === "elicitation/create");
        const { progressToken } = (question.params?._meta ?? {}) as { progressToken?: unknown };
        const progress = { ...NOTICE, method: "notifications/progress", params: { progressToken, progress: 1 } };
        const stop = flood(session, JSON.stringify(progress));
        return async () => {
          await stop();
          stream.cut();
        };
      },
    ],
  ])("%s fail no call of anybody else", { timeout: 60_000 }, async (_how, begin) => {
    const bob = { ...(await openSession(`${field.origin(0)}/mcp`, {}, field.as("ann"))), ...field.as("ann") };
    const call = async (id: number) =>
      JSON.stringify((await field.rpc(toolCall(id, "patient.greet", {}), { headers: bob, at: 0 })).messages);
    expect(await call(1)).toContain('"hi"');
    const [told, began] = [patient.notices, performance.now()];
    const stop = await begin(field.as("eve"));
    for (let id = 2; id < CALLS; id++) {
      expect(await call(id)).toContain('"hi"');
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    await stop();
    const seconds = (performance.now() - began) / 1000;
    expect(patient.notices - told).toBeGreaterThan(0);
    expect(patient.notices - told).toBeLessThanOrEqual(AT_ONCE + EACH_SECOND * (seconds + 1) + CONNECTIONS);
    expect(await droppedIn(field)).toBeGreaterThan(0);
  });
});

async function droppedIn(field: Attacked): Promise<number> {
  const { text } = await field.api("GET", "/metrics", undefined, { as: "root", at: 0 });
  return Number(/^isthmus_notices_dropped_total\{reason="too-many"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}
