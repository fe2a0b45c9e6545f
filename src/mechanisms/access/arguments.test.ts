import { describe, expect, test, vi } from "vitest";
import { ArgumentsFault, refuseTwins } from "./arguments.ts";

const only = (...named: string[]) => ({ named, others: undefined });
const any = { named: [], others: [] };

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
    expect(() => refuseTwins(args, only("path", "file"))).toThrow(ArgumentsFault);
  });

  test("are refused also by letters that fold into others", () => {
    expect(() => refuseTwins({ "to\u212Ben": 1 }, only("to\u00e5en"))).toThrow(ArgumentsFault);
    expect(() => refuseTwins({ "a\u017Fk": 1 }, only("ask"))).toThrow(ArgumentsFault);
    expect(() => refuseTwins({ "to\u212Aen": 1 }, only("token"))).toThrow(ArgumentsFault);
  });

  test("are not looked for in keys that are too long to be brought into one form", () => {
    const key = `p${"\u0301\u0316".repeat(100_000)}ath`;
    expect(() => refuseTwins({ [key]: 1 }, only("path"))).toThrow(ArgumentsFault);
    refuseTwins({ ["a".repeat(200_000)]: 1 }, only("path"));
  });

  test.each([`a${"\u0301".repeat(500)}${"\u0327".repeat(500)}`, "\u0301\u0327".repeat(16), "\u0327\uff9e".repeat(16)])(
    "are not looked for in a key with more marks than a letter has, and these are not sorted: %#",
    (key) => {
      using normalize = vi.spyOn(String.prototype, "normalize");
      expect(() => refuseTwins({ [key]: 1 }, only("path"))).toThrow(ArgumentsFault);
      expect(() => refuseTwins({ a: [{ [key]: 1 }] }, any)).toThrow(ArgumentsFault);
      expect(normalize).not.toHaveBeenCalled();
      refuseTwins({ [`a${"\u0301".repeat(30)}`]: 1 }, only("path"));
    },
  );

  test("are no others", () => {
    refuseTwins({ path: "/srv/a", paths: 1, env: { http_proxy: 1, HTTP_PROXY: 2 } }, only("path"));
    refuseTwins({ id: 1, ID: 2 }, only("id", "ID"));
    refuseTwins({ id: 1, ID: 2 }, only());
  });

  test("are any two where a rule may read any", () => {
    expect(() => refuseTwins({ a: { b: 1, B: 2 } }, any)).toThrow(ArgumentsFault);
    refuseTwins({ a: { b: 1, c: 2 } }, any);
  });

  test("are also those of a text in a rule that may read any, and each of them may be what it means", () => {
    const fields = { named: ["path"], others: ["force", "PATH"] };
    for (const args of [{ Force: 1 }, { a: [{ "force ": 1 }] }, { PATH: 1 }, { Path: 1 }, { a: 1, A: 2 }])
      expect(() => refuseTwins(args, fields), JSON.stringify(args)).toThrow(ArgumentsFault);
    refuseTwins({ path: 1, force: 2, forces: 3 }, fields);
    refuseTwins({ ID: 1 }, { named: ["id", "ID"], others: ["id", "ID"] });
  });
});
