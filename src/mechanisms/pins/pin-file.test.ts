import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PinBook } from "./pin-book.ts";
import { PinFile } from "./pin-file.ts";

describe("PinFile", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "isthmus-pin-file-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test.each(["pins.json", `pins.json.${process.pid}.tmp`])("is written through no link at %s", async (name) => {
    const theirs = join(folder, "theirs");
    writeFileSync(theirs, "");
    symlinkSync(theirs, join(folder, name));
    const file = new PinFile(join(folder, "pins.json"));
    await file.update([], new PinBook()).catch(() => rmSync(join(folder, "pins.json")));
    await file.update([], new PinBook());
    expect(readFileSync(theirs, "utf8")).toBe("");
    expect(lstatSync(join(folder, "pins.json")).mode).toBe(0o100600);
    expect(readdirSync(folder).toSorted()).toEqual(["pins.json", "theirs"]);
  });

  test("is written also where a process of the same number was killed before", async () => {
    writeFileSync(join(folder, `pins.json.${process.pid}.tmp`), "half", { mode: 0o644 });
    await new PinFile(join(folder, "pins.json")).update([], new PinBook());
    expect(lstatSync(join(folder, "pins.json")).mode).toBe(0o100600);
    expect(readdirSync(folder)).toEqual(["pins.json"]);
  });
});
