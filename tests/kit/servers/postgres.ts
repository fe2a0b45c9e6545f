import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathOf } from "../../needs/need.ts";
import { initdb, postgres } from "../../needs/programs.ts";
import { greet, type ServerRecipe, startServer, type TestServer } from "./test-server.ts";

export type PostgresOptions = {
  /** Further settings of postgresql.conf, which replace those given here. */
  readonly settings?: Readonly<Record<string, string>>;
};

/** A PostgreSQL with an empty database `postgres`, whose superuser `test` needs no password. */
export function startPostgres(options: PostgresOptions = {}): Promise<TestServer> {
  return startServer(postgresRecipe(options));
}

export function postgresRecipe(options: PostgresOptions = {}): ServerRecipe {
  const [makeCluster, serve] = [pathOf(initdb), pathOf(postgres)];
  // It refuses to run as root; the package brings a user for it.
  const asUser = process.getuid?.() === 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : [];
  const settings: Record<string, string> = {
    listen_addresses: "127.0.0.1",
    // No power cut in tests, so nothing need reach the disk. synchronous_commit stays on: a kill must lose nothing.
    fsync: "off",
    full_page_writes: "off",
    ...options.settings,
  };
  const run = (command: readonly string[]) => {
    const [program = "", ...args] = [...asUser, ...command];
    return [program, ...args] as const;
  };
  return {
    name: "postgres",
    prepare(folder) {
      if (asUser.length > 0) execFileSync("chown", ["postgres", folder]);
      const [program, ...args] = run([
        ...[makeCluster, "-D", join(folder, "data"), "-U", "test"],
        ...["--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"],
      ]);
      execFileSync(program, args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    },
    command: (folder, port) =>
      run([
        ...[serve, "-D", join(folder, "data"), "-p", String(port)],
        ...Object.entries({ unix_socket_directories: folder, ...settings }).flatMap(([name, value]) => [
          "-c",
          `${name}=${value}`,
        ]),
      ]),
    url: (port) => `postgres://test@127.0.0.1:${port}/postgres`,
    endSignal: "SIGINT",
    isReady: async (_folder, port) => (await greet(port, startupMessage())).startsWith("R"),
  };
}

/** The first message of a client: protocol 3.0, user and database. "R" answers it when the server takes clients. */
function startupMessage(): Buffer {
  const body = Buffer.from("\0\x03\0\0user\0test\0database\0postgres\0\0", "latin1");
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([length, body]);
}
