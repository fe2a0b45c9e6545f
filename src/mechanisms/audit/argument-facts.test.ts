import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Call, digestJson, MAX_ITEMS, MAX_MEMBERS, payload } from "../../contract/index.ts";
import { argumentFacts } from "./argument-facts.ts";

const RULES = [{ tools: ["files.*"], arguments: ["path"] }];

function factsOf(argumentsText: string, rules = RULES) {
  const input = payload(`{"name":"read","arguments":${argumentsText}}`);
  const target = { provider: "files", kind: "tool", name: "read" };
  return argumentFacts({ verb: "call", input, target } as Call, rules, ({ name }) => `docs.${name}`);
}

const keys = (count: number) => Array.from({ length: count }, (_none, index) => `"k${index}":${index}`).join(",");
const sha256 = (text: string) => createHash("sha256").update(text, "latin1").digest("base64url");

describe("argumentFacts", () => {
  test.each([
    ["as rules have it", "docs.read"],
    ["by a pattern as in rules", "docs.*"],
    ["by the id of its server", "files.read"],
  ])("captures of a tool that is named %s", (_how, tool) => {
    expect(factsOf('{"path":"/a"}', [{ tools: [tool], arguments: ["path"] }]).captured).toEqual({ path: "/a" });
    for (const other of ["doc.read", "read", "docs.write"])
      expect(factsOf('{"path":"/a"}', [{ tools: [other], arguments: ["path"] }])).not.toHaveProperty("captured");
  });

  test("names the first 32 arguments, and says how many more there are", () => {
    expect(factsOf(`{${keys(32)}}`)).not.toHaveProperty("arguments_left_off");
    const facts = factsOf(`{${keys(40)}}`);
    expect(Object.keys(facts.arguments ?? {})).toHaveLength(32);
    expect(facts).toMatchObject({ arguments_left_off: 8, args_sha256: digestJson(`{${keys(40)}}`) });
  });

  test.each([
    ["of one object", (many: string) => `{${many}}`, MAX_MEMBERS - 31],
    ["of an object inside", (many: string) => `{"a":{${many}}}`, 0],
    ["of many objects", (many: string) => `{"a":[${many.replaceAll(/"k[^,]+/g, '{"k":1}')}]}`, 0],
  ])(
    "brings no more keys into an order than a call's reader does, %s, and has a digest all the same",
    (_of, write, left) => {
      const text = write(keys(MAX_MEMBERS + 1));
      const facts = factsOf(text);
      expect(facts).toMatchObject({ args_text_sha256: sha256(text), arguments: expect.anything() });
      expect(facts).not.toHaveProperty("args_sha256");
      expect(facts.arguments_left_off ?? 0).toBe(left);
    },
  );

  test("has the digest of the text of long lists", () => {
    const text = `{"a":[${Array.from({ length: MAX_ITEMS + 1 }, () => "0").join(",")}]}`;
    expect(factsOf(text)).toMatchObject({ args_text_sha256: sha256(text), arguments: { a: "array" } });
  });

  test("captures what a rule wants behind however many others", () => {
    expect(factsOf(`{${keys(MAX_MEMBERS * 2)},"path":"/a"}`).captured).toEqual({ path: "/a" });
  });

  test.each([
    ["one escaped name", '{"path":"/a","\\u0078":1}', { path: "string", x: "number" }, { path: "/a" }],
    ["an escaped name that a rule wants", '{"p\\u0061th":"/a"}', { path: "string" }, { path: "/a" }],
    ["a name twice", '{"a":1,"a":"2","path":"/a"}', { a: "repeated", path: "string" }, { path: "/a" }],
    [
      "a value that a rule wants, twice",
      '{"path":"/a","p\\u0061th":"/b"}',
      { path: "repeated" },
      { path: ["/a", "/b"] },
    ],
    ["a name in another case", '{"Path":"/a"}', { Path: "string" }, { Path: "/a" }],
  ])("are complete with %s", (_what, text, names, captured) => {
    expect(factsOf(text)).toEqual({ args_sha256: digestJson(text), arguments: names, captured });
  });

  test("have of a value that is there very often the first and the last", () => {
    const text = `{${keys(40)},${Array.from({ length: 100 }, (_none, at) => `"path":${at}`).join(",")}}`;
    const values = factsOf(text).captured?.path as number[];
    expect(values).toHaveLength(16);
    expect([values[0], values.at(-1)]).toEqual([0, 99]);
  });

  test("have the value that a rule wants behind however many other spellings of its name", () => {
    const spellings = Array.from({ length: 2 ** 10 - 1 }, (_none, at) =>
      [..."identifier"].map((letter, place) => ((at + 1) & (1 << place) ? letter.toUpperCase() : letter)).join(""),
    );
    const text = `{${spellings.map((name) => `"${name}":1`).join(",")},"identifier":2}`;
    const { captured } = factsOf(text, [{ tools: ["files.*"], arguments: ["identifier"] }]);
    expect(captured).toMatchObject({ identifier: 2 });
    expect(Object.keys(captured ?? {}).length).toBeLessThan(40);
  });

  test("have no name that looks like a secret", () => {
    const text = '{"ghp_abcdefghijklmnop1234":1,"Bearer abcdefghijklmn":2,"token":3}';
    expect(factsOf(text).arguments).toEqual({ "[redacted]": "number", token: "number" });
  });

  test("say nothing of what is no object", () => {
    expect(factsOf("[1]")).toEqual({});
  });
});
