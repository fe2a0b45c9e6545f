import { describe, expect, test } from "vitest";
import { fitsOneOf } from "./by-template.ts";

const fits = (template: string, uri: string) => fitsOneOf(uri)({ provider: "docs", kind: "template", name: template });

describe("a URI is of a template", () => {
  test.each([
    ["file:///private/{name}", "file:///private/x"],
    ["file:///private/{name}", "file:///private/x/"],
    ["file:///private/{name}", "file:///private./x"],
    ["file:///private/{name}", "file:///private /x"],
    ["file:///café/{name}", "file:///caf%C3%A9/x"],
    ["file:///caf%C3%A9/{name}", "file:///café/x"],
    ["file:///caf%C3%A9/{name}", "file:///cafe\u0301/x"],
    ["file:///my%20files/{name}", "file:///my files/x"],
    ["file:///{name}.{extension}", "file:///.env.local"],
    ["file:///{+path}", "file:///a/b/c"],
    ["file:///logs{/path*}", "file:///logs/a/b"],
    ["db://{host}/{table}{?at,by}", "db://h/t"],
    ["db://{host}/{table}{?at,by}", "db://h/t?at=a/b"],
    ["db://{host}/{table}", "db://h/t?at=1"],
    ["db://{host}/{table}", "db://h/t?at=a/b"],
    ["db://{host}/{table}", "db://user@h:/t"],
    ["db://search?kind=open{&page}", "db://search?kind=open&page=2"],
    ["https://{host}", "https://h/"],
    ["https://{host}/", "https://h"],
    ["https://{host}{+path}.txt", "https://h/a.txt."],
    ["note://{+folder}/secret-{id}/text", "note://a/secret-1/b/secret-2/text"],
    ["{+any}", "note://a"],
  ])("%s of %s", (template, uri) => {
    expect(fits(template, uri)).toBe(true);
  });

  test.each([
    ["file:///private/{name}", "file:///private"],
    ["file:///private/{name}", "file:///private/x/y"],
    ["file:///private/{name}", "file:///privateer/x"],
    ["file:///private/{name}", "file:///public/private/x"],
    ["file:///{name}", "file:///a/b"],
    ["db://{host}/{table}{?at}", "db://h/t/rows"],
    ["db://{host}/{table}/schema", "db://h/t/rows"],
    ["db://search?kind=closed{&page}", "db://search?kind=open&page=2"],
    ["repo://{owner}/{repo}/contents{/path*}", "repo://o/r/refs/contents/x"],
    ["note://{+folder}/secret-{id}/text", "note://a/public-1/text"],
  ])("%s and not of %s", (template, uri) => {
    expect(fits(template, uri)).toBe(false);
  });

  test("where it is too long to be looked at", () => {
    expect(fits("file:///private/{name}", `file:///${"x".repeat(5_000)}`)).toBe(true);
  });

  // Whatever tries each way to divide the text never comes to its end.
  test("in time that grows with its length", () => {
    const template = `doc://${"{+a}x".repeat(32)}end`;
    expect(fits(template, `doc://${"x".repeat(4_000)}`)).toBe(false);
  });
});
