/**
 * The outcome as a page of the reference. `node tests/eras/table.ts` runs the matrix and writes it; needs a build.
 */
import { writeFileSync } from "node:fs";
import { GAPS, gapOf, surprises } from "./gaps.ts";
import { type Run, runMatrix } from "./matrix.ts";
import { CLIENTS, FEATURES, SERVERS } from "./sides.ts";

export const PAGE = new URL("../../docs/reference/eras.md", import.meta.url);

const HEAD = `<!-- Written by tests/eras/table.ts from what the programs did; the test beside it compares. Do not edit. -->

# Clients and servers of both eras

What works through the gateway between real clients and servers of the revisions 2025-11-25 and 2026-07-28. The clients
are the columns: the official SDKs for TypeScript (1.x and 2.x) and Python, in the versions that \`tests/parts\` and
\`tests/eras\` pin. Every cell is a run of \`tests/eras\`, which also runs each pair of one revision without the gateway.
`;

const FOOT = `n/a: the server does not have it.

A server of 2025-11-25 may ask its client at any time, but a client of 2026-07-28 can answer only while one of its calls
runs. What \`server-everything\` asks soon after it was opened is therefore shown with a call that runs meanwhile; without
one the gateway answers for the client, with no roots.
`;

const WORDS = { ok: "yes", "n/a": "n/a", fail: "**no**" } as const;

export function renderPage(runs: readonly Run[]): string {
  const through = runs.filter(({ way }) => way === "through");
  return [HEAD, ...SERVERS.map(({ id }) => renderServer(id, through)), renderGaps()].join("\n");
}

function renderServer(id: string, runs: readonly Run[]): string {
  const server = SERVERS.find((one) => one.id === id);
  const titles = CLIENTS.map(({ title, revision }) => `${title}, ${revision}`);
  const rows = FEATURES.map((feature) => [
    feature.replaceAll("-", " "),
    ...CLIENTS.map((client) => cell(runs, client.id, id, feature)),
  ]);
  const lines = [["", ...titles], ["---", ...titles.map(() => "---")], ...rows];
  const table = lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
  return `## Server: ${server?.title}, ${server?.revision}\n\n${table}\n`;
}

function cell(runs: readonly Run[], client: string, server: string, feature: string): string {
  const run = runs.find((one) => one.client === client && one.server === server);
  const outcome = run?.findings.find((finding) => finding.feature === feature)?.outcome ?? "fail";
  const gap = gapOf({ way: "through", client, server }, feature);
  return gap ? `${WORDS[outcome]} (${shown().indexOf(gap) + 1})` : WORDS[outcome];
}

const shown = () => GAPS.filter(({ way }) => way === undefined);

function renderGaps(): string {
  const reasons = shown().map(({ reason }, index) => `${index + 1}. ${reason}`);
  return reasons.length > 0 ? `${FOOT}\nWhy not:\n\n${reasons.join("\n")}\n` : FOOT;
}

if (import.meta.main) {
  const runs = await runMatrix();
  for (const run of runs)
    for (const line of surprises(run)) process.stderr.write(`${run.way} ${run.client} ${run.server}: ${line}\n`);
  writeFileSync(PAGE, renderPage(runs));
}
