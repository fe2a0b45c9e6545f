import { expect, test } from "vitest";
import { plainPath } from "./redact.ts";

const ID = "0f8fad5b-d9cb-469f-a165-70867728950e";

test.each([
  ["/mcp", "/mcp"],
  ["/mcp?access_token=x", "/mcp"],
  ["/v1.0/mcp", "/v1.0/mcp"],
  [`/approvals/${ID}`, `/approvals/${ID}`],
  [`/approvals/${ID}.${"s".repeat(43)}`, `/approvals/${ID}`],
  [`/approvals/${ID}.s?x`, `/approvals/${ID}`],
  [`/approvals/${ID}%2E${"s".repeat(43)}`, `/approvals/${ID}`],
  ["/approvals/.a.b\nc", "/approvals/"],
])("of %j %j is put on record", (url, path) => {
  expect(plainPath(url)).toBe(path);
});
