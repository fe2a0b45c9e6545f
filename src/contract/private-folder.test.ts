import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makePrivateFolder } from "./private-folder.ts";

describe("makePrivateFolder", () => {
  let place: string;
  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), "isthmus-folder-"));
  });
  afterEach(() => rmSync(place, { recursive: true, force: true }));

  test("makes a folder that only its owner can look into, says where it began, and twice is once", () => {
    expect(makePrivateFolder(join(place, "a", "b"))).toBe(join(place, "a"));
    expect(makePrivateFolder(join(place, "a", "b"))).toBeUndefined();
    expect(statSync(join(place, "a", "b")).mode & 0o777).toBe(0o700);
    expect(existsSync(join(place, "a", ".gitignore"))).toBe(false);
  });

  test.each([".isthmus", ".isthmus/audit", ".isthmus/secrets/deeper"])(
    "tells git to leave out the state folder, made for %s",
    (folder) => {
      makePrivateFolder(join(place, folder));
      expect(readFileSync(join(place, ".isthmus/.gitignore"), "utf8")).toBe("*\n");
      expect(statSync(join(place, ".isthmus/.gitignore")).mode & 0o777).toBe(0o600);
    },
  );

  test("leaves a state folder alone that was there before", () => {
    mkdirSync(join(place, ".isthmus"));
    makePrivateFolder(join(place, ".isthmus/audit"));
    expect(existsSync(join(place, ".isthmus/.gitignore"))).toBe(false);
  });
});
