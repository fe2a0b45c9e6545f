import { expect, test } from "vitest";
import { GatewayError } from "../../contract/index.ts";
import { errorParts } from "./mcp-errors.ts";

const facts = { code: "NOT_ALLOWED", callId: "c-7", retry: "never" };

test.each([
  ["an error", "resources/read", {}, { error: { data: { ...facts, "dev.isthmus/error": facts } } }],
  ["a page to open", "tools/call", { visit: {} }, { error: { data: { "dev.isthmus/error": facts } } }],
  ["a result", "tools/call", {}, { result: { _meta: { "dev.isthmus/error": facts } } }],
])("what the gateway says of its own failure stands under its own key in %s", (_what, method, details, parts) => {
  expect(errorParts(method, new GatewayError("NOT_ALLOWED", { details }), "c-7")).toMatchObject(parts);
});

test("a refusal that says to call again is no call that never succeeds", () => {
  const again = { ...facts, retry: "caller" };
  const error = new GatewayError("NOT_ALLOWED", { details: { mayRepeat: true } });
  expect(errorParts("tools/call", error, "c-7")).toMatchObject({ result: { _meta: { "dev.isthmus/error": again } } });
});
