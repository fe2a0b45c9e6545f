import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { findTomlLines } from "./toml-lines.ts";

function lineOf(text: string, ...path: PropertyKey[]): number | undefined {
  parse(text);
  return findTomlLines(text)(path);
}

describe("findTomlLines", () => {
  test("finds tables, keys and the entries of a list of tables", () => {
    const text =
      '# top\n[gateway]\nlisten = "x"\n\n[[servers]]\nid = "a"\n[servers.env]\nTOKEN = "t"\n[[servers]]\nid = "b"\n';
    expect(lineOf(text, "gateway")).toBe(2);
    expect(lineOf(text, "gateway", "listen")).toBe(3);
    expect(lineOf(text, "servers")).toBe(5);
    expect(lineOf(text, "servers", 0, "id")).toBe(6);
    expect(lineOf(text, "servers", 0, "env")).toBe(7);
    expect(lineOf(text, "servers", 0, "env", "TOKEN")).toBe(8);
    expect(lineOf(text, "servers", 1)).toBe(9);
    expect(lineOf(text, "servers", 1, "id")).toBe(10);
  });

  test("gives the line of what stands around a path that is not written", () => {
    const text = '[[servers]]\ncommand = "x"\n';
    expect(lineOf(text, "servers", 0, "id")).toBe(1);
    expect(lineOf(text, "gateway", "listen")).toBeUndefined();
  });

  test("reads dotted and quoted keys", () => {
    const text = 'a.b."c.d" = 1\n"e f" = 2\n[ x . \'y\' ]\nz = 3\n';
    expect(lineOf(text, "a", "b", "c.d")).toBe(1);
    expect(lineOf(text, "e f")).toBe(2);
    expect(lineOf(text, "x", "y", "z")).toBe(4);
  });

  test("looks into lists and inline tables over several lines", () => {
    const text = 'list = [\n  "a",\n  # comment ]\n  { b = 1, c = { d = 2 } },\n  [3,\n   4],\n]\nlast = 1\n';
    expect(lineOf(text, "list", 0)).toBe(2);
    expect(lineOf(text, "list", 1, "c", "d")).toBe(4);
    expect(lineOf(text, "list", 2, 1)).toBe(6);
    expect(lineOf(text, "last")).toBe(8);
  });

  test("is not misled by strings that look like TOML", () => {
    const text = [
      'a = "x = 1 # [no]"',
      "b = '[no]\\'",
      'c = """',
      'd = "no" ""',
      '[no]\\"""" # end',
      "e = '''",
      "''f = 1''' # end",
      "g = 2026-01-01T00:00:00Z # [h]",
      "h = -1_000.5e3",
      "",
    ].join("\n");
    expect(lineOf(text, "b")).toBe(2);
    expect(lineOf(text, "d")).toBeUndefined();
    expect(lineOf(text, "no")).toBeUndefined();
    expect(lineOf(text, "e")).toBe(6);
    expect(lineOf(text, "f")).toBeUndefined();
    expect(lineOf(text, "g")).toBe(8);
    expect(lineOf(text, "h")).toBe(9);
  });

  test("counts lines that end in CRLF once, and does not see a byte order mark", () => {
    const text = "\uFEFFa = 1\r\n\r\nb = 2\r\n";
    expect(lineOf(text, "a")).toBe(1);
    expect(lineOf(text, "b")).toBe(3);
  });

  test("finds a list of tables inside a list of tables", () => {
    const text = "[[a]]\n[[a.b]]\nc = 1\n[[a.b]]\nc = 2\n[[a]]\n[[a.b]]\nc = 3\n";
    expect(lineOf(text, "a", 0, "b", 1, "c")).toBe(5);
    expect(lineOf(text, "a", 1, "b", 0, "c")).toBe(8);
  });

  test("stays fast and small however deep the text is", () => {
    expect(lineOf(`${"a.".repeat(100_000)}b = 1\n`, ...Array<string>(9).fill("a"))).toBe(1);
    expect(lineOf(`a = """\n${"x\n".repeat(400_000)}"""\nb = 1\n`, "b")).toBe(400_003);
    expect(lineOf(`a = "${"\\\\".repeat(400_000)}"\nb = 1\n`, "b")).toBe(2);
    expect(lineOf(`a = [${"1,\n".repeat(100_000)}]\nb = 1\n`, "b")).toBe(100_002);
    expect(lineOf(`x = ${"[".repeat(900)}${"]".repeat(900)}\ny = 1\n`, "y")).toBe(2);
  });

  test.each(["[", "[[", "a = [", "a = {", '"', "]]]]", "= = =", "a = '''", "a = {b = [", "\u0000"])(
    "comes to an end on %j, which is no TOML",
    (text) => {
      expect(findTomlLines(text)(["nothing"])).toBeUndefined();
    },
  );
});
