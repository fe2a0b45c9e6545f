/**
 * `npm run requirements:mutate -- --sample 40 [--seed N]`: breaks what random done rows point at and expects a
 * citing test to notice. A row whose tests stay green is a promise nobody checks.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { transformSync } from "esbuild";
import { listFiles, readText } from "../structure/repo-files.ts";
import { restoreBrokenFile, withBrokenFile } from "./broken-file.ts";
import { type Citation, findCitations } from "./citations.ts";
import { mutateExport, sample } from "./mutation.ts";
import { type Row, readDocuments } from "./rows.ts";

const E2E = "tests/e2e/";
const VITEST = ["node_modules/vitest/vitest.mjs", "run", "--reporter=dot"];

const { values } = parseArgs({ options: { sample: { type: "string", default: "40" }, seed: { type: "string" } } });
const seed = Number(values.seed ?? Date.now() % 100_000);

restoreBrokenFile();
const done = readDocuments().flatMap(({ rows }) =>
  rows.filter((row) => row.state === "done" && row.knownFailure !== true),
);
if (done.length === 0) {
  process.stdout.write("nothing to mutate: no requirement is done\n");
} else {
  process.exitCode = await mutateRows(sample(done, Number(values.sample), seed));
}

async function mutateRows(rows: readonly Row[]): Promise<number> {
  const testFiles = ["src", "tests"].flatMap((folder) => listFiles(folder, ".test.ts"));
  const citations = testFiles.flatMap((file) => findCitations(file, readText(file)));
  process.stdout.write(`mutating ${rows.length} of ${done.length} done rows, --seed ${seed}\n`);
  const red = await redBefore(rows, citations);
  let survived = 0;
  for (const row of rows) {
    const verdict = red.has(row.id)
      ? "SURVIVED (its tests are red before any change)"
      : await mutateRow(row, citations);
    if (verdict !== "killed") survived++;
    process.stdout.write(`${row.id} ${row.by} ${verdict}\n`);
  }
  if (rows.some((row) => filesCiting(row.id, citations).some((file) => file.startsWith(E2E)))) await build();
  process.stdout.write(`${rows.length - survived} killed, ${survived} survived\n`);
  return survived === 0 ? 0 : 1;
}

/** A test that is red already would count every mutation as noticed. */
async function redBefore(rows: readonly Row[], citations: readonly Citation[]): Promise<Set<string>> {
  const ids = rows.map((row) => row.id);
  const all = [...new Set(ids.flatMap((id) => filesCiting(id, citations)))];
  const red = new Set<string>();
  if (await isGreen(all, ids)) return red;
  for (const id of ids) if (!(await isGreen(filesCiting(id, citations), [id]))) red.add(id);
  return red;
}

async function mutateRow(row: Row, citations: readonly Citation[]): Promise<string> {
  const [path = "", name = ""] = row.by?.split("#") ?? [];
  const broken = mutateExport(readText(path), name);
  if (broken === undefined) return "SURVIVED (nothing in that export can be broken)";
  // Throws when our edit is not valid TypeScript: that would fail every test and prove nothing.
  transformSync(broken, { loader: "ts" });
  const files = filesCiting(row.id, citations);
  const green = await withBrokenFile(path, broken, async () => {
    if (files.some((file) => file.startsWith(E2E))) await build();
    return isGreen(files, [row.id]);
  });
  return green ? "SURVIVED" : "killed";
}

function filesCiting(id: string, citations: readonly Citation[]): string[] {
  return [...new Set(citations.filter((citation) => citation.ids.includes(id)).map((citation) => citation.file))];
}

/** Runs only the tests that cite one of the ids; end-to-end files have a config of their own. */
async function isGreen(files: readonly string[], ids: readonly string[]): Promise<boolean> {
  const only = ["-t", `\\[(${ids.join("|")})\\]`];
  const unit = files.filter((file) => !file.startsWith(E2E));
  const e2e = files.filter((file) => file.startsWith(E2E)).map((file) => file.slice(E2E.length));
  if (unit.length > 0 && !(await succeeds([...VITEST, ...unit, ...only]))) return false;
  return e2e.length === 0 || succeeds([...VITEST, "--config", `${E2E}vitest.config.ts`, ...e2e, ...only]);
}

/** End-to-end tests start the built program. */
function build(): Promise<boolean> {
  return succeeds(["scripts/build.mjs"]);
}

// Not spawnSync: it would keep Ctrl-C from reaching the handler that restores the file.
async function succeeds(args: readonly string[]): Promise<boolean> {
  const [code] = await once(spawn(process.execPath, args, { stdio: "ignore" }), "exit");
  return code === 0;
}
