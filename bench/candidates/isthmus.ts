import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Upstream } from "../upstream/start-upstream.ts";
import { type Candidate, findFreePort, makeTempDir, type Running, startCandidate } from "./candidate.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/isthmus.js", import.meta.url));
export const GOVERNED = fileURLToPath(new URL("../governed.toml", import.meta.url));

export function isthmusMissing(): string | undefined {
  return existsSync(PROGRAM) ? undefined : "dist/isthmus.js is not there: `npm run build` first";
}

/** One server under its own names, so that a call is the same bytes for every candidate. */
export function describeServer(upstream: Upstream): string {
  const where =
    upstream.kind === "http"
      ? `url = ${JSON.stringify(upstream.url)}`
      : `command = ${JSON.stringify(upstream.command)}\nargs = ${JSON.stringify(upstream.args)}`;
  return `[[servers]]\nid = "up"\nprefix = ""\n${where}\n`;
}

/** Where each kind keeps the code that it compiled: what others have run of the same build, as tests do, is none of its doing. */
const keptCode = new Map<string, string>();

function keptCodeOf(kind: string): string {
  const directory = keptCode.get(kind) ?? makeTempDir();
  keptCode.set(kind, directory);
  return directory;
}

/** `program` is that of another build. */
export type StartedAs = { kind?: string; env?: NodeJS.ProcessEnv; program?: string };

/** `config` is the whole isthmus.toml. */
export async function startIsthmus(config: string, started: StartedAs = {}): Promise<Running> {
  const directory = makeTempDir();
  const port = await findFreePort();
  const file = join(directory, "isthmus.toml");
  writeFileSync(file, config);
  const args = [started.program ?? PROGRAM, "up", "--config", file, "--listen", `127.0.0.1:${port}`];
  const env = { HOME: directory, NODE_COMPILE_CACHE: keptCodeOf(started.kind ?? ""), ...started.env };
  return startCandidate({ command: process.execPath, args, port, directory, env });
}

function makeIsthmus(name: string, extra: () => string): Candidate {
  return {
    name,
    kind: "isthmus",
    upstreams: ["http", "stdio"],
    missing: isthmusMissing,
    start: (upstream) => startIsthmus(`${describeServer(upstream)}\n${extra()}`, { kind: name }),
  };
}

export const isthmus = makeIsthmus("isthmus", () => "");

/** The same again: what the two differ by is what this run cannot tell apart. */
export const isthmusTwin = makeIsthmus("isthmus twin", () => "");

/** With every stage that exists so far at work. */
export const isthmusGoverned = makeIsthmus("isthmus governed", () => readFileSync(GOVERNED, "utf8"));
