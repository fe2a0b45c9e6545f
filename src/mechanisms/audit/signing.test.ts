import { lstatSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { signerInFolder } from "./signing.ts";

describe("signerInFolder", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "isthmus-signing-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const plant = (name: string) => {
    const theirs = join(folder, "theirs");
    writeFileSync(theirs, "theirs");
    symlinkSync(theirs, join(folder, name));
    return () => readFileSync(theirs, "utf8");
  };

  test("puts the public key in the place of a link, not where it leads", () => {
    const theirs = plant("audit-key.pub");
    const { publicKey } = signerInFolder(folder);
    expect(readFileSync(join(folder, "audit-key.pub"), "utf8")).toBe(publicKey);
    expect(lstatSync(join(folder, "audit-key.pub")).mode).toBe(0o100600);
    expect(theirs()).toBe("theirs");
  });

  test("makes no key behind a link", () => {
    const theirs = plant("audit-key.pem");
    expect(() => signerInFolder(folder)).toThrow();
    expect(theirs()).toBe("theirs");
  });
});
