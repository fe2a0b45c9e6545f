import { describe, expect, test } from "vitest";
import { UriTemplate } from "./uri-template.ts";

describe("a URI against a template", () => {
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
    expect(new UriTemplate(template).matches(uri)).toBe(expected);
  });

  test("takes linear time on a template made to be slow", () => {
    const template = `x://${"{+a}a".repeat(2_000)}`;
    expect(new UriTemplate(template).matches(`x://${"a".repeat(4_000)}b`)).toBe(false);
  });
});

describe("an exact template", () => {
  test.each([
    ["db://prod/{+x}", "db://prod/1", true],
    ["file:///{+path}", "file:///a/b", true],
    ["x://search{?q}", "x://search?q=1", true],
    ["x://search{?q}", "x://search.elsewhere/?q=1", false],
    ["notes://{user}/private", "notes://bob/private", true],
    ["notes://{+user}/private", "notes://bob/private", false],
    ["notes://{user*}/private", "notes://bob/private", false],
    ["db://{host}/{table}", "db://prod/1", false],
    ["db://{host}", "db://prod", false],
    ["db://p{+x}", "db://prod/1", false],
    ["db:{+x}", "db://prod/1", false],
    ["db:/{+x}", "db://prod/1", false],
    ["urn:isbn:{n}", "urn:isbn:1", true],
  ])("%s says more than the scheme of %s: %s", (template, uri, expected) => {
    expect(new UriTemplate(template).matches(uri)).toBe(true);
    expect(new UriTemplate(template).isExact(uri)).toBe(expected);
  });
});
