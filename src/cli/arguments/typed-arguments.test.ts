import { describe, expect, test } from "vitest";
import { ArgumentFault, readArguments } from "./typed-arguments.ts";

const schema = {
  type: "object",
  properties: {
    path: { type: "string", description: "Where it lies." },
    depth: { type: "integer" },
    ratio: { type: "number" },
    deep: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    sizes: { type: "array", items: { type: "integer" } },
    where: { type: "object" },
    sort: { enum: ["name", "size"] },
    maybe: { type: ["string", "null"] },
    either: { anyOf: [{ type: "integer" }, { type: "string" }] },
    point: { $ref: "#/$defs/number" },
    anything: {},
  },
  required: ["path"],
  $defs: { number: { type: "number" } },
};

const read = (...words: string[]) => readArguments(["path=a", ...words], schema);

describe("readArguments", () => {
  test.each([
    ["path stays text", "path=12", { path: "12" }],
    ["an equals sign may stand in a value", "path=a=b", { path: "a=b" }],
    ["an empty text is a text", "path=", { path: "" }],
  ])("%s", (_what, word, expected) => {
    expect(readArguments([word], schema)).toEqual(expected);
  });

  test.each([
    ["depth=3", { depth: 3 }],
    ["ratio=0.5", { ratio: 0.5 }],
    ["deep=true", { deep: true }],
    ["tags=one", { tags: ["one"] }],
    ['tags=["a","b"]', { tags: ["a", "b"] }],
    ["sizes=4", { sizes: [4] }],
    ['where={"a":1}', { where: { a: 1 } }],
    ["sort=size", { sort: "size" }],
    ["maybe=null", { maybe: null }],
    ["maybe=text", { maybe: "text" }],
    ["either=5", { either: 5 }],
    ["either=five", { either: "five" }],
    ["point=1e3", { point: 1000 }],
    ["anything=[1]", { anything: [1] }],
    ["anything=plain", { anything: "plain" }],
    ["new=2", { new: 2 }],
  ])("types %s by the schema", (word, expected) => {
    expect(read(word)).toEqual({ path: "a", ...expected });
  });

  test("makes a list of a key that is given twice", () => {
    expect(read("tags=a", "tags=b", 'tags=["c"]')).toMatchObject({ tags: ["a", "b", "c"] });
    expect(() => read("depth=1", "depth=2")).toThrow('"depth" is given twice, and is no list');
  });

  test("takes one JSON object as it stands", () => {
    expect(readArguments(['{"path":"a","n":[1]}'], schema)).toEqual({ path: "a", n: [1] });
    expect(() => readArguments(["{path}"], schema)).toThrow(/not JSON/);
  });

  test.each([
    ["depth=x", '"depth": expected integer, found "x"'],
    ["depth=1.5", '"depth": expected integer, found "1.5"'],
    ["deep=yes", '"deep": expected boolean, found "yes"'],
    ["where=[1]", '"where": expected object, found "[1]"'],
    ["sort=sise", '"sort": expected name or size, found "sise", did you mean "size"?'],
    ["dept=3", 'no argument is called "dept", did you mean "depth"?'],
    ["path", 'expected key=value or one JSON object, found "path"'],
  ])("says what is wrong with %s", (word, message) => {
    expect(() => read(word)).toThrow(new ArgumentFault(message));
  });

  test("names what is missing, with its type and meaning", () => {
    expect(() => readArguments([], schema)).toThrow('missing "path" (string): Where it lies.');
  });

  test("refuses an unknown key where the schema does", () => {
    const closed = { properties: { a: {} }, additionalProperties: false };
    expect(() => readArguments(["zebra=1"], closed)).toThrow('no argument is called "zebra", expected one of a');
  });

  test("guesses without a schema, and is not fooled by names of Object", () => {
    expect(readArguments(["a=1", "b=x", "__proto__=y"], {})).toEqual(
      Object.fromEntries([
        ["a", 1],
        ["b", "x"],
        ["__proto__", "y"],
      ]),
    );
  });
});
