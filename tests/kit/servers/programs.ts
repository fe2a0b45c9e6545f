/** The servers that tests start as real processes: where Debian puts them, and which package has them. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "./find-program.ts";

const POSTGRES = "/usr/lib/postgresql";

export const redisProgram = (): string =>
  findProgram({ name: "redis-server", folders: ["/usr/bin", "/usr/local/bin"], aptPackage: "redis-server" });

export const postgresProgram = (name: "initdb" | "postgres"): string =>
  findProgram({ name, folders: postgresFolders, aptPackage: "postgresql" });

export const nginxProgram = (): string =>
  findProgram({ name: "nginx", folders: ["/usr/sbin", "/usr/local/sbin"], aptPackage: "nginx-light" });

/** The newest first. Looked for anew each time: an installation may just have made them. */
function postgresFolders(): string[] {
  if (!existsSync(POSTGRES)) return [];
  return readdirSync(POSTGRES)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(POSTGRES, version, "bin"));
}
