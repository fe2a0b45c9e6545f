import { describe, expect, test, vi } from "vitest";
import { ArgumentsFault, refuseTwins } from "./arguments.ts";

describe("members that can be taken for what a rule reads", () => {
  test.each([
    { path: "/srv/a", Path: "/etc" },
    { PATH: "/etc" },
    { "path ": "/etc" },
    { " path": "/etc" },
    { "pa\u200bth": "/etc" },
    { ｐａｔｈ: "/etc" },
    { file: { path: "a", Path: "b" } },
    { files: [{ pATH: "b" }] },
  ])("are refused: %j", (args) => {
    expect(() => refuseTwins(args, ["path", "file"])).toThrow(ArgumentsFault);
  });

  test("are refused also by letters that fold into others", () => {
    expect(() => refuseTwins({ "to\u212Ben": 1 }, ["to\u00e5en"])).toThrow(ArgumentsFault);
    expect(() => refuseTwins({ "a\u017Fk": 1 }, ["ask"])).toThrow(ArgumentsFault);
    expect(() => refuseTwins({ "to\u212Aen": 1 }, ["token"])).toThrow(ArgumentsFault);
  });

  test("are not looked for in keys that are too long to be brought into one form", () => {
    const key = `p${"\u0301\u0316".repeat(100_000)}ath`;
    expect(() => refuseTwins({ [key]: 1 }, ["path"])).toThrow(ArgumentsFault);
    refuseTwins({ ["a".repeat(200_000)]: 1 }, ["path"]);
  });

  test.each([`a${"\u0301".repeat(500)}${"\u0327".repeat(500)}`, "\u0301\u0327".repeat(16), "\u0327\uff9e".repeat(16)])(
    "are not looked for in a key with more marks than a letter has, and these are not sorted: %#",
    (key) => {
      using normalize = vi.spyOn(String.prototype, "normalize");
      expect(() => refuseTwins({ [key]: 1 }, ["path"])).toThrow(ArgumentsFault);
      expect(() => refuseTwins({ a: [{ [key]: 1 }] }, undefined)).toThrow(ArgumentsFault);
      expect(normalize).not.toHaveBeenCalled();
      refuseTwins({ [`a${"\u0301".repeat(30)}`]: 1 }, ["path"]);
    },
  );

  test("are no others", () => {
    refuseTwins({ path: "/srv/a", paths: 1, env: { http_proxy: 1, HTTP_PROXY: 2 } }, ["path"]);
    refuseTwins({ id: 1, ID: 2 }, ["id", "ID"]);
    refuseTwins({ id: 1, ID: 2 }, []);
  });

  test("are any two where a rule may read any", () => {
    expect(() => refuseTwins({ a: { b: 1, B: 2 } }, undefined)).toThrow(ArgumentsFault);
    refuseTwins({ a: { b: 1, c: 2 } }, undefined);
  });
});
