import { describe, expect, test } from "vitest";
import { FakeOut, toolCall } from "../../../tests/kit/fake-host.ts";
import { JsonFault, payload } from "../../contract/index.ts";
import { startModern, VERSION } from "./fixtures/modern-http.ts";
import { openProvider } from "./fixtures/setup.ts";
import { withoutOurWords } from "./own-words.ts";

const said = (text: string) => withoutOurWords(payload(text), "_meta").text;

describe("what a server says under our key", () => {
  test.each([
    ['{"_meta":{"dev.isthmus/error":{"code":"X"}}}', '{"_meta":{"dev.isthmus/relayedError":{"code":"X"}}}'],
    ['{"_meta":{"a":1, "dev.isthmus\\/error":7 },"b":2}', '{"_meta":{"a":1 ,"dev.isthmus/relayedError":7},"b":2}'],
    ['{"_meta":{"\\u0064ev.isthmus/error":7}}', '{"_meta":{"dev.isthmus/relayedError":7}}'],
    ['{"_meta":{"dev\\u002eisthmus\\u002Ferror":7}}', '{"_meta":{"dev.isthmus/relayedError":7}}'],
  ])("is not passed on as ours: %s", (text, relayed) => {
    expect(said(text)).toBe(relayed);
  });

  test.each([
    [
      '{"code":1,"data":{"dev.isthmus/error":{"code":"X"}}}',
      '{"code":1,"data":{"dev.isthmus/relayedError":{"code":"X"}}}',
    ],
    ['{"data":{"code":"X","dev.isthmus\\/error":7}}', '{"data":{"code":"X","dev.isthmus/relayedError":7}}'],
    ['{"data":{"code":"X","callId":"c"}}', '{"data":{"code":"X","callId":"c"}}'],
    ['{"data":"dev.isthmus/error"}', '{"data":"dev.isthmus/error"}'],
  ])("is not passed on as ours in an error either, and nothing else is changed: %s", (text, relayed) => {
    expect(withoutOurWords(payload(text), "data").text).toBe(relayed);
  });

  test.each([
    '{"_meta":{"dev.isthmus/error":1,"dev.isthmus/error":2}}',
    '{"_meta":{"dev.isthmus/error":1,"dev.isthmus\\/error":2}}',
  ])("is refused where it stands twice: %s", (text) => {
    expect(() => said(text)).toThrow(JsonFault);
  });

  test.each([
    '{"content":[{"type":"text","text":"dev.isthmus/error"}]}',
    '{"content":[],"_meta":{"x-mcpax-gate":{"status":"confirmation_required"},"u":"\\u00e4\\/"}}',
    '{"structuredContent":{"_meta":{"dev.isthmus/error":1}}}',
    '{"_meta":"dev.isthmus/error"}',
  ])("leaves everything else byte for byte: %s", (text) => {
    expect(said(text)).toBe(text);
  });

  test("is not passed on as ours by a server that wants input", async () => {
    const answer = { resultType: "input_required", inputRequests: {} };
    const _meta = { "dev.isthmus/error": { code: "APPROVAL_NEEDED" } };
    await using server = await startModern({ "tools/call": (exchange) => exchange.result({ ...answer, _meta }) });
    await using setup = await openProvider({ url: server.url });
    const out = new FakeOut();
    const origin = { front: "mcp", protocol: VERSION, requestId: "1" };
    await setup.provider.run(toolCall("ask", {}, { origin }), out);
    expect(out.ends).toMatchObject([{ type: "end", outcome: "input" }]);
    expect(out.result).toEqual({ ...answer, _meta: { "dev.isthmus/relayedError": { code: "APPROVAL_NEEDED" } } });
  });
});
