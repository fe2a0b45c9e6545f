/** What the launcher keeps of compiled code from one start to the next. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Program, runProgram } from "./kit/program.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-kept-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const config = '[gateway]\nlisten = "127.0.0.1:0"\n[[servers]]\nid = "nobody"\nurl = "http://127.0.0.1:9/mcp"\n';

function keptFiles(): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.includes("isthmus-")).map((name) => join(folder, name));
}

/** Starts a gateway, ends it when it serves, and gives the file it has kept. */
async function serveOnce(env: Readonly<Record<string, string>> = {}): Promise<string> {
  await using program = new Program(["up"], { config, env: { NODE_COMPILE_CACHE: folder, ...env } });
  await program.output(/Point an MCP client at/);
  expect(await program.stop()).toBe(0);
  return keptFiles().join();
}

describe("compiled code", () => {
  test("is kept by the first start in a file of its own, and used as it is by the second", async () => {
    const file = await serveOnce();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { mtimeMs } = statSync(file);
    expect(await serveOnce()).toBe(file);
    expect(statSync(file).mtimeMs).toBe(mtimeMs);
  });

  test.each([
    ["is damaged", (bytes: Buffer) => bytes.fill(0xff, 5_000, 6_000)],
    ["was cut off", (bytes: Buffer) => bytes.subarray(0, 100_000)],
    ["is empty", () => Buffer.alloc(0)],
  ])("that %s is not run but replaced", async (_, spoil) => {
    const file = await serveOnce();
    const spoiled = spoil(readFileSync(file));
    writeFileSync(file, spoiled);
    expect(await serveOnce()).toBe(file);
    expect(readFileSync(file).equals(spoiled)).toBe(false);
  });

  test("is not kept by a start that serves nothing", async () => {
    await runProgram(["up", "--help"], { env: { NODE_COMPILE_CACHE: folder } });
    await runProgram(["up"], { config: "x = 1\n", env: { NODE_COMPILE_CACHE: folder } });
    expect(keptFiles()).toEqual([]);
  });

  test("is not kept where Node's own cache is switched off", async () => {
    expect(await serveOnce({ NODE_DISABLE_COMPILE_CACHE: "1" })).toBe("");
  });
});
