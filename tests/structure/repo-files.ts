/** Files of this repository, by path from its root with forward slashes. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");

export function listFiles(folder: string, suffix: string): string[] {
  if (!hasPath(folder)) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path.split(sep).join("/")}`)
    .filter((path) => path.endsWith(suffix) && !path.includes("/node_modules/"))
    .sort();
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

export function hasPath(path: string): boolean {
  return existsSync(join(ROOT, path));
}
