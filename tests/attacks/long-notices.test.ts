/** A server that says very long things to very many clients, who are away. */
import { expect, test } from "vitest";
import { openSession, post, type RpcResponse, toolCall } from "../e2e/kit/rpc.ts";
import { openTo, PEOPLE } from "./kit/config-parts.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const config = openTo("s", "telling-server.mjs", 'sessions = "shared"');
/** Little enough that a process would end, had it to keep what is said here for each. */
const env = { NODE_OPTIONS: "--max-old-space-size=96" };
const CLIENTS = 150;
const UPDATED = "notifications/resources/updated";
const BYTES = 500_000;

describeAttacks("long words of a server", { config, tokens: PEOPLE, env }, (field) => {
  async function subscriber(...uris: string[]): Promise<Record<string, string>> {
    const url = `${field.origin(0)}/mcp`;
    const session = { ...(await openSession(url, {}, field.as("ann"))), ...field.as("ann") };
    for (const uri of uris) await post(url, { id: 1, method: "resources/subscribe", params: { uri } }, session);
    return session;
  }
  const say = (args: object, as = "bob"): Promise<RpcResponse> => field.rpc(toolCall(1, "s.say", args), { as, at: 0 });

  test.each<[string, readonly string[], { method: string; params: object; times: number }]>([
    ["of one resource", ["x://one"], { method: UPDATED, params: { uri: "x://one" }, times: 1 }],
    [
      "of several",
      ["x://many", "x://many1", "x://many2", "x://many3"],
      { method: UPDATED, params: { uri: "x://many" }, times: 4 },
    ],
    ["of parts of one", ["x://whole"], { method: UPDATED, params: { uri: "x://whole/part" }, times: 4 }],
    ["in the log", ["x://log"], { method: "notifications/message", params: { level: "error" }, times: 4 }],
  ])(
    "are kept for nobody who is away; that it spoke is: %s",
    async (_name, uris, { method, params, times }) => {
      const sessions: Record<string, string>[] = [];
      for (let turn = 0; turn < CLIENTS; turn += 10)
        sessions.push(...(await Promise.all(Array.from({ length: 10 }, () => subscriber(...uris)))));
      const others = Array.from({ length: 20 }, () => say({}));
      for (let turn = 0; turn < 3; turn++)
        expect((await say({ method, params, times, bytes: BYTES }, "ann")).status).toBe(200);
      expect((await Promise.all(others)).map(({ status }) => status)).toEqual(others.map(() => 200));
      expect((await say({})).status).toBe(200);
      if (method !== UPDATED) return;
      const leaving = new AbortController();
      const stream = await fetch(`${field.origin(0)}/mcp`, {
        headers: { accept: "text/event-stream", ...sessions.at(-1) },
        signal: leaving.signal,
      });
      const reader = stream.body?.getReader();
      let text = "";
      while (!text.includes(UPDATED)) text += Buffer.from((await reader?.read())?.value ?? new Uint8Array()).toString();
      leaving.abort();
      expect(text).toContain((params as { uri: string }).uri);
      expect(text.length).toBeLessThan(10_000);
    },
    90_000,
  );
});
