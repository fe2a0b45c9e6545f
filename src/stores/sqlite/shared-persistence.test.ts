import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createMemorySharedState } from "../memory/index.ts";
import { openSqlite, type SqliteConnection } from "./connection.ts";
import { createSqliteSharedState } from "./shared-state.ts";

const TTL_MS = 600_000;
const BOUNDS = { maxItems: 9, maxBytes: 999, ttlMs: TTL_MS };

let folder: string;
let file: string;
const opened: SqliteConnection[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-sqlite-"));
  file = join(folder, "state", "state.db");
});
afterEach(() => {
  for (const connection of opened.splice(0)) connection.close();
  rmSync(folder, { recursive: true });
});

async function open() {
  const connection = await openSqlite(file);
  opened.push(connection);
  const clock = { now: () => performance.now() };
  const state = createSqliteSharedState({ connection, clock, fleeting: createMemorySharedState({ clock }) });
  return { connection, state, close: () => connection.close() };
}

test("what was acknowledged is there after the next start; all former members are gone", async () => {
  const first = await open();
  await first.state.members.join({ id: "m1", address: "" }, TTL_MS);
  await first.state.entries.claim("session:s", "m1", { value: "v", ttlMs: TTL_MS });
  await first.state.logs.append("outbox:s", [{ sequence: 7, text: "t" }], BOUNDS);
  await first.state.logs.append("journal:c", [{ sequence: 1, text: "t" }], { ...BOUNDS, isFleeting: true });
  await first.state.calls.admit({ call: "c", member: "m1", session: "s", facts: "{}", ttlMs: TTL_MS });
  await first.state.close();
  first.close();

  const { state } = await open();
  await state.members.join({ id: "m2", address: "" }, TTL_MS);
  expect(await state.members.list()).toEqual([{ id: "m2", address: "" }]);
  expect(await state.entries.claim("session:s", "m2")).toMatchObject({ value: "v", owner: "m2", fence: 2 });
  expect(await state.logs.read("outbox:s", 0)).toEqual([{ sequence: 7, text: "t" }]);
  expect(await state.logs.read("journal:c", 0)).toEqual([]);
  expect(await state.calls.openOf("s")).toEqual([{ call: "c", member: "m1", isLost: true, facts: "{}" }]);
});

describe("a kill", () => {
  async function writeUntil(point: string) {
    const child = new URL("../../../tests/kit/shared-state/killed-writer.ts", import.meta.url).pathname;
    const writer = spawn(process.execPath, [child, file, point], { stdio: ["ignore", "ignore", "inherit"] });
    expect(await once(writer, "exit")).toEqual([null, "SIGKILL"]);
    return (await open()).state;
  }
  const repeat = { call: "c9", member: "m", facts: "", ttlMs: TTL_MS, once: { key: "k", digest: "d", ttlMs: TTL_MS } };

  test("loses nothing that was acknowledged before it", async () => {
    const state = await writeUntil("sqlite.claim.acknowledged");
    expect(await state.calls.openOf("s")).toEqual([{ call: "c1", member: "writer", isLost: true, facts: "1" }]);
    expect(await state.logs.read("outbox:s", 0)).toEqual([{ sequence: 1, text: "one" }]);
    expect(await state.entries.get("session:s")).toMatchObject({ value: "v1", owner: "writer" });
    expect(await state.calls.admit(repeat)).toEqual({ type: "open" });
  });

  test("before the commit leaves nothing of the group, and all that went before", async () => {
    const state = await writeUntil("sqlite.group.writing");
    expect(await state.entries.get("session:s")).toBeUndefined();
    expect(await state.logs.read("outbox:s", 0)).toHaveLength(1);
  });

  test("after the commit leaves it there, though nobody was told", async () => {
    const state = await writeUntil("sqlite.group.written");
    expect(await state.entries.get("session:s")).toMatchObject({ value: "v1" });
  });

  test("after a named call was admitted makes it lost, not open", async () => {
    const state = await writeUntil("sqlite.admit.acknowledged");
    expect(await state.calls.admit(repeat)).toEqual({ type: "lost", call: "c2" });
  });

  test("after a named call was settled keeps its answer", async () => {
    const state = await writeUntil("sqlite.settle.acknowledged");
    expect(await state.calls.admit(repeat)).toEqual({ type: "done", answer: "{}" });
    expect((await state.calls.openOf("s")).map(({ call }) => call)).toEqual(["c1"]);
  });
});

describe("opening", () => {
  test("is refused while another gateway has the file, with its name and what to do; not after that has closed", async () => {
    const first = await open();
    const refusal = await openSqlite(file).catch((error: Error) => error.message);
    expect(refusal).toBe(
      `${file} is in use by another gateway: stop that one, or give this one a state folder of its own`,
    );
    await first.state.entries.claim("k", "m", { value: "still mine", ttlMs: TTL_MS });
    first.close();
    await expect(open()).resolves.toBeDefined();
  });

  test("is refused to another process as well", async () => {
    await open();
    const code = `import("${new URL("./connection.ts", import.meta.url).href}")
      .then(({ openSqlite }) => openSqlite(process.argv[1]))
      .then(() => process.exit(0), (error) => { process.stdout.write(error.message); process.exit(7); });`;
    const other = spawn(process.execPath, ["-e", code, file], { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    other.stdout.on("data", (chunk: Buffer) => {
      said += chunk;
    });
    expect(await once(other, "close")).toEqual([7, null]);
    expect(said).toContain("is in use by another gateway");
  });

  test("of something that is no database says so, and leaves it alone", async () => {
    (await open()).close();
    writeFileSync(file, "this is a shopping list, not a database. ".repeat(200));
    await expect(openSqlite(file)).rejects.toThrow(`${file} is not a database, or is damaged`);
  });

  test("in a folder that cannot be made says so", async () => {
    writeFileSync(join(folder, "state"), "a file");
    await expect(openSqlite(file)).rejects.toThrow(`${file} cannot be opened for writing`);
  });
});
