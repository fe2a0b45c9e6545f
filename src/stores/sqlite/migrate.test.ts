import type { Database } from "better-sqlite3";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrate } from "./migrate.ts";

let database: Database;
beforeEach(() => {
  database = new Sqlite(":memory:");
});
afterEach(() => {
  database.close();
});

const FIRST = "CREATE TABLE things (name TEXT) STRICT; INSERT INTO things VALUES ('old')";
const SECOND = "ALTER TABLE things ADD COLUMN size INTEGER NOT NULL DEFAULT 5";
const things = () => database.prepare("SELECT * FROM things").all();

test("a file of an older release goes up step by step, with what is in it", () => {
  migrate(database, "shared", [FIRST]);
  migrate(database, "shared", [FIRST]);
  expect(things()).toEqual([{ name: "old" }]);
  migrate(database, "shared", [FIRST, SECOND]);
  migrate(database, "shared", [FIRST, SECOND]);
  expect(things()).toEqual([{ name: "old", size: 5 }]);
});

test("each part of a file has a version of its own", () => {
  migrate(database, "shared", [FIRST, SECOND]);
  migrate(database, "other", ["CREATE TABLE others (name TEXT) STRICT"]);
  expect(database.prepare("SELECT * FROM schema_versions ORDER BY part").all()).toEqual([
    { part: "other", version: 1 },
    { part: "shared", version: 2 },
  ]);
});

test("a file of a newer release is refused, with what to do", () => {
  migrate(database, "shared", [FIRST, SECOND]);
  expect(() => migrate(database, "shared", [FIRST])).toThrow(
    /written by a newer release \(shared version 2, this one knows 1\): start that release/,
  );
});

test("a step that fails leaves the file as it was", () => {
  migrate(database, "shared", [FIRST]);
  expect(() => migrate(database, "shared", [FIRST, SECOND, "CREATE TABLE things (x)"])).toThrow(/already exists/);
  expect(things()).toEqual([{ name: "old" }]);
  migrate(database, "shared", [FIRST, SECOND]);
  expect(things()).toEqual([{ name: "old", size: 5 }]);
});
