/** Having the gateway keep more and more in sessions that nobody uses. */
import { expect, test } from "vitest";
import { openSession, post, toolCall } from "../e2e/kit/rpc.ts";
import { openTo, PEOPLE } from "./kit/config-parts.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const config = openTo("s", "telling-server.mjs");
/** Little enough that a process would end, had it to keep what is declared here. */
const env = { NODE_OPTIONS: "--max-old-space-size=64" };
const SESSIONS = 1_500;
const AT_ONCE = 8;

describeAttacks("sessions that declare much", { config, tokens: PEOPLE, env }, (field) => {
  const long = (bytes: number, at: number) => `${"x".repeat(bytes)}${at}`;
  const info = { name: "a", version: "1" };
  type Declared = { readonly capabilities: object; readonly clientInfo: object };

  const attacks: readonly [string, (at: number) => string, (at: number) => Declared][] = [
    [
      "in capabilities",
      () => "ann",
      (at) => ({ capabilities: { experimental: { [long(60_000, at)]: {} } }, clientInfo: info }),
    ],
    ["of itself", () => "cat", (at) => ({ capabilities: {}, clientInfo: { ...info, title: long(60_000, at) } })],
    [
      "under two tokens",
      (at) => (at % 2 ? "dan" : "dans"),
      (at) => ({ capabilities: {}, clientInfo: { ...info, title: long(60_000, at) } }),
    ],
    [
      "in both, half each",
      () => "eve",
      (at) => ({
        capabilities: { experimental: { [long(30_000, at)]: {} } },
        clientInfo: { ...info, title: long(30_000, at) },
      }),
    ],
  ];

  test.each(attacks)(
    "are refused beyond a share of the memory, and others are served: %s",
    async (_name, as, declared) => {
      const statuses = new Set<number>();
      const open = async (at: number) => {
        const params = { protocolVersion: "2025-11-25", ...declared(at) };
        const { status, messages } = await post(
          `${field.origin(0)}/mcp`,
          { id: 0, method: "initialize", params },
          field.as(as(at)),
        );
        statuses.add(status);
        if (status === 503) expect(messages[0]?.error?.message).toContain("declare less");
      };
      for (let at = 0; at < SESSIONS; at += AT_ONCE)
        await Promise.all(Array.from({ length: AT_ONCE }, (_, more) => open(at + more)));
      expect([...statuses].toSorted()).toEqual([200, 503]);
      const session = { ...(await openSession(`${field.origin(0)}/mcp`, {}, field.as("bob"))), ...field.as("bob") };
      expect((await post(`${field.origin(0)}/mcp`, toolCall(1, "s.say", {}), session)).status).toBe(200);
    },
    60_000,
  );
});
