/** Calls the official suite and reads the reports that it leaves. */
import { mkdir, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { pathOf } from "../needs/need.ts";
import { parts } from "../needs/programs.ts";
import { readFailedCalls } from "./failed-calls.ts";
import { exitOf, startNode } from "./processes.ts";

const SUITE = "@modelcontextprotocol/conformance/dist/index.js";

export type Check = { readonly id: string; readonly status: string; readonly errorMessage?: string };

/** Checks by scenario. */
export type Report = ReadonlyMap<string, readonly Check[]>;

/** What a revision requires. The suite runs more server scenarios than it scores. */
export type Requirements = { readonly scored: ReadonlySet<string>; readonly serverScenarios: readonly string[] };

export async function readRequirements(revision: string, folder: string): Promise<Requirements> {
  const logFile = join(folder, `requirements-${revision}.txt`);
  await call(["list", "--requirements", revision], logFile);
  const list = await readFile(logFile, "utf8");
  const [scored = "", unscored = ""] = list.split("never scored:");
  const [server = ""] = scored.split("Client scenarios");
  const serverScenarios = [...namesIn(server), ...namesIn(unscored, "server")];
  if (serverScenarios.length === 0) throw new Error(`the suite lists nothing for ${revision}: ${list}`);
  return { scored: new Set(namesIn(scored)), serverScenarios };
}

/** Names in a printed list; with a tag, only those marked `[tag]`. */
function namesIn(list: string, tag?: string): string[] {
  const lines = [...list.matchAll(/^ +- (\S+)(?: \[(\w+)\])?$/gm)];
  return lines.filter(([, , marked]) => marked === tag).map(([, name = ""]) => name);
}

/** All server scenarios of a revision. */
export async function runServerScenarios(revision: string, url: string, folder: string): Promise<Report> {
  await mkdir(folder, { recursive: true });
  const args = ["server", "--url", url, "--requirements", revision, "-o", folder];
  await call(args, join(folder, "suite.log"));
  return await readReport(folder);
}

/** One client scenario; the suite appends the URL of its own server to `command`. */
export async function runClientScenario(
  scenario: string,
  options: { readonly revision: string; readonly command: string; readonly folder: string },
): Promise<readonly Check[]> {
  const { revision, command, folder } = options;
  await mkdir(folder, { recursive: true });
  const args = [
    "client",
    "--command",
    command,
    "--scenario",
    scenario,
    "--spec-version",
    revision,
    "--force",
    "-o",
    folder,
  ];
  const code = await call(args, join(folder, "suite.log"));
  const checks = (await readReport(folder)).get(scenario) ?? [];
  const all = [...checks, ...readFailedCalls(await readClientErrors(folder))];
  if (code === 0 || all.some(({ status }) => status === "FAILURE")) return all;
  // The suite also fails on warnings and when the command does, which no check tells.
  return [...all, { id: "suite-exit-code", status: "FAILURE", errorMessage: `the suite ended with ${code}` }];
}

/** What the command wrote to stderr; the suite keeps it beside its report. */
async function readClientErrors(folder: string): Promise<string> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => basename(file) === "stderr.txt");
  return (await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")))).join("\n");
}

async function call(args: readonly string[], logFile: string): Promise<number | null> {
  return await exitOf(startNode(join(pathOf(parts), SUITE), args, logFile));
}

/** Folders are named `[server-]SCENARIO-TIMESTAMP`; a scenario may have a slash in its name. */
async function readReport(folder: string): Promise<Report> {
  const report = new Map<string, Check[]>();
  for (const file of await readdir(folder, { recursive: true })) {
    const scenario = /^(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z\/checks\.json$/.exec(file)?.[1];
    if (scenario === undefined) continue;
    report.set(scenario, JSON.parse(await readFile(join(folder, file), "utf8").catch(() => "[]")));
  }
  return report;
}
