/** Makes sure that what a run needs is there, installs what it may, and says exactly what else is missing. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Candidate } from "./candidates/candidate.ts";
import { nginx } from "./candidates/nginx.ts";
import type { BenchOptions } from "./options.ts";

const BENCH = fileURLToPath(new URL(".", import.meta.url));

function checkMachine(): void {
  if (process.platform !== "linux") throw new Error("the bench reads /proc and pins cores: it runs on Linux only");
  if (availableParallelism() < 2) throw new Error("the bench needs two cores: one for the candidate, one for the load");
  if (spawnSync("taskset", ["--version"]).status !== 0) throw new Error("taskset is missing (Debian: util-linux)");
}

function installPackages(): void {
  if (existsSync(`${BENCH}node_modules/.package-lock.json`)) return;
  process.stdout.write("installing the peers (npm ci --prefix bench)\n");
  const result = spawnSync("npm", ["ci", "--prefix", BENCH], { stdio: ["ignore", "ignore", "inherit"] });
  if (result.status !== 0) throw new Error("npm ci --prefix bench failed: the peers are missing");
}

function installNginx(): void {
  if (nginx.missing?.() === undefined || process.getuid?.() !== 0) return;
  process.stdout.write("installing nginx-light (apt-get)\n");
  // The package would start a server of its own; runlevel 1 tells its script not to.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  spawnSync("apt-get", ["install", "-y", "--no-install-recommends", "nginx-light"], { stdio: "ignore", env });
}

/** Throws when nothing can be measured at all; a single missing candidate is the caller's to report. */
export function prepareMachine(): void {
  checkMachine();
  installPackages();
  installNginx();
}

export type Selection = { candidates: Candidate[]; notes: string[] };

/** Those asked for and present on this machine; a note for each that is not. */
export function selectCandidates(all: readonly Candidate[], options: BenchOptions): Selection {
  const asked = all.filter(
    ({ name }) => options.candidates.length === 0 || options.candidates.some((start) => name.startsWith(start)),
  );
  const notes = asked.flatMap((candidate) => {
    const missing = candidate.missing?.();
    return missing === undefined ? [] : [`${candidate.name} skipped: ${missing}`];
  });
  return { candidates: asked.filter((candidate) => candidate.missing?.() === undefined), notes };
}
