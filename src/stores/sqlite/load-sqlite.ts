import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type Sqlite from "better-sqlite3";

export type LoadedSqlite = {
  readonly Sqlite: typeof Sqlite;
  /** The part of the package that is for this machine; one of its options. */
  readonly nativeBinding: string;
};

/**
 * The package's JavaScript is part of our bundle; its machine code stays where it was installed. The package's own search for
 * it makes a report of the whole process, to tell one C library from another: 4 ms of every start.
 */
export async function loadSqlite(): Promise<LoadedSqlite> {
  const { default: Sqlite } = await import("better-sqlite3");
  return { Sqlite, nativeBinding: findBinding() };
}

function findBinding(): string {
  const { resolve } = createRequire(import.meta.filename);
  const system = process.platform === "linux" && isMusl() ? "linuxmusl" : process.platform;
  const prebuilt = join("prebuilds", `${system}-${process.arch}.node`);
  // Looked for by its name first: to resolve a package reads and checks its description, 1 to 2 ms of every start.
  for (const folder of resolve.paths("better-sqlite3") ?? []) {
    const file = join(folder, "better-sqlite3", prebuilt);
    if (existsSync(file)) return file;
  }
  const installed = dirname(resolve("better-sqlite3/package.json"));
  const file = join(installed, prebuilt);
  // For other machines it is compiled when the package is installed.
  return existsSync(file) ? file : join(installed, "build", "Release", "better_sqlite3.node");
}

function isMusl(): boolean {
  try {
    // What is loaded into this process; the C library is among it.
    return readFileSync("/proc/self/maps", "latin1").includes("/ld-musl-");
  } catch {
    const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
    return header.glibcVersionRuntime === undefined;
  }
}
