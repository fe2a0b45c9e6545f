import { describe, expect, test } from "vitest";
import { nodeAt, parseJsonc } from "./jsonc.ts";

describe("parseJsonc", () => {
  test("takes comments, trailing commas and a byte order mark", () => {
    const text = '\uFEFF// mine\n{ "a": [1, 2,], /* "b": 0, */ "c": { "d": "x // y" }, }\n// end';
    expect(parseJsonc(text).value).toEqual({ a: [1, 2], c: { d: "x // y" } });
  });

  test.each(["null", "true", "-1.5e3", '"\\u00e9\\n\\\\"', "[]", "{}", '{"__proto__":{"a":1}}'])(
    "reads %s as JSON does",
    (text) => {
      expect(JSON.stringify(parseJsonc(text).value)).toBe(JSON.stringify(JSON.parse(text)));
    },
  );

  test("tells where a member stands", () => {
    const text = '{ "a": 1, // one\n  "b" : { "c": [ 2 ] } }';
    const node = nodeAt(parseJsonc(text), ["b", "c"]);
    expect(text.slice(node?.start, node?.end)).toBe("[ 2 ]");
    expect(nodeAt(parseJsonc(text), ["b", "x"])).toBeUndefined();
  });

  test.each([
    ["", "line 1: the file ends too early"],
    ['{"a":1', "line 1: the file ends too early"],
    ['{\n"a": "b\\', "line 2: the file ends too early"],
    ['{"mcpServers": {"a', "line 1: the file ends too early"],
    ["[1,", "line 1: the file ends too early"],
    ['{\n"a" 1}', 'line 2: expected ":"'],
    ["{a:1}", "line 1: not a JSON value"],
    ["[1 2]", 'line 1: expected ","'],
    ["[1]\n]", "line 2: expected the end"],
    ["{1:2}", "line 1: expected a name in quotes"],
    ["[".repeat(200), "line 1: nested too deeply"],
    ["/* open", "line 1: expected a value"],
  ])("refuses %j and says where", (text, message) => {
    expect(() => parseJsonc(text)).toThrow(message);
  });
});
