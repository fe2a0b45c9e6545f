import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openSqlite } from "./connection.ts";

const folder = mkdtempSync(join(tmpdir(), "isthmus-connection-"));
afterEach(() => rmSync(folder, { recursive: true }));

test("the file, its log and a folder made for them are nobody else's on the machine", async () => {
  const before = process.umask(0);
  try {
    const file = join(folder, "state", "isthmus.db");
    const connection = await openSqlite(file);
    connection.database.exec("CREATE TABLE written (id INTEGER)");
    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect([modeOf(file), modeOf(`${file}-wal`), modeOf(join(folder, "state"))]).toEqual(["600", "600", "700"]);
    connection.close();
  } finally {
    process.umask(before);
  }
});
