import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonText, stringOf } from "./json/text.ts";
import { payload, spliceText } from "./payload.ts";

const object = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 6 }).filter((key) => !JSON.stringify(key).includes("\\")),
  fc.jsonValue(),
  { maxKeys: 6 },
);

function parse(text: string): unknown {
  return JSON.parse(stringOf(text));
}

describe("splice", () => {
  test("changes the named value and nothing else", () => {
    fc.assert(
      fc.property(object, fc.jsonValue(), fc.constantFrom(0, 2), (value, replacement, indent) => {
        const text = Buffer.from(JSON.stringify({ ...value, name: "old", z: [1.0, "é"] }, null, indent)).toString(
          "latin1",
        );
        const spliced = spliceText(text, ["name"], jsonText(replacement));
        expect(parse(spliced)).toEqual({
          ...(parse(jsonText(value)) as object), // as JSON has it: without -0
          name: parse(jsonText(replacement)),
          z: [1, "é"],
        });
        const at = text.indexOf('"name"');
        expect(spliced.startsWith(text.slice(0, at))).toBe(true);
      }),
    );
  });

  test("adds what is not there, also inside what is not there", () => {
    expect(spliceText("{}", ["a"], "1")).toBe('{"a":1}');
    expect(spliceText('{"x":1}', ["_meta", "token"], "7")).toBe('{"x":1,"_meta":{"token":7}}');
  });

  test("removes a member with its comma, first, middle, last or only", () => {
    expect(spliceText('{"a":1,"b":2,"c":3}', ["a"])).toBe('{"b":2,"c":3}');
    expect(spliceText('{"a":1,"b":2,"c":3}', ["b"])).toBe('{"a":1,"c":3}');
    expect(spliceText('{"a":1 , "c":3}', ["c"])).toBe('{"a":1 }');
    expect(spliceText('{"a":1}', ["a"])).toBe("{}");
  });

  test("leaves the spelling of everything else alone", () => {
    const text = '{ "n" : 1.50e+1, "name":"x", "big":123456789012345678901234567890 }';
    expect(spliceText(text, ["name"], '"y"')).toBe(text.replace('"x"', '"y"'));
  });
});

describe("payload", () => {
  test("parses once, and never a text with a repeated key", () => {
    const twice = payload('{"a":{"b":1,"b":2}}');
    expect(() => twice.value()).toThrow(/repeated key/);
    const once = payload('{"a":1}');
    expect(once.value()).toBe(once.value());
  });

  test("gives its bytes as they were", () => {
    const bytes = Buffer.from('{"x":"é😀"}');
    expect(Buffer.from(payload(bytes.toString("latin1")).bytes).equals(bytes)).toBe(true);
  });
});
