import { describe, expect, test } from "vitest";
import { readArguments } from "./arguments.ts";
import { compileCondition, ExpressionFault } from "./expression.ts";

const facts = (args: unknown) => ({
  args,
  principal: { id: "t", tenant: "default", user: "ann", client: "c", groups: ["ops"], scopes: [] },
  tool: "files.write",
  server: "files",
  protocol: "mcp",
});

const holds = (text: string, args: unknown = {}) => compileCondition(text).holds(facts(args));

describe("a condition", () => {
  test("sees the arguments, the caller, the tool, the server and the protocol", () => {
    expect(holds('glob(args.path, "/srv/*")', { path: "/srv/a" })).toBe(true);
    expect(() => holds('glob(args.path, "/srv/*")', { path: "/srv/../etc/passwd" })).toThrow("two ways");
    for (const word of ["startsWith", "endsWith"])
      expect(() => compileCondition(`args.path.${word}("/srv/")`)).toThrow("use glob(text, pattern)");
    expect(holds('"ops" in principal.groups && tool == "files.write" && server == "files" && protocol == "mcp"')).toBe(
      true,
    );
    expect(holds('glob(args.path, "/srv/*.txt")', { path: "/srv/a.md" })).toBe(false);
    expect(holds("args.items.exists(x, x.price > 10)", { items: [{ price: 3n }, { price: 10.5 }] })).toBe(true);
  });

  test("compares numbers by their value, however they are written", () => {
    for (const amount of ["100.5", "1005e-1", "101"]) {
      expect(holds("args.amount > 100", readArguments(`{"amount":${amount}}`))).toBe(true);
    }
    expect(holds("args.id == 9007199254740993", readArguments('{"id":9007199254740993}'))).toBe(true);
    expect(holds("args.id == 9007199254740993", readArguments('{"id":9007199254740992}'))).toBe(false);
  });

  test("throws where it cannot be said whether it holds", () => {
    for (const text of [
      "args.missing == 1",
      "args.path > 1",
      "args.path",
      "args.constructor == 1",
      "args.path / 0 == 1",
    ]) {
      expect(() => holds(text, { path: "x" })).toThrow();
    }
  });

  test("is refused when it is written where it could take long, and says what to write instead", () => {
    const refused: Readonly<Record<string, RegExp>> = {
      'args.a.matches("(a+)+$")': /regular expressions can take very long; use glob/,
      "args.a.map(x, x + x).size() > 1": /use all, exists/,
      "args.a.filter(x, x > 1).size() > 1": /use all, exists/,
      "cel.bind(x, args.a, x == 1)": /write the expression out/,
      "args.a.all(x, args.b.all(y, x == y))": /inside another walk|args cannot be used/,
      "args.a.all(x, x in args.b)": /args cannot be used inside/,
      "args.a.all(x, x.all(y, y > 1))": /inside another walk/,
    };
    for (const [text, reason] of Object.entries(refused)) expect(() => compileCondition(text), text).toThrow(reason);
  });

  test.each([
    'args.path.indexOf("/srv/") != 0',
    'args.path.lastIndexOf("/etc/") >= 0',
    'args.path.contains("/etc/")',
    String.raw`args.path.contains("\\")`,
    'args.path.split("/")[1] == "srv"',
    'args.path.split(":")[0] == "/srv"',
    'args.path.substring(0, 5) == "/srv/"',
    '"/srv" in args.paths.split(",")',
    'args.path.startsWith("/srv" + "/")',
    'args.path.startsWith(["/srv/"][0])',
    'args.path.startsWith(string(b"/srv/"))',
    'args.path.endsWith(true ? "/id_rsa" : "")',
    'args.paths.exists(one, one.contains("/etc/"))',
    'args.paths.join("/").contains("etc")',
    'args.path >= "/srv/" && args.path < "/srv0"',
    '!(has(args.path) && args.path.lowerAscii().indexOf("/srv/") == 0)',
    'string(glob(args.path, "/srv/*")).contains("true") && args.path.startsWith("/srv/")',
  ])("is refused where it looks for a place by text, and says what to write instead: %s", (text) => {
    expect(() => compileCondition(text)).toThrow("use glob(text, pattern)");
  });

  test.each([
    'args.path == "/srv/a" || args.type in ["text/html", "a/b"]',
    'args.type.lowerAscii() == "text/html"',
    'args.url.contains("..") || args.name.startsWith("srv")',
    'glob(args.path.lowerAscii(), "/srv/*")',
    'glob(args.folder + "/" + args.name, "/srv/*")',
    'string(glob(args.path, "/srv/*")) == "true"',
    'tool.contains("//private/") && args.a == 1',
    'principal.id.contains("/deploy/")',
    'principal.groups.exists(one, one.contains("corp/"))',
  ])("may hold a slash where a text is compared whole, or is none of the caller's: %s", (text) => {
    expect(compileCondition(text).text).toBe(text);
  });

  test("is refused when it is too large, is no CEL, names what is not there, or is no truth", () => {
    const deep = `${"(".repeat(60)}true${")".repeat(60)}`;
    const wide = Array.from({ length: 200 }, () => "args.a == 1").join(" || ");
    for (const text of [
      `args.a == "${"x".repeat(2_000)}"`,
      deep,
      wide,
      "args.a ==",
      "nobody.knows == 1",
      "1 + 1",
      "tool",
    ]) {
      expect(() => compileCondition(text), text.slice(0, 40)).toThrow(ExpressionFault);
    }
  });

  test("takes time in proportion to the arguments, whatever a caller sends", () => {
    const many = readArguments(JSON.stringify({ a: Array.from({ length: 20_000 }, (_, index) => `a${index}`) }));
    expect(holds('args.a.exists(x, x.endsWith("19999"))', many)).toBe(true);
    expect(holds('glob(args.a[0], "*a*a*a*a*a*a*a*a*a*b")', readArguments(`{"a":["${"a".repeat(100_000)}"]}`))).toBe(
      false,
    );
  });
});

describe("arguments that a rule reads", () => {
  test("are refused where two readers could understand them differently", () => {
    for (const text of ['{"a":1,"a":2}', '{"a":{"b":1,"\\u0062":2}}', '{"a":[{"x":1,"x":1}]}']) {
      expect(() => readArguments(text)).toThrow(/twice|repeated|again/i);
    }
  });

  test("are refused where a number is larger than what is compared", () => {
    for (const text of ['{"a":1e400}', '{"a":99999999999999999999}', '{"a":[-99999999999999999999]}']) {
      expect(() => readArguments(text)).toThrow(/too large/);
    }
  });

  test("are refused where they are too large, and are an empty object where there are none", () => {
    expect(() => readArguments(`{"a":"${"x".repeat(300_000)}"}`)).toThrow(/cannot be judged/);
    expect(readArguments(undefined)).toEqual({});
  });
});
