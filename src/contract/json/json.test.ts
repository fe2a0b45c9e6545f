import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findMember, MAX_MEMBERS, membersAt } from "./members.ts";
import { JsonFault, MAX_JSON_DEPTH, Scanner } from "./scanner.ts";
import { checkUtf8, decodeString, jsonText, stringOf, textOf, textOfBytes } from "./text.ts";
import { refuseRepeatedKeys } from "./unique.ts";

function accepts(text: string): boolean {
  const scanner = new Scanner(text);
  try {
    scanner.space();
    scanner.value(0);
    scanner.end();
    return true;
  } catch (error) {
    if (error instanceof JsonFault) return false;
    throw error;
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(stringOf(text));
    return true;
  } catch {
    return false;
  }
}

describe("Scanner", () => {
  test("accepts every JSON text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, "\t"), (value, indent) => {
        expect(accepts(textOf(JSON.stringify(value, null, indent)))).toBe(true);
      }),
    );
  });

  test("agrees with JSON.parse on texts that are nearly JSON", () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      '"a"',
      '"b\\n"',
      '"\\u00e9"',
      '"\\x"',
      '"\\u12"',
      "1",
      "-",
      "01",
      "1.5e3",
      "1e",
      ".5",
      "true",
      "nul",
      "null",
      " ",
      "\n",
      '"',
      "\\",
      "\u0001",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join("");
        expect(accepts(text)).toBe(parses(text));
      }),
      { numRuns: 5_000 },
    );
  });

  test("refuses what is nested too deep, long before the stack is in danger", () => {
    expect(accepts("[".repeat(MAX_JSON_DEPTH) + "]".repeat(MAX_JSON_DEPTH))).toBe(true);
    expect(() => new Scanner("[".repeat(1_000_000)).value(0)).toThrow(/nested deeper/);
  });
});

describe("members", () => {
  test.each([
    ['{"a":1,"a":2}', "repeated-key"],
    ['{"\\u0061":1}', "escaped-key"],
  ])("refuse %s as %s", (text, reason) => {
    expect(() => membersAt(text, 0)).toThrow(expect.objectContaining({ reason }));
  });

  test("refuse a repeated key among very many in little time", () => {
    const many = Array.from({ length: 20_000 }, (_, n) => `"k${n}":0`).join(",");
    expect(() => membersAt(`{${many},"k7":1}`, 0)).toThrow(/repeated key/);
  });

  test("refuse more keys than anybody looks at, unless they are to be looked at", () => {
    const object = (count: number) => `{${Array.from({ length: count }, (_, n) => `"k${n}":${n}`).join(",")}}`;
    expect(membersAt(object(MAX_MEMBERS), 0)?.keys).toHaveLength(MAX_MEMBERS);
    const tooMany = object(MAX_MEMBERS + 1);
    expect(() => membersAt(tooMany, 0)).toThrow(expect.objectContaining({ reason: "members" }));
    expect(membersAt(tooMany, 0, 1, Number.POSITIVE_INFINITY)?.textAt(MAX_MEMBERS)).toBe(`${MAX_MEMBERS}`);
  });
});

describe("edited members", () => {
  const EDITS: readonly (readonly [string, string, string])[] = [
    ['{"a":1}', "a", "{}"],
    ['{"a":1,"b":2}', "a", '{"b":2}'],
    ['{"a":1,"b":2}', "b", '{"a":1}'],
    ['{ "a" : 1 ,\n "b" : [ ] }', "b", '{ "a" : 1  }'],
    ['{"b":2}', "a", '{"b":2}'],
    ["{ }", "a", "{ }"],
  ];
  test.each(EDITS)("of %s without %s are %s", (text, key, expected) => {
    expect(membersAt(text, 0)?.edited([[key]])).toBe(expected);
  });

  test("are those of the object alone, whatever stands around it", () => {
    expect(membersAt('[{"a":1,"b":2},3]', 1)?.edited([["a", "[]"], ["b"]])).toBe('{"a":[]}');
  });

  test("mean what the changes say, and every other member stays as it was written", () => {
    const members = fc.uniqueArray(fc.tuple(fc.constantFrom("a", "b", "c", "d", "e"), fc.jsonValue()), {
      selector: ([key]) => key,
    });
    const change = fc.tuple(fc.constantFrom("a", "c", "e"), fc.option(fc.constant("[7]"), { nil: undefined }));
    const changes = fc.uniqueArray(change, { selector: ([key]) => key });
    fc.assert(
      fc.property(members, changes, fc.constantFrom(undefined, 2), (given, edits, space) => {
        const text = textOf(JSON.stringify(Object.fromEntries(given), null, space));
        const edited = JSON.parse(stringOf(membersAt(text, 0)?.edited(edits) ?? ""));
        const expected = new Map(given);
        for (const [key, json] of edits) {
          if (json === undefined) expected.delete(key);
          else if (expected.has(key)) expected.set(key, [7]);
        }
        expect(edited).toEqual(JSON.parse(JSON.stringify(Object.fromEntries(expected))));
      }),
    );
  });
});

describe("findMember", () => {
  test("finds a key however it is spelled, among keys that are escaped and repeated", () => {
    const text = '{"x":1,"x":2,"\\u0079":3,"to\\u006ben":4}';
    expect(text.slice(findMember(text, 0, "token")?.span?.start, -1)).toBe("4");
    expect(findMember(text, 0, "z")).toMatchObject({ span: undefined, end: text.length, isEmpty: false });
    expect(findMember("{ }", 0, "z")).toMatchObject({ isEmpty: true });
    expect(findMember("[]", 0, "z")).toBeUndefined();
  });

  test.each(['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"\\u0061":1,"a":2}'])(
    "refuses %s when a is looked for",
    (text) => {
      expect(() => findMember(text, 0, "a")).toThrow(/repeated key/);
    },
  );
});

describe("refuseRepeatedKeys", () => {
  test.each(['{"a":{"b":1,"b":2}}', '[[{"a":1,"\\u0061":2}]]', '{"x":[1,{"k":0,"k":0}]}'])("refuses %s", (text) => {
    expect(() => refuseRepeatedKeys(text)).toThrow(/repeated key/);
  });

  test("accepts what JSON.stringify makes", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => refuseRepeatedKeys(jsonText(value))));
  });
});

describe("text", () => {
  test("keeps every string through one character per byte", () => {
    fc.assert(fc.property(fc.string({ unit: "grapheme" }), (value) => stringOf(textOf(value)) === value));
  });

  test("reads a literal as JSON does", () => {
    fc.assert(fc.property(fc.string({ unit: "grapheme" }), (value) => decodeString(jsonText(value)) === value));
    expect(decodeString("12")).toBeUndefined();
  });

  test("refuses bytes that are not UTF-8", () => {
    expect(() => textOfBytes(Buffer.from([0x22, 0xff, 0x22]))).toThrow(/UTF-8/);
    expect(() => checkUtf8('"\xff"')).toThrow(/UTF-8/);
    expect(() => checkUtf8('"\xc3\xa9"')).not.toThrow();
  });
});
