import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { FileWatch } from "./watch-files.ts";

describe("FileWatch", () => {
  let folder = "";
  let files: string[] = [];
  let changes = 0;
  let time = new ManualTime();
  let watch: FileWatch | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "isthmus-"));
    files = [join(folder, "isthmus.toml")];
    changes = 0;
    time = new ManualTime();
  });
  afterEach(() => {
    watch?.close();
    rmSync(folder, { recursive: true });
  });

  const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const start = () => {
    watch = new FileWatch({ timers: time, files: () => files, onChange: () => changes++ });
    return watch;
  };
  /** Long enough for a poll and the quiet after it. */
  const wait = () => time.advance(2_200);

  test("tells of a file that was written in place, once", () => {
    put("isthmus.toml", "a");
    start();
    wait();
    expect(changes).toBe(0);
    put("isthmus.toml", "ab");
    wait();
    wait();
    expect(changes).toBe(1);
  });

  test("tells of a file that another was renamed over, even with the same size and time", () => {
    put("isthmus.toml", "a");
    start();
    put("other", "b");
    utimesSync(join(folder, "other"), 1, 1);
    utimesSync(files[0] as string, 1, 1);
    renameSync(join(folder, "other"), files[0] as string);
    wait();
    expect(changes).toBe(1);
  });

  test("tells when the link above the file is turned elsewhere, as with a ConfigMap", () => {
    for (const name of ["one", "two"]) {
      mkdirSync(join(folder, name));
      put(`${name}/isthmus.toml`, name);
    }
    symlinkSync("one", join(folder, "data"));
    symlinkSync("data/isthmus.toml", join(folder, "isthmus.toml"));
    start();
    symlinkSync("two", join(folder, "data.tmp"));
    renameSync(join(folder, "data.tmp"), join(folder, "data"));
    wait();
    expect(changes).toBe(1);
  });

  test("tells of a file that appears and of one that goes", () => {
    start();
    put("isthmus.toml", "a");
    wait();
    expect(changes).toBe(1);
    unlinkSync(files[0] as string);
    wait();
    expect(changes).toBe(2);
  });

  test("waits until a file that is being written stays the same", () => {
    put("isthmus.toml", "");
    start();
    time.advance(1_950);
    for (let written = 1; written < 10; written++) {
      put("isthmus.toml", "a".repeat(written));
      time.advance(100);
      expect(changes).toBe(0);
    }
    time.advance(100);
    expect(changes).toBe(1);
  });

  test("watches other files from the next refresh on, and does not miss what changed before it", () => {
    put("isthmus.toml", "a");
    put("secret", "1");
    const watching = start();
    put("isthmus.toml", "changed");
    files = [...files, join(folder, "secret")];
    watching.refresh();
    wait();
    expect(changes).toBe(1);
    put("secret", "22");
    wait();
    expect(changes).toBe(2);
  });

  test("leaves no timer and says nothing after it was closed", () => {
    start().close();
    put("isthmus.toml", "a");
    wait();
    expect(changes).toBe(0);
    expect(time.pending).toBe(0);
  });

  test("lives with a folder that is not there", () => {
    files = [join(folder, "none/isthmus.toml")];
    start();
    mkdirSync(join(folder, "none"));
    put("none/isthmus.toml", "a");
    wait();
    expect(changes).toBe(1);
  });
});
