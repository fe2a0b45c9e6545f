import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathOf } from "../../needs/need.ts";
import { redisServer } from "../../needs/programs.ts";
import { greet, type ServerRecipe, startServer, type TestServer } from "./test-server.ts";

export type RedisOptions = {
  readonly password?: string;
  /** Further lines of redis.conf, by their first word; they replace those given here. */
  readonly settings?: Readonly<Record<string, string>>;
};

/** A Redis that keeps what it has acknowledged, as the gateway demands it. `url` carries the password, if any. */
export function startRedis(options: RedisOptions = {}): Promise<TestServer> {
  return startServer(redisRecipe(options));
}

export function redisRecipe(options: RedisOptions = {}): ServerRecipe {
  const program = pathOf(redisServer);
  const settings: Record<string, string> = {
    bind: "127.0.0.1",
    save: '""',
    appendonly: "yes",
    // Written and on disk before the answer: a kill of this server loses nothing that a test was told.
    appendfsync: "always",
    "maxmemory-policy": "noeviction",
    ...(options.password === undefined ? {} : { requirepass: JSON.stringify(options.password) }),
    ...options.settings,
  };
  const userInfo = options.password === undefined ? "" : `:${encodeURIComponent(options.password)}@`;
  return {
    name: "redis",
    prepare(folder, port) {
      const lines = Object.entries({ port: String(port), dir: folder, ...settings });
      writeFileSync(join(folder, "redis.conf"), lines.map(([name, value]) => `${name} ${value}\n`).join(""));
    },
    command: (folder) => [program, join(folder, "redis.conf")],
    url: (port) => `redis://${userInfo}127.0.0.1:${port}/0`,
    endSignal: "SIGTERM",
    // While it loads its file it says -LOADING; one that wants a password says -NOAUTH and is ready.
    isReady: async (_folder, port) => /^(?:\+PONG|-NOAUTH)/.test(await greet(port, "PING\r\n")),
  };
}
