/** Records on both engines, each with a database of its own, and what the tests fill them with. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { BlobBytes, Delivery, Records, TaskRow } from "../../../src/contract/index.ts";
import { systemClock } from "../../../src/server/clock.ts";
import { TimerWheel } from "../../../src/server/timers.ts";
import { openPostgres, type PostgresOptions } from "../../../src/stores/postgres/index.ts";
import { FileBlobBytes } from "../../../src/stores/sqlite/blobs-in-files.ts";
import { openSqlite } from "../../../src/stores/sqlite/connection.ts";
import { openSqliteRecords } from "../../../src/stores/sqlite/records.ts";
import { KeptLog } from "../../kit/quiet.ts";
import { startPostgres } from "../../kit/servers/postgres.ts";
import type { TestServer } from "../../kit/servers/test-server.ts";

export type OpenStore = { readonly records: Records; readonly blobBytes: BlobBytes; close(): Promise<void> };

/** An engine that has a server, or a folder, until `stop`. */
export interface Engine {
  /** The path of a file, or a URL: a new database. */
  place(): Promise<string>;
  open(place: string, now?: () => number): Promise<OpenStore>;
  stop(): Promise<void>;
}

export const timers = () =>
  new TimerWheel({
    clock: systemClock,
    onError: (error) => {
      throw error;
    },
  });

export async function sqliteEngine(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-records-"));
  return {
    place: async () => join(folder, randomUUID(), "isthmus.db"),
    open: openSqliteAt,
    stop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

export async function postgresEngine(): Promise<Engine & { readonly server: TestServer }> {
  const server = await startPostgres();
  return {
    server,
    place: () => newDatabase(server),
    open: openAt,
    stop: () => server.stop(),
  };
}

/** Whatever engine the place belongs to. */
export async function openAt(place: string, now?: () => number): Promise<OpenStore> {
  if (!place.startsWith("postgres:")) return openSqliteAt(place, now);
  const { records, blobBytes } = await openPostgresAt(place, now && { now });
  return { records, blobBytes, close: () => records.close() };
}

async function openSqliteAt(place: string, now?: () => number): Promise<OpenStore> {
  const connection = await openSqlite(place);
  try {
    const records = await openSqliteRecords({ connection, ...(now && { now }) });
    const close = async () => {
      await records.close();
      connection.close();
    };
    return { records, blobBytes: new FileBlobBytes(`${place}.blobs`), close };
  } catch (error) {
    connection.close();
    throw error;
  }
}

export function openPostgresAt(url: string, options: Partial<PostgresOptions> = {}) {
  return openPostgres({ url, timers: timers(), log: new KeptLog(), ...options });
}

export async function newDatabase(server: TestServer): Promise<string> {
  const name = `d${randomUUID().replaceAll("-", "")}`;
  await query(server.url, `create database ${name}`);
  return server.url.replace(/\/postgres$/, `/${name}`);
}

export async function query(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

export const NOW = 1_800_000_000_000;

export function task(change: Partial<TaskRow> = {}): TaskRow {
  return { id: "t1", principal: "ann", member: "m1", isOver: false, state: "{}", expiresAt: NOW + 1_000, ...change };
}

export function delivery(id: string, change: Partial<Delivery> = {}): Delivery {
  const times = { dueAt: NOW, expiresAt: NOW + 60_000 };
  return { id, channel: "hook", target: "t", body: "b", order: "", attempts: 0, ...times, lastError: "", ...change };
}
