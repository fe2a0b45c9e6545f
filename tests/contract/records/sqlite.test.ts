import { expect, test, vi } from "vitest";
import { openSqlite } from "../../../src/stores/sqlite/connection.ts";
import { openSqliteRecords } from "../../../src/stores/sqlite/records.ts";
import { delivery, NOW, sqliteEngine, task } from "./rig.ts";

test("what the former process had taken is free as soon as the file is opened again", async () => {
  const engine = await sqliteEngine();
  const place = await engine.place();
  const former = await engine.open(place);
  await former.records.deliveries.add(delivery("a"));
  expect(await former.records.deliveries.take(NOW, 1, 600_000)).toHaveLength(1);
  await former.close();
  const { records, close } = await engine.open(place);
  expect(await records.deliveries.take(NOW, 1, 600_000)).toMatchObject([{ id: "a", attempts: 2 }]);
  await close();
  await engine.stop();
});

test("a disk that is full refuses what is written, serves what is read, and is noticed when it has room again", async () => {
  const engine = await sqliteEngine();
  const connection = await openSqlite(await engine.place());
  const records = await openSqliteRecords({ connection });
  const heard: boolean[] = [];
  records.onHealth((isUp) => heard.push(isUp));
  await records.tasks.put(task());
  const { database } = connection;
  database.pragma(`max_page_count = ${database.pragma("page_count", { simple: true })}`);
  const large = task({ id: "large", state: "x".repeat(1_000_000) });
  await expect(records.tasks.put(large)).rejects.toMatchObject({
    code: "STATE_UNAVAILABLE",
    details: { store: "sqlite" },
  });
  expect(records.isUp).toBe(false);
  expect(await records.tasks.get("t1")).toEqual(task());
  expect(await records.tasks.get("large")).toBeUndefined();
  database.pragma("max_page_count = 1000000");
  await vi.waitFor(() => expect(records.isUp).toBe(true), { timeout: 10_000 });
  await records.tasks.put(large);
  expect(heard).toEqual([false, true]);
  await records.close();
  connection.close();
  await engine.stop();
});
