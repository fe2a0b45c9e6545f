import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { hasModes, isWithoutModes } from "./file-rights.ts";

test.each([
  ["FAT", 0x4d44, "6.8.0", true],
  ["a drive of Windows in its subsystem for Linux", 0x01021997, "5.15.153.1-microsoft-standard-WSL2", true],
  ["a folder of the host in a virtual machine", 0x01021997, "6.8.0", false],
  ["ext4", 0xef53, "5.15.153.1-microsoft-standard-WSL2", false],
])("modes of files on %s are taken for what they are", (_what, type, kernel, expected) => {
  expect(isWithoutModes(type, kernel)).toBe(expected);
});

test("modes mean something where files are made, and where nobody knows", () => {
  expect([hasModes(tmpdir()), hasModes("/nowhere/at/all")]).toEqual([true, true]);
});
