import { findFreePort, makeTempDir } from "../candidates/candidate.ts";
import { RedisWire } from "./redis-wire.ts";
import { findProgram, type Store, startStore } from "./store.ts";

const program = (): string | undefined => findProgram("redis-server", ["/usr/bin", "/usr/local/bin"]);

export function redisMissing(): string | undefined {
  return program() === undefined ? "redis-server is not installed (Debian: apt-get install redis-server)" : undefined;
}

/** As the gateway demands it: what it has acknowledged is in its log, and nothing is thrown out. Else its defaults. */
export async function startRedis(): Promise<Store> {
  const command = program();
  if (command === undefined) throw new Error("redis-server is not installed");
  const directory = makeTempDir();
  const port = await findFreePort();
  const settings = {
    bind: "127.0.0.1",
    port: String(port),
    dir: directory,
    save: "",
    appendonly: "yes",
    "maxmemory-policy": "noeviction",
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const greet = async (): Promise<void> => {
    const wire = await RedisWire.connect(port);
    try {
      await wire.ask("PING");
    } finally {
      wire.close();
    }
  };
  return startStore({ command, args, port, url: `redis://127.0.0.1:${port}/0`, directory, greet });
}
