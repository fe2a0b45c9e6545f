import { describe, expect, test } from "vitest";
import { FakeOut, fakeCall, fakeSession, toolCall } from "../../../../tests/kit/fake-host.ts";
import { complete, startModern } from "../fixtures/modern-http.ts";
import { openProvider } from "../fixtures/setup.ts";

const QUESTION = { method: "elicitation/create", params: { message: "sure?", requestedSchema: { type: "object" } } };
const session = fakeSession("a", { capabilities: { elicitation: {} } });
const MODERN = { origin: { front: "mcp", protocol: "2026-07-28", requestId: "1" } };

describe("what a server of 2026-07-28 says that has no form for the caller", () => {
  test("a wish for input that says neither what for nor with which state ends the call", async () => {
    await using server = await startModern({
      "tools/call": (exchange) => exchange.result({ resultType: "input_required" }),
    });
    await using setup = await openProvider({ url: server.url });
    await expect(setup.provider.run(toolCall("ask", {}, { session }), new FakeOut())).rejects.toMatchObject({
      code: "PROVIDER_FAILED",
      message: expect.stringContaining("does not say which"),
    });
  });

  test("a wish for input where the protocol has none is relayed to callers of its own era alone", async () => {
    await using server = await startModern({
      "completion/complete": (exchange) =>
        exchange.result({ resultType: "input_required", inputRequests: { q: QUESTION } }),
    });
    await using setup = await openProvider({ url: server.url });
    const completion = { method: "completion/complete", verb: "complete", session } as const;
    const out = new FakeOut();
    await setup.provider.run(fakeCall({ ...completion, ...MODERN }), out);
    expect(out.result).toMatchObject({ resultType: "input_required" });
    await expect(setup.provider.run(fakeCall(completion), new FakeOut())).rejects.toMatchObject({
      code: "PROVIDER_FAILED",
    });
  });

  test("an error code without a shared meaning passes as it is, in both directions", async () => {
    const error = { code: -32011, message: "own words", data: { a: 1 } };
    await using server = await startModern({
      "tools/call": (exchange) => exchange.json({ jsonrpc: "2.0", id: exchange.message.id, error }),
      "tools/list": (exchange) => exchange.result(complete({ tools: [{ name: "echo", inputSchema: {} }] })),
    });
    await using setup = await openProvider({ url: server.url });
    for (const more of [{}, MODERN]) {
      const out = new FakeOut();
      await setup.provider.run(toolCall("echo", {}, more), out);
      expect([out.ends[0], out.result]).toMatchObject([{ outcome: "fault" }, error]);
    }
  });
});
