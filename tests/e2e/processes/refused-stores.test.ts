import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPostgres } from "../../kit/servers/postgres.ts";
import { startRedis } from "../../kit/servers/redis.ts";
import { freePort, type TestServer } from "../../kit/servers/test-server.ts";
import { Program, runProgram } from "../kit/program.ts";

const PASSWORD = "not-for-the-log";
let postgres: TestServer;
let redis: TestServer;

beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis({ password: PASSWORD })]);
}, 60_000);

afterAll(async () => {
  await redis?.stop();
  await postgres?.stop();
});

const up = (database: string, shared: string, config = "") =>
  runProgram(["up", "--listen", "127.0.0.1:0", "--database", database, "--shared", shared], { config });

/** Starts with these stores, and ends again. */
async function starts(database: string, shared: string, config = ""): Promise<Program> {
  const args = ["up", "--listen", "127.0.0.1:0", "--json", "--database", database, "--shared", shared];
  const program = new Program(args, { config });
  await program.output(/^\{.*\}\n/m);
  await program.stop();
  return program;
}

test("stores are named on the command line, which wins over the file", async () => {
  const config = `[database]\nurl = "memory:"\n[shared]\nurl = "redis://127.0.0.1:1/0"\n`;
  const { stderr } = await starts(postgres.url, redis.url, config);
  expect(stderr).toContain('"message":"joined"');
  expect(stderr).not.toContain(PASSWORD);
});

test("--shared without a PostgreSQL is a mistake in the config: 3", async () => {
  const { code, stderr } = await up("memory:", redis.url);
  expect(code).toBe(3);
  expect(stderr).toContain("several processes keep their tables in one PostgreSQL");
  expect(stderr).not.toContain(PASSWORD);
});

describe("a Redis that may forget what it was told", () => {
  test.each([
    [{ appendonly: "no" }, 'does not write what it has to disk (appendonly no): set "appendonly yes"'],
    [{ "maxmemory-policy": "allkeys-lru" }, "may throw away entries when it is full (maxmemory-policy allkeys-lru)"],
  ])("%j is refused with 10, unless [shared] volatile accepts it", async (settings, reason) => {
    const forgetful = await startRedis({ password: PASSWORD, settings });
    try {
      const { code, stdout, stderr } = await up(postgres.url, forgetful.url);
      expect({ code, stdout }).toEqual({ code: 10, stdout: "" });
      expect(stderr).toContain(`isthmus: redis://127.0.0.1:${forgetful.port}/0 ${reason}`);
      expect(stderr).toContain("or set shared.volatile = true");
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
      const program = await starts(postgres.url, forgetful.url, "[shared]\nvolatile = true\n");
      expect(program.stderr).toContain("shared.volatile accepts it");
      expect(stderr + program.stderr).not.toContain(PASSWORD);
    } finally {
      await forgetful.stop();
    }
  });
});

describe("exit code 10, with one sentence that holds no password, when", () => {
  async function expectRefusal(database: string, shared: string, reason: RegExp): Promise<void> {
    const { code, stdout, stderr } = await up(database, shared);
    expect({ code, stdout }).toEqual({ code: 10, stdout: "" });
    const lines = stderr.split("\n").filter((line) => line.startsWith("isthmus: "));
    expect(lines).toEqual([expect.stringMatching(reason)]);
    expect(stderr).not.toMatch(new RegExp(`${PASSWORD}|wrong-word`));
  }

  test("the password of Redis is wrong", async () => {
    await expectRefusal(postgres.url, redis.url.replace(PASSWORD, "wrong-word"), /^isthmus: redis:\/\/.*: WRONGPASS/);
  });

  test("Redis cannot be reached", async () => {
    const url = `redis://:${PASSWORD}@127.0.0.1:${await freePort()}/0`;
    await expectRefusal(postgres.url, url, /^isthmus: redis:\/\/127\.0\.0\.1:\d+\/0 cannot be reached: .*ECONNREFUSED/);
  });

  test("PostgreSQL cannot be reached", async () => {
    const url = `postgres://test:${PASSWORD}@127.0.0.1:${await freePort()}/postgres`;
    await expectRefusal(url, redis.url, /^isthmus: .*127\.0\.0\.1.*ECONNREFUSED/);
  });

  test("the password of PostgreSQL is wrong", async () => {
    const strict = await startPostgres();
    try {
      writeFileSync(join(strict.folder, "data", "pg_hba.conf"), "host all all 127.0.0.1/32 scram-sha-256\n");
      const url = strict.url.replace("test@", "test:wrong-word@");
      process.kill(strict.pid as number, "SIGHUP");
      await expectRefusal(url, redis.url, /^isthmus: .*127\.0\.0\.1.*password/);
    } finally {
      await strict.stop();
    }
  });

  test("the database was used by a newer release", async () => {
    const newer = await startPostgres();
    try {
      await (await starts(newer.url, redis.url)).exited;
      const { default: pg } = await import("pg");
      const client = new pg.Client(newer.url);
      await client.connect();
      await client.query("INSERT INTO records_versions VALUES (999, 'from the future')");
      await client.end();
      await expectRefusal(newer.url, redis.url, /^isthmus: .*version 999.*newer/);
    } finally {
      await newer.stop();
    }
  });
});
