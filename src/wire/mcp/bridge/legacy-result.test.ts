import { describe, expect, test } from "vitest";
import { jsonText, payload } from "../../../contract/index.ts";
import { SERVER_INFO } from "../2026-07-28/index.ts";
import { legacyToolResult, stripResult } from "./legacy-result.ts";

const body = (value: object) => payload(jsonText(value));

describe("stripResult", () => {
  test("takes out what the 2025 era does not know and nothing else", () => {
    const result = {
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private",
      contents: [],
      _meta: { [SERVER_INFO]: {}, own: 1 },
    };
    expect(stripResult(body(result)).value()).toEqual({ contents: [], _meta: { own: 1 } });
    expect(stripResult(body({ _meta: { [SERVER_INFO]: {} } })).text).toBe("{}");
  });
});

describe("legacyToolResult", () => {
  test("wraps what is no object, and says it as text when nothing else does", () => {
    expect(legacyToolResult(body({ structuredContent: [1, "ü"], content: [] }), true).value()).toEqual({
      structuredContent: { result: [1, "ü"] },
      content: [{ type: "text", text: '[1,"ü"]' }],
    });
    expect(legacyToolResult(body({ structuredContent: null }), false).value()).toEqual({
      structuredContent: { result: null },
      content: [{ type: "text", text: "null" }],
    });
  });

  test("keeps text that is there, and other blocks before ours", () => {
    const text = { structuredContent: { a: 1 }, content: [{ type: "text", text: "a" }] };
    expect(legacyToolResult(body(text), false).value()).toEqual(text);
    const image = { type: "image", data: "", mimeType: "image/png" };
    expect(legacyToolResult(body({ structuredContent: { a: 1 }, content: [image] }), false).value()).toEqual({
      structuredContent: { a: 1 },
      content: [image, { type: "text", text: '{"a":1}' }],
    });
  });

  test("adds the content that 2025 clients insist on", () => {
    expect(legacyToolResult(body({}), false).value()).toEqual({ content: [] });
  });
});
