import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDocument, stringify, YAMLError } from "yaml";
import { readYaml } from "./read-yaml.ts";

describe("a body in YAML", () => {
  test.each<[string, string, unknown]>([
    [
      "a list",
      "- selector: { server: '*' }\n  policy: { capacity: 20, refill: 1/s }\n",
      [{ selector: { server: "*" }, policy: { capacity: 20, refill: "1/s" } }],
    ],
    ["nothing", "", null],
    ["a comment", "# nothing\n", null],
    ["words that were truths in YAML 1.1", "[yes, no, on, off, y]", ["yes", "no", "on", "off", "y"]],
    ["a number with colons", "a: 12:30:45", { a: "12:30:45" }],
    ["a date", "a: 2026-05-02", { a: "2026-05-02" }],
    ["what looks like a merge", "a: &a { x: 1 }\nb: { <<: *a }", { a: { x: 1 }, b: { "<<": { x: 1 } } }],
    ["a few aliases", "a: &a [1]\nb: *a\nc: *a", { a: [1], b: [1], c: [1] }],
    ["the scalars of the core schema", "[null, ~, true, 1, 0x10, 1.5, '1']", [null, null, true, 1, 16, 1.5, "1"]],
    ["a tag of the core schema", "!!str 1", "1"],
    ["the name of every object's parent", "__proto__: { isAdmin: true }", JSON.parse('{"__proto__":{"isAdmin":true}}')],
    ["JSON", '{"a":[1,{"b":"c"}]}', { a: [1, { b: "c" }] }],
    ["a version that it says it is of", "%YAML 1.1\n---\na: yes", { a: "yes" }],
  ])("is read: %s", async (_what, text, value) => {
    expect(await readYaml(text)).toEqual(value);
  });

  test("is what was written, whatever JSON it is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
        expect(JSON.stringify(await readYaml(stringify(value)))).toBe(JSON.stringify(value));
      }),
      { numRuns: 100 },
    );
  });

  test.each<[string, string, number, number, RegExp]>([
    ["a repeated key", "a: 1\nb:\n  c: 1\n  c: 2", 4, 3, /the key "c" is repeated/],
    ["a repeated key in quotes", "a: 1\n'a': 2", 2, 1, /repeated/],
    ["a key that is no text", "? [a]\n: 1", 1, 3, /a key must be a text/],
    ["a number as a key", "1: a", 1, 1, /a key must be a text/],
    ["several documents", "a: 1\n---\nb: 1", 2, 1, /multiple documents/],
    ["a tag of its own", "a: !secret x", 1, 4, /tag/i],
    ["a tag that makes an object", "a: !!js/function 'x'", 1, 4, /tag/i],
    ["binary data", "a: !!binary aGk=", 1, 4, /tag/i],
    ["an unknown alias", "a: *b", 1, 4, /alias/i],
    ["an endless number", "a: .inf", 1, 4, /JSON/],
    ["no number", "- .nan", 1, 3, /JSON/],
    ["a mistake", "a: [1, 2\nb: 3", 2, 1, /./],
    ["tabs", "a:\n\tb: 1", 2, 1, /tab/i],
  ])("is refused, with its place: %s", async (_what, text, line, column, said) => {
    await expect(readYaml(text)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(said),
      place: { line, column },
    });
    await expect(readYaml(text)).rejects.toThrow(`line ${line}, column ${column}: `);
  });
});

