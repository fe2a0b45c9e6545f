import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeOperatorToken, readOperatorToken } from "./operator-token.ts";

let [place, folder, file] = ["", "", ""];
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "isthmus-operator-"));
  folder = join(place, "isthmus");
  file = join(folder, "operator.token");
});
afterEach(() => rmSync(place, { recursive: true }));

const isRoot = process.getuid?.() === 0;
const [ANN, BOB] = [12_345, 54_321];
const as = (uid: number) => ({ uid, gid: uid });

describe.skipIf(process.platform === "win32")("the operator's token", () => {
  test("is read as it was made", () => {
    const token = makeOperatorToken(file);
    expect([readOperatorToken(file), makeOperatorToken(file)]).toEqual([token, token]);
    expect(readOperatorToken(join(place, "none"))).toBeUndefined();
  });

  test("is not taken from a folder that others can write", () => {
    mkdirSync(folder);
    makeOperatorToken(file);
    chmodSync(folder, 0o777);
    expect(() => readOperatorToken(file)).toThrow(/can be written by everybody \(mode 0777\); run: chmod o-w/);
    expect(() => makeOperatorToken(file)).toThrow(/can be written/);
    chmodSync(folder, 0o755);
    expect(readOperatorToken(file)).toMatch(/^isop_/);
  });

  test.each([
    [0o644, "read"],
    [0o640, "read"],
    [0o622, "change"],
    [0o666, "read and change"],
    [0o642, "read and change"],
  ])("is not taken from a file with mode %o: others can %s it", (mode, deeds) => {
    makeOperatorToken(file);
    chmodSync(file, mode);
    expect(() => readOperatorToken(file)).toThrow(`others can ${deeds} this token`);
  });

  // Only root gives files away.
  test.runIf(isRoot)("is not taken from a file or a folder of another user", () => {
    makeOperatorToken(file);
    chownSync(file, BOB, BOB);
    expect(() => readOperatorToken(file, as(ANN))).toThrow(/operator\.token: belongs to another user \(uid 54321\)/);
    chownSync(file, ANN, ANN);
    expect(readOperatorToken(file, as(ANN))).toMatch(/^isop_/);
    chownSync(folder, BOB, BOB);
    for (const reader of [as(ANN), as(0)])
      expect(() => readOperatorToken(file, reader)).toThrow(/isthmus: belongs to another user \(uid 54321\)/);
  });

  test.runIf(isRoot)("is read by root for the user whose folder and file it is", () => {
    makeOperatorToken(file);
    for (const path of [folder, file]) chownSync(path, ANN, ANN);
    expect(readOperatorToken(file, as(0))).toMatch(/^isop_/);
  });
});

test("what is no token is not taken for one", () => {
  writeFileSync(join(place, "x"), "isop_short", { mode: 0o600 });
  expect(() => readOperatorToken(join(place, "x"))).toThrow(/is no token/);
});
