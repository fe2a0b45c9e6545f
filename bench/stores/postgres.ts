import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { findFreePort, makeTempDir } from "../candidates/candidate.ts";
import { findProgram, type Store, startStore } from "./store.ts";

const DEBIAN = "/usr/lib/postgresql";

function programs(): { initdb: string | undefined; postgres: string | undefined } {
  const folders = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, "bin")) : [];
  return { initdb: findProgram("initdb", folders), postgres: findProgram("postgres", folders) };
}

export function postgresMissing(): string | undefined {
  const { initdb, postgres } = programs();
  const isThere = initdb !== undefined && postgres !== undefined;
  return isThere ? undefined : "postgres is not installed (Debian: apt-get install postgresql)";
}

/** It refuses to run as root; its package brings a user for it. */
function asOwnUser(command: readonly string[]): [string, ...string[]] {
  const isRoot = process.getuid?.() === 0;
  const change = isRoot ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : [];
  return [...change, ...command] as [string, ...string[]];
}

/** With an empty database `postgres`, whose superuser `bench` needs no password. Calls never reach it: only tasks do. */
export async function startPostgres(): Promise<Store> {
  const { initdb, postgres } = programs();
  if (initdb === undefined || postgres === undefined) throw new Error("postgres is not installed");
  const directory = makeTempDir();
  const data = join(directory, "data");
  if (process.getuid?.() === 0) execFileSync("chown", ["postgres", directory]);
  const [maker, ...making] = asOwnUser([initdb, "-D", data, "-U", "bench", "--auth=trust", "--no-sync", "-E", "UTF8"]);
  execFileSync(maker, making, { cwd: directory, stdio: "ignore" });
  const port = await findFreePort();
  const settings = { listen_addresses: "127.0.0.1", unix_socket_directories: directory };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const [command, ...args] = asOwnUser([postgres, "-D", data, "-p", String(port), ...flags]);
  const url = `postgres://bench@127.0.0.1:${port}/postgres`;
  return startStore({ command, args, port, url, directory, greet: () => greet(port) });
}

/** Protocol 3.0 with user and database; "R" answers it when the server takes clients. */
function greet(port: number): Promise<void> {
  const body = Buffer.from("\0\x03\0\0user\0bench\0database\0postgres\0\0", "latin1");
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(Buffer.concat([length, body])));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("it said nothing")));
    socket.once("data", (chunk) => {
      if (chunk.toString("latin1").startsWith("R")) resolve();
      else reject(new Error("it takes no clients yet"));
      socket.destroy();
    });
  });
}
