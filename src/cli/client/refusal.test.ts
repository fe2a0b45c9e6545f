import { afterEach, describe, expect, test, vi } from "vitest";
import { gatewayWords, isProblem, refusalOf } from "./refusal.ts";

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

describe("a gateway that knows who asks and says no", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  const refused = { status: 403, text: '{"detail":"This takes the role admin."}' };
  const hint = () => refusalOf(new URL("http://127.0.0.1:7411"), refused)?.lines[1];

  test("is asked with another token, or with none by whoever runs it", () => {
    vi.stubEnv("ISTHMUS_TOKEN", "isth_abc");
    expect(hint()).toBe("put a token that has it into ISTHMUS_TOKEN, or unset it, if you run this gateway");
    vi.stubEnv("ISTHMUS_TOKEN", undefined);
    expect(hint()).toBe("put a token that has it into ISTHMUS_TOKEN");
  });
});
