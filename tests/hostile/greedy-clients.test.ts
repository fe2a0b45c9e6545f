import { describe, expect, test } from "vitest";
import { startGateway } from "../e2e/kit/gateway.ts";
import { post } from "../e2e/kit/rpc.ts";
import { callTool, openSession, textOf } from "./kit/call.ts";
import { MIB } from "./kit/observe.ts";
import { scriptedServer } from "./kit/stdio-table.ts";

/** Little enough that the process would end, had it to keep what is sent here. */
const env = { NODE_OPTIONS: "--max-old-space-size=128" };

describe("a client that says more of itself than anybody needs", () => {
  test.each(["capabilities", "clientInfo"])("is refused, and nothing of its %s is kept", async (member) => {
    await using gateway = await startGateway({ config: scriptedServer("canary"), env });
    const long = { x: "x".repeat(3 * MIB) };
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "a", version: "1" },
      [member]: long,
    };
    for (let turn = 0; turn < 60; turn++) {
      const { status, messages } = await post(gateway.url, { id: turn, method: "initialize", params });
      expect({ status, messages }).toMatchObject({ status: 200, messages: [{ id: turn, error: { code: -32602 } }] });
    }
    const session = await openSession(gateway.url);
    expect(textOf(await callTool(gateway.url, session, "canary.echo", { text: "well" }))).toBe("well");
  });

  test("may be as long as a real one", async () => {
    await using gateway = await startGateway({ config: scriptedServer("canary") });
    const session = await openSession(gateway.url, { experimental: { x: "x".repeat(30_000) } });
    expect(session["mcp-session-id"]).not.toBe("");
  });
});
