import { expect, test } from "vitest";
import { callFailed, describeRefusal } from "./describe-refusal.ts";
import { RpcFault } from "./mcp-client.ts";

const asked = (role: string | undefined) => ({ about: async () => ({ role, grantsNothing: false }) });

test.each([
  ["Unknown tool", "a.b: Unknown tool (-32602)"],
  ["MCP error -32602: Unknown tool", "a.b: MCP error -32602: Unknown tool"],
  ["Unknown tool (-32602)", "a.b: Unknown tool (-32602)"],
])("the code of %j is said once", async (message, said) => {
  expect((await callFailed("a.b", message, { code: -32602 }, asked("admin"))).lines).toEqual([said]);
});

test("the gateway's own code and call stand under its key; what else a fault brings is not shown as the gateway's", async () => {
  const facts = { code: "NOT_ALLOWED", callId: "c-7" };
  const said = (data: object) =>
    describeRefusal("a.b", new RpcFault({ code: -32603, message: "No.", data }), asked("viewer"));
  expect(await said({ ...facts, "dev.isthmus/error": facts })).toMatchObject({
    lines: ["a.b: No. (NOT_ALLOWED)", '"isthmus trace c-7" shows how far the call came'],
  });
  expect(await said({ ...facts, "dev.isthmus/relayedError": facts })).toMatchObject({ lines: ["a.b: No. (-32603)"] });
});

test("whoever may not look at calls is not told to trace one", async () => {
  const facts = { code: "NOT_ALLOWED", callId: "c-7" };
  expect((await callFailed("a.b", "No.", facts, asked(undefined))).lines).toEqual(["a.b: No. (NOT_ALLOWED)"]);
});
