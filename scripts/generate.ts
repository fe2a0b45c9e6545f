/**
 * `npm run generate`: writes everything under docs/reference. With --check it writes nothing and fails when a
 * committed file differs from what would be written, is missing, or has no generator any more.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { apiGenerator } from "./generators/api.ts";
import { cliGenerator } from "./generators/cli.ts";
import { configGenerator } from "./generators/config.ts";
import { configJsonSchemaGenerator } from "./generators/config-json-schema.ts";
import { errorsGenerator } from "./generators/errors.ts";
import { metricsGenerator } from "./generators/metrics.ts";
import { outagesGenerator } from "./generators/outages.ts";
import { type Generator, NOTE, REFERENCE } from "./generators/page.ts";
import { unmappedGenerator } from "./generators/unmapped/unmapped.ts";

const generators: readonly Generator[] = [
  errorsGenerator,
  configGenerator,
  configJsonSchemaGenerator,
  apiGenerator,
  cliGenerator,
  unmappedGenerator,
  outagesGenerator,
  metricsGenerator,
];

const pages = (await Promise.all(generators.map((generator) => generator.pages()))).flat();
const current = await readCurrent();
const changed = pages.filter(({ path, text }) => current.get(path) !== text);
const orphans = [...current]
  // A page someone wrote by hand lacks the note and is left alone.
  .filter(([path, text]) => text.startsWith(NOTE) && !pages.some((page) => page.path === path))
  .map(([path]) => path);

if (process.argv.includes("--check")) {
  for (const { path } of changed) process.stderr.write(`differs from its source: ${path}\n`);
  for (const path of orphans) process.stderr.write(`no generator writes: ${path}\n`);
  const stale = changed.length + orphans.length;
  if (stale > 0) process.stderr.write("run `npm run generate` and commit the result\n");
  process.exitCode = stale > 0 ? 1 : 0;
} else {
  for (const { path, text } of changed) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  for (const path of orphans) await rm(path);
  process.stdout.write(`${pages.length} files, ${changed.length} written, ${orphans.length} removed\n`);
}

async function readCurrent(): Promise<Map<string, string>> {
  if (!existsSync(REFERENCE)) return new Map();
  const entries = await readdir(REFERENCE, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(paths.map(async (path) => [path, await readFile(path, "utf8")] as const)));
}