describe("a bomb in YAML is refused", () => {
  const laughs = Array.from({ length: 9 }, (_, index) => {
    const name = String.fromCharCode(97 + index);
    const inside = index === 0 ? "ha" : `*${String.fromCharCode(96 + index)}`;
    return `${name}: &${name} [${Array(9).fill(inside).join(",")}]`;
  }).join("\n");

  test.each<[string, string, number, RegExp]>([
    ["a billion laughs", laughs, 400, /aliases/],
    ["an alias of itself", "a: &a [*a]", 400, /aliases|deeper/],
    ["many aliases", `a: &a 1\nb: [${Array(40).fill("*a").join(",")}]`, 400, /more than 32 aliases/],
    ["deep flow sequences", "[".repeat(100_000), 400, /deeper/],
    ["deep flow mappings", "{a: ".repeat(50_000), 400, /deeper/],
    ["deep sequences in one line", "- ".repeat(100_000), 400, /deeper/],
    ["deep keys in one line", "? ".repeat(100_000), 400, /deeper/],
    ["deep indentation", Array.from({ length: 300 }, (_, index) => `${" ".repeat(index)}a:`).join("\n"), 400, /deeper/],
    ["very many values", `[${"a,".repeat(100_000)}]`, 400, /tokens|values/],
    ["very many short lines", "#\n".repeat(100_000), 400, /tokens/],
    ["very many anchors", "&a ".repeat(80_000), 400, /tokens/],
    ["very many documents", "---\n".repeat(60_000), 400, /tokens/],
    ["very many lines", "- a\n".repeat(1_667), 400, /more than 5000 tokens/],
    ["what closes nothing", "}".repeat(48_000), 400, /line 1, column 1: nothing is open that \} could close/],
    ["what closes more than is open", `a: [{}${"]".repeat(48_000)}`, 400, /line 1, column 8: nothing is open/],
    ["something huge", `a: ${"x".repeat(300_000)}`, 413, /at most/],
  ])("%s", async (_what, text, status, said) => {
    await expect(readYaml(text)).rejects.toMatchObject({ status, message: expect.stringMatching(said) });
  });

  /** How often the package makes an error, which takes the longer the deeper the stack is. */
  async function countErrors(read: () => unknown): Promise<number> {
    let count = 0;
    Object.defineProperty(YAMLError.prototype, "code", { configurable: true, set: () => count++ });
    try {
      await Promise.resolve(read()).catch(() => undefined);
    } finally {
      Reflect.deleteProperty(YAMLError.prototype, "code");
    }
    return count;
  }

  test.each([
    ["ends of mappings", "}".repeat(4_000)],
    ["ends of mappings on lines of their own", "}\n".repeat(2_000)],
    ["ends of mappings in a list", "- }\n".repeat(1_000)],
    ["commas", `{${",".repeat(4_000)}`],
    ["ends of mappings in a sequence", `[${"}".repeat(4_000)}`],
    ["ends of sequences in a mapping", `{${"]".repeat(4_000)}`],
    ["anchors", "&a ".repeat(1_500)],
    ["tags", "!a ".repeat(1_500)],
    ["directives", "%NOTHING\n".repeat(2_000)],
    ["colons", ": ".repeat(1_500)],
    ["scalars side by side", '"a"\n'.repeat(1_500)],
    ["keys beside lists", "a:\n - b\n c\n".repeat(400)],
    ["escapes in one text", `"${"\\q".repeat(5_000)}"`],
  ])("at its first fault, whatever it has thousands of: %s", async (_what, text) => {
    const all = await countErrors(() => parseDocument(text, { prettyErrors: false }));
    expect(all).toBeGreaterThan(100);
    expect(await countErrors(() => readYaml(text))).toBe(0);
    await expect(readYaml(text)).rejects.toMatchObject({ status: 400 });
  });

  test("and whatever else is sent is read or refused, never more", async () => {
    const words = [
      "- ",
      "a: ",
      "\n",
      "  ",
      "[",
      "]",
      "{",
      "}",
      "&a ",
      "*a",
      "!t ",
      "? ",
      "|\n",
      '"',
      "'",
      "#",
      "---\n",
      "%",
      "\t",
      "\0",
      "é",
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...words), { maxLength: 40 }), async (parts) => {
        const outcome = await readYaml(parts.join("")).then(
          (value) => JSON.stringify(value),
          ({ name }: Error) => name,
        );
        expect(typeof outcome).toBe("string");
        expect(outcome).not.toBe("RangeError");
        expect(outcome).not.toBe("TypeError");
      }),
      { numRuns: 300 },
    );
  });
});
