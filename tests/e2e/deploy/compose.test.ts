/** deploy/compose.yaml without Docker: its Redis and its gateway are started as it says, on this machine. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { startPostgres } from "../../kit/servers/postgres.ts";
import { greet, type ServerRecipe, startServer } from "../../kit/servers/test-server.ts";
import { pathOf } from "../../needs/need.ts";
import { redisServer } from "../../needs/programs.ts";
import { Workspace } from "../identity/workspace.ts";
import { ROOT } from "../kit/program.ts";
import { readDockerfile, textsOf } from "./dockerfile.ts";

type Service = {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
};

const compose = parse(readFileSync(join(ROOT, "deploy/compose.yaml"), "utf8")) as {
  readonly services: Readonly<Record<"gateway" | "redis" | "postgres", Service>>;
  readonly volumes: Readonly<Record<string, null>>;
};
const { gateway, redis, postgres } = compose.services;
const PASSWORD = "s3cret";

/** As compose puts variables into values. */
const fill = (value = "") => value.replaceAll(/\$\{POSTGRES_PASSWORD:\?[^}]*\}/g, PASSWORD);

const redisOfCompose: ServerRecipe = {
  name: "redis",
  command: (folder, port) => [
    pathOf(redisServer),
    ...(redis.command ?? []).slice(1),
    "--port",
    String(port),
    "--dir",
    folder,
  ],
  url: (port) => `redis://127.0.0.1:${port}`,
  endSignal: "SIGTERM",
  isReady: async (_folder, port) => (await greet(port, "PING\r\n")).startsWith("+PONG"),
};

test("the gateway of deploy/compose.yaml starts with its config, its Redis and its PostgreSQL", async () => {
  await using stack = new AsyncDisposableStack();
  const redisServing = await startServer(redisOfCompose);
  stack.defer(() => redisServing.stop());
  const postgresServing = await startPostgres();
  stack.defer(() => postgresServing.stop());
  const { POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD } = postgres.environment ?? {};
  await query(
    postgresServing.url,
    `CREATE ROLE ${POSTGRES_USER} LOGIN PASSWORD '${fill(POSTGRES_PASSWORD)}'`,
    `CREATE DATABASE ${POSTGRES_DB} OWNER ${POSTGRES_USER}`,
  );
  const env = Object.fromEntries(
    Object.entries(gateway.environment ?? {}).map(([name, value]) => [
      name,
      fill(value)
        .replace("postgres:5432", `127.0.0.1:${postgresServing.port}`)
        .replace("redis:6379", `127.0.0.1:${redisServing.port}`),
    ]),
  );
  const config = readFileSync(join(ROOT, "deploy/compose.toml"), "utf8").replace("/var/lib/isthmus", "state");
  const place = stack.use(new Workspace(config));
  const origin = await place.up("127.0.0.1:0", env);
  expect(await (await fetch(`${origin}/readyz`)).json()).toEqual({ status: "ready" });
  // It has what it keeps in both.
  expect(await greet(redisServing.port, "DBSIZE\r\n")).toMatch(/^:[1-9]/);
  const tables = "SELECT count(*)::int AS count FROM information_schema.tables WHERE table_schema = 'public'";
  expect(await query(postgresServing.url.replace(/[^/]+$/, POSTGRES_DB ?? ""), tables)).toEqual([
    { count: expect.toSatisfy((count) => count > 5) },
  ]);
});

async function query(url: string, ...statements: readonly string[]): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  let rows: unknown[] = [];
  for (const statement of statements) rows = (await client.query(statement)).rows;
  await client.end();
  return rows;
}

test("the gateway of deploy/compose.yaml can write to its volume and /tmp only, has no privileges, and is asked how it is", () => {
  expect(gateway).toMatchObject({
    read_only: true,
    tmpfs: ["/tmp"],
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
    build: { context: "..", dockerfile: "deploy/Dockerfile" },
  });
  expect(gateway.volumes).toEqual(["./compose.toml:/etc/isthmus/isthmus.toml:ro", "state:/var/lib/isthmus"]);
  expect(Object.keys(gateway).filter((key) => /^(?:privileged|cap_add|user)$/.test(key))).toEqual([]);
  // The health check is that of the image, which dockerfile.test.ts runs.
  const [, image] = readDockerfile("deploy/Dockerfile");
  expect(textsOf(image, "HEALTHCHECK")).toEqual([expect.stringContaining("http://127.0.0.1:7411/healthz")]);
  expect(gateway.healthcheck).toBeUndefined();
  expect(readFileSync(join(ROOT, "deploy/compose.toml"), "utf8")).toMatch(/^listen = "0\.0\.0\.0:7411"$/m);
});

test("the services of deploy/compose.yaml wait for each other, keep what they have, and are what they say", () => {
  expect(gateway.depends_on).toEqual({
    redis: { condition: "service_healthy" },
    postgres: { condition: "service_healthy" },
  });
  expect(redis.healthcheck?.test.slice(1)).toEqual(["redis-cli", "ping"]);
  expect(postgres.healthcheck?.test).toContain(postgres.environment?.POSTGRES_USER);
  const mounted = [gateway, redis, postgres].flatMap(({ volumes = [] }) => volumes.map((text) => text.split(":")[0]));
  expect(mounted.sort()).toEqual(["./compose.toml", ...Object.keys(compose.volumes)].sort());
});
