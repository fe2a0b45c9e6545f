import { describe, expect, test } from "vitest";
import { gatewayWords, isProblem } from "./refusal.ts";

const PROBLEM =
  '{"type":"urn:isthmus:error:NO_SUCH_TARGET","title":"Not Found","status":404,"detail":"There is none."}';
const FAULT = '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Too many sessions"}}';
/** As other programs answer. */
const OTHERS = [
  "",
  "<html><title>404 Not Found</title></html>",
  '{"detail":"Not Found"}',
  '{"type":"about:blank","title":"Not Found","status":404}',
  '{"type":7,"detail":"Not Found"}',
  '{"error":{"message":"no route"}}',
  '{"jsonrpc":"1.0","error":{"message":"no route"}}',
  '["urn:isthmus:error:NO_SUCH_TARGET"]',
];

describe("a problem of a gateway", () => {
  test("is known by the type that every one of them has", () => {
    expect(isProblem(PROBLEM)).toBe(true);
  });

  test.each([FAULT, ...OTHERS])("is nothing else: %s", (text) => {
    expect(isProblem(text)).toBe(false);
  });
});

describe("what a gateway says that opens no session", () => {
  test.each([
    ["a problem", PROBLEM, "There is none."],
    ["an error of JSON-RPC", FAULT, "Too many sessions"],
  ])("is read from %s", (_what, text, words) => {
    expect(gatewayWords(text)).toBe(words);
  });

  test.each([...OTHERS, '{"jsonrpc":"2.0"}'])("is not what another program says: %s", (text) => {
    expect(gatewayWords(text)).toBeUndefined();
  });
});
