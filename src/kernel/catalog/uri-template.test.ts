import { describe, expect, test } from "vitest";
import { matchesTemplate } from "./uri-template.ts";

describe("matchesTemplate", () => {
  test.each([
    ["test://template/{id}/data", "test://template/1/data", true],
    ["test://template/{id}/data", "test://template/1/2/data", false],
    ["test://template/{id}/data", "test://template//data", false],
    ["test://template/{id}/data", "test://template/1/data/x", false],
    ["file:///{+path}", "file:///a/b/c", true],
    ["x://{a}/{b}", "x://1/2", true],
    ["x://{a}/{b}", "x://1", false],
    ["x://search{?q,limit}", "x://search?q=a/b", true],
    ["x://search{?q,limit}", "x://search", true],
    ["x://plain", "x://plain", true],
    ["x://plain", "x://plain2", false],
    ["x://broken/{id", "x://broken/1", false],
  ])("%s against %s is %s", (template, uri, expected) => {
    expect(matchesTemplate(template, uri)).toBe(expected);
  });

  test("takes linear time on a template made to be slow", () => {
    const template = `x://${"{+a}a".repeat(2_000)}`;
    expect(matchesTemplate(template, `x://${"a".repeat(4_000)}b`)).toBe(false);
  });
});
