import { expect, test } from "vitest";
import { callFailed, describeRefusal } from "./describe-refusal.ts";
import { RpcFault } from "./mcp-client.ts";

test.each([
  ["Unknown tool", "a.b: Unknown tool (-32602)"],
  ["MCP error -32602: Unknown tool", "a.b: MCP error -32602: Unknown tool"],
  ["Unknown tool (-32602)", "a.b: Unknown tool (-32602)"],
])("the code of %j is said once", (message, said) => {
  expect(callFailed("a.b", message, { code: -32602 }).lines).toEqual([said]);
});

test("the gateway's own code and call stand under its key; what else a fault brings is not shown as the gateway's", () => {
  const facts = { code: "NOT_ALLOWED", callId: "c-7" };
  const said = (data: object) => describeRefusal("a.b", new RpcFault({ code: -32603, message: "No.", data }));
  expect(said({ ...facts, "dev.isthmus/error": facts })).toMatchObject({
    lines: ["a.b: No. (NOT_ALLOWED)", '"isthmus trace c-7" shows how far the call came'],
  });
  expect(said({ ...facts, "dev.isthmus/relayedError": facts })).toMatchObject({ lines: ["a.b: No. (-32603)"] });
});
