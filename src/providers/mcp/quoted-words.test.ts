import { expect, test, vi } from "vitest";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { type Exchange, type Handler, startHttpFixture } from "./fixtures/http-server.ts";
import { openProvider } from "./fixtures/setup.ts";

const SECRET = "tok_5f0c2a";

/** What a gateway says of a server to which it sends a secret header. */
async function saidOf(on: Record<string, Handler>) {
  const log = new KeptLog();
  const server = await startHttpFixture(on);
  const headers = { "x-key": SECRET };
  const { provider, host } = await openProvider({ url: server.url, era: "2025", headers }, { log });
  await vi.waitFor(() => expect([...host.states.map(({ message }) => message), ...log.lines]).not.toEqual([]));
  await vi.waitFor(() => expect(host.states.at(-1)?.status).not.toBe("starting"));
  await provider.close();
  await server.stop();
  expect(server.seen[0]?.headers["x-key"]).toBe(SECRET);
  return JSON.stringify([host.states, log.lines]);
}

const version = (protocolVersion: string) => ({
  initialize: (exchange: Exchange) =>
    exchange.result({ protocolVersion, capabilities: {}, serverInfo: { name: "x", version: "1" } }),
});
const fault = (exchange: Exchange, code: unknown) =>
  exchange.json({ jsonrpc: "2.0", id: exchange.message.id, error: { code, message: "no" } });

test.each([
  ["2023-01-01", "The server speaks MCP 2023-01-01, which the gateway does not."],
  ["1.0", "The server speaks MCP 1.0, which the gateway does not."],
  [SECRET, "The server speaks MCP in an unknown version, which the gateway does not."],
  [`2025-06-18 ${SECRET}`, "The server speaks MCP in an unknown version, which the gateway does not."],
])("a server of the version %s is told by what cannot be a secret", async (said, told) => {
  const text = await saidOf(version(said));
  expect(text).toContain(told);
  expect(text).not.toContain(SECRET);
});

test.each([
  [-32000, "code -32000"],
  [SECRET, "code unknown"],
  [Number("9".repeat(20)), "code unknown"],
])("a server that opens no session for the reason %j is told by what cannot be a secret", async (code, told) => {
  const text = await saidOf({ initialize: (exchange) => fault(exchange, code) });
  expect(text).toContain(told);
  expect(text).not.toContain(SECRET);
});

test("a list that is refused with a secret for its code is told without it", async () => {
  const text = await saidOf({ "tools/list": (exchange) => fault(exchange, SECRET) });
  expect(text).toContain("tools/list failed with code unknown");
  expect(text).not.toContain(SECRET);
});
