import { describe, expect, test } from "vitest";
import { parseToml, TomlFault } from "./parse-toml.ts";

function fault(text: string | Buffer): string {
  try {
    parseToml(Buffer.from(text as string));
  } catch (error) {
    if (error instanceof TomlFault) return `${error.place} ${error.message}`;
    throw error;
  }
  return "none";
}

describe("parseToml", () => {
  test.each([
    ["a = foo", ":1:5 ", 'text needs quotes, as in "text"'],
    ["\nlisten = 127.0.0.1:1", ":2:", 'text needs quotes, as in "text"'],
    ["a = True", ":1:5 ", "write true or false"],
    ["a = null", ":1:5 ", "leave the key out"],
    ["a =", ":1:4 ", "a value is missing"],
    ["a = “x”", ":1:5 ", "plain quotes"],
    ['a = "x', ":1:5 ", "close the string"],
    ['a = "x\nb = "y"', ":1:7 unfinished", "close the string"],
    ['a = "x\r\nb = "y"', ":1:7 unfinished", "close the string"],
    ['a = "x\u0001y"', ":1:7 ", "write control characters as"],
    ["a: 1", ":1:2 ", "with an equals sign"],
    ['{"mcpServers": {}}', ":1:1 ", "looks like JSON"],
    ["a = 1\na = 2", ":2:1 ", "stands once"],
    ["[servers]\n[[servers]]", ":2:3 ", "begins with [[servers]]"],
    ["[[servers]\n", ":1:11 ", "[[servers]]"],
    ["[servers", ":1:", "[[servers]]"],
    ["a = [1 2]", ":1:", "a comma or a closing bracket is missing"],
    ['a = "C:\\dir"', ":1:", "write \\\\ for a backslash"],
    ["a = 1 b = 2", ":1:", "line of its own"],
    ["\u0000\u0001\u0002", ":1:1 ", "write key = value"],
    [`a = ${"[".repeat(2000)}`, ":1:", "nested"],
  ])("says for %j where it is wrong and what usually helps", (text, place, hint) => {
    expect(fault(text)).toMatch(new RegExp(`^${place}`));
    expect(fault(text)).toContain(hint);
  });

  test("never repeats what stands in the file", () => {
    expect(fault('token = "hunter2')).not.toContain("hunter2");
    expect(fault("token = hunter2")).not.toContain("hunter2");
  });

  test("names the line with bytes that are no UTF-8", () => {
    expect(fault(Buffer.from([0x61, 0x3d, 0x31, 0x0a, 0x62, 0xff, 0xfe]))).toBe(
      ":2 expected UTF-8, found other bytes; save the file as UTF-8",
    );
  });

  test("does not see a byte order mark", () => {
    expect(parseToml(Buffer.from("\uFEFFa = 1")).table).toEqual({ a: 1 });
  });

  test("takes the comment by which editors find the schema", () => {
    expect(parseToml(Buffer.from("#:schema ./isthmus.schema.json\na = 1")).table).toEqual({ a: 1 });
  });
});
