import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mentionsAny } from "./argument-names.ts";
import { compileCondition } from "./expression.ts";

const principal = { id: "ann", tenant: "t", user: "ann", client: "c", groups: [], scopes: [] };
const facts = (args: unknown) => ({ args, principal, tool: "files.read", server: "files", protocol: "mcp" });

describe("the arguments that a condition asks for", () => {
  test.each([
    ['has(args.path) && args.path == "x"', ['"path"']],
    ['args["a b"].path > 3', ['"a b"']],
    ["args.list.exists(one, one == 1) || args.other", ['"list"', '"other"']],
    ['tool == "files.read"', []],
    ["size(args) > 2", undefined],
    ['"path" in args', undefined],
    ["args[tool] == 1", undefined],
    ["args == {}", undefined],
  ])("of %s are known by name, or may be any", (text, names) => {
    expect(compileCondition(text).names).toEqual(names);
  });

  test("are there whenever what it says hangs on them, however their names are written", () => {
    const condition = compileCondition('(has(args.path) && args.path == "x") || has(args.mode)');
    const name = fc.constantFrom("path", "mode", "other", "pa", "mod\u0065");
    const value = fc.constantFrom<unknown>("x", "path", 3, { path: "x" }, ["mode"]);
    fc.assert(
      fc.property(fc.dictionary(name, value), fc.boolean(), (args, isEscaped) => {
        const plain = JSON.stringify({ arguments: args });
        const text = isEscaped ? plain.replaceAll("p", "\\u0070").replaceAll("m", "\\u006d") : plain;
        if (mentionsAny(text, condition.names ?? [])) return;
        expect(condition.holds(facts(args))).toBe(condition.holds(facts({})));
      }),
      { numRuns: 2_000 },
    );
    expect(mentionsAny('{"arguments":{"\\u0070ath":"x"}}', ['"path"'])).toBe(true);
    expect(mentionsAny('{"arguments":{"path":"x"}}', ['"path"'])).toBe(true);
    expect(mentionsAny('{"arguments":{"other":"x"}}', ['"path"'])).toBe(false);
  });
});
