import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonText } from "../../contract/index.ts";
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
    ['"path" in args', ['"path"']],
    ['!("path" in args) || "b" in args.a || args["c" + "d"] == 1', ['"path"', '"a"', '"cd"']],
    ["tool in args", undefined],
    ["args[tool] == 1", undefined],
    ["args == {}", undefined],
  ])("of %s are known by name, or may be any", (text, names) => {
    expect(compileCondition(text).names).toEqual(names);
  });

  test.each([
    ['"path" in args && glob(args.path, "/etc/*")', ["path"], undefined],
    ['!("pa" + "th" in args)', ["path"], undefined],
    ['"path" in args.opts || args["a" + "b"] == 1', ["path", "opts", "ab"], undefined],
    ['args.opts.exists(k, k == "path" || k in ["file"])', ["path", "file", "opts"], undefined],
    ['args.items.exists(one, one.kind == "file" && one.size > 3)', ["kind", "size", "items"], undefined],
    ['args.items.exists(one, "path" in one)', ["path", "items"], undefined],
    ['args.team in principal.groups && args.mode in ["a", "b"] && tool in ["t"]', ["team", "mode"], undefined],
    ['principal.groups.exists(g, g == "ops" && "b" in principal.scopes)', [], undefined],
    ["args.list[0] == 1", ["list"], undefined],
    ['size(args) > 1 && args.path != "x"', ["path"], ["x"]],
    ['args.opts == {"force": "yes"}', ["force", "opts"], undefined],
    ['args == {"force": true}', ["force"], ["force"]],
    ['args.all(k, k == "path" || k == "mode")', ["path", "mode"], ["path", "mode"]],
    ['args[tool] == "x"', [], ["x"]],
    ["args.name in args.names", ["name", "names"], []],
  ])("are those of %s, in them, in what they hold, and in others", (text, named, others) => {
    const { fields } = compileCondition(text);
    expect([[...fields.named].sort(), fields.others && [...fields.others].sort()]).toEqual([
      [...named].sort(),
      others && [...others].sort(),
    ]);
  });

  test.each([
    '(has(args.path) && args.path == "x") || has(args.mode)',
    '"path" in args || "größe" in args',
    'args["größe"] == "x" || args["名"] == "x"',
  ])("are there whenever what it says hangs on them, however their names are written: %s", (condition) => {
    const { names = [], holds } = compileCondition(condition);
    const said = (args: unknown): unknown => {
      try {
        return holds(facts(args));
      } catch {
        return "cannot be said";
      }
    };
    const name = fc.constantFrom("path", "mode", "other", "pa", "mod\u0065", "größe", "名");
    const value = fc.constantFrom<unknown>("x", "path", 3, { path: "x" }, ["mode"]);
    fc.assert(
      fc.property(fc.dictionary(name, value), fc.boolean(), (args, isEscaped) => {
        const plain = jsonText({ arguments: args });
        const text = isEscaped ? plain.replaceAll("p", "\\u0070").replaceAll("m", "\\u006d") : plain;
        if (!mentionsAny(text, names)) expect(said(args)).toEqual(said({}));
      }),
      { numRuns: 2_000 },
    );
  });

  test("are looked for as their bytes are", () => {
    expect(mentionsAny('{"arguments":{"\\u0070ath":"x"}}', ['"path"'])).toBe(true);
    expect(mentionsAny('{"arguments":{"path":"x"}}', ['"path"'])).toBe(true);
    expect(mentionsAny('{"arguments":{"other":"x"}}', ['"path"'])).toBe(false);
    const { names = [] } = compileCondition('args["größe"] > 3');
    expect(mentionsAny(jsonText({ arguments: { größe: 4 } }), names)).toBe(true);
    expect(mentionsAny(jsonText({ arguments: { grosse: 4 } }), names)).toBe(false);
  });
});
