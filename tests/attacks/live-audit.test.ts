/** A tenant's admin who opens sessions that hear of the audit trail until the platform's own people hear nothing more. */
import { afterEach, expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { post, toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const config = `[audit]
[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
${helloServer()}`;
const tokens = {
  root: ["--user", "root", "--role", "admin"],
  app: ["--user", "app"],
  boss: ["--user", "boss", "--role", "admin", "--tenant", "acme"],
};
/** More sessions than hear in a process, with as many of each token as one caller has. */
const TOKENS = 33;
const EACH = 32;

const initialize = {
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: { mgp: { version: "0.3.0", extensions: ["audit"] } },
    clientInfo: { name: "listener", version: "1" },
  },
};

describeAttacks("the platform's live audit", { config, tokens }, (field) => {
  let life = new AbortController();
  afterEach(() => {
    life.abort();
    life = new AbortController();
  });
  const url = () => `${field.origin(0)}/mcp`;

  async function listen(who: string): Promise<() => string> {
    const { headers } = await post(url(), initialize, field.as(who));
    const session = { "mcp-session-id": headers.get("mcp-session-id") ?? "", ...field.as(who) };
    const stream = await fetch(url(), { headers: { accept: "text/event-stream", ...session }, signal: life.signal });
    let heard = "";
    const read = async () => {
      for await (const piece of stream.body ?? []) heard += Buffer.from(piece).toString("latin1");
    };
    read().catch(() => undefined);
    return () => heard;
  }

  const making: [string, (at: number) => object][] = [
    ["users", (at) => ({ user: `user ${at}` })],
    ["clients of users", (at) => ({ user: `client's ${at}`, client: "x" })],
    ["tokens of one user", () => ({ user: "one" })],
  ];

  test.each(making)("goes on, though sessions of many %s of a tenant hear", { timeout: 60_000 }, async (_, owner) => {
    const heard = await listen("root");
    const call = (name: string) => field.rpc(toolCall(1, "hello.greet", { name }), { as: "app", at: 0 });
    const calls = () => heard().split("TOOL_EXECUTED").length - 1;
    await call("before");
    await expect.poll(calls).toBe(1);
    for (let at = 0; at < TOKENS; at++) {
      const { body } = await field.api("POST", "/api/tokens", owner(at), { as: "boss", at: 0 });
      const authorization = `Bearer ${(body as { token: string }).token}`;
      const opened = await Promise.all(Array.from({ length: EACH }, () => post(url(), initialize, { authorization })));
      expect(opened.every(({ headers }) => headers.has("mcp-session-id"))).toBe(true);
    }
    await call("after");
    await expect.poll(calls).toBe(2);
  });
});
