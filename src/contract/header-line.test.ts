import { describe, expect, test } from "vitest";
import { headerLine } from "./header-line.ts";

describe("headerLine", () => {
  test("writes one line with its end", () => {
    expect(headerLine("Mcp-Session-Id", "a b\tc\u00e9")).toBe("Mcp-Session-Id: a b\tc\u00e9\r\n");
    expect(headerLine("X", "")).toBe("X: \r\n");
  });

  test.each(["a\rb", "a\nb", "a\r\nX: y", "a\0", "a\u007f", "a\u0130"])("refuses the value %j", (value) => {
    expect(() => headerLine("X", value)).toThrow(/header X/);
  });

  test.each(["", "a b", "a:", "a\r\n", "\u00e9"])("refuses the name %j", (name) => {
    expect(() => headerLine(name, "x")).toThrow(/header name/);
  });

  test("keeps the value out of the message", () => {
    expect(() => headerLine("Authorization", "Bearer secret\n")).not.toThrow(/secret/);
  });
});
