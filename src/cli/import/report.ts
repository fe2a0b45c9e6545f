/** What an import did, or would do. */

import { basename } from "node:path";
import { cut, plainLine } from "../output/plain.ts";
import { shortPath } from "../output/short-path.ts";
import { wrap } from "../output/wrap.ts";
import { PROGRAM } from "../program-name.ts";
import type { PlannedServer } from "./import-plan.ts";

/** What looks like a secret is not in it. */
export type ImportReport = {
  readonly sources: readonly {
    readonly client: string;
    readonly file: string;
    readonly servers: readonly PlannedServer[];
  }[];
  /** The config that they go to. */
  readonly config: string;
  readonly added: readonly string[];
  readonly isDryRun: boolean;
  /** The tables that are new in the config. */
  readonly text: string;
  readonly connected: readonly {
    readonly file: string;
    /** Whether the client starts a gateway of its own, which nobody else reaches. */
    readonly isAlone: boolean;
    /** Whether the client could be given an address instead. */
    readonly readsAddresses: boolean;
    /** Undefined: it was right already, or this is a dry run. */
    readonly backup: string | undefined;
    /** What stays with the client, because it could not be taken. */
    readonly kept: readonly string[];
    /** The servers that the client has then. */
    readonly text: string;
  }[];
};

export function importLines(report: ImportReport, width: number): string[] {
  const { sources, config, added, isDryRun, text, connected } = report;
  const lines = sources.flatMap(({ file, servers }) => [
    `From ${shortPath(file)}:`,
    ...serverLines(servers, width),
    "",
  ]);
  if (isDryRun) lines.push(`This would be added to ${shortPath(config)}:`, "", ...text.split("\n"), "");
  const count = added.length === 1 ? "1 server" : `${added.length} servers`;
  lines.push(
    isDryRun
      ? "Nothing was written."
      : `${added.length === 0 ? nothingAdded(sources, shortPath(config)) : `Added ${count} to ${shortPath(config)}`}.`,
  );
  for (const one of connected) lines.push(...connectLines(one, isDryRun));
  return [...lines, ...(isDryRun || added.length === 0 ? [] : [`"${PROGRAM} doctor" tries each of them.`])];
}

function nothingAdded(sources: ImportReport["sources"], config: string): string {
  const isLeft = sources.some(({ servers }) => servers.some(({ isOnlyThere }) => isOnlyThere));
  return isLeft ? `Nothing was added to ${config}` : `${config} has them all`;
}

const ACTION_WIDTH = 9;
const ALONE = "  Nobody else reaches the gateway that it starts: calls that need a yes are";
const ADDRESS = `  refused. With "${PROGRAM} up" and --connect url they wait for yours.`;
const RUNNING = [
  `  It uses the gateway that runs: start "${PROGRAM} up" first. Where that asks who`,
  "  calls, as [auth] has it do, give the client a header with a token, too.",
];
const GATE = "  refused. [gate] in the config says which do.";

/** What becomes of each, and below it what to know about it. */
function serverLines(servers: readonly PlannedServer[], width: number): string[] {
  const nameWidth = Math.max(0, ...servers.map(({ name }) => plainLine(name).length)) + 2;
  const margin = 2 + ACTION_WIDTH + nameWidth;
  return servers.flatMap(({ name, server, notes }) => {
    const command = server?.command && [server.command, ...(server.args ?? [])].join(" ");
    const facts = server ? [cut(shortPath(plainLine(command ?? server.url ?? "")), width - margin), ...notes] : notes;
    const [first = "", ...rest] = facts.flatMap((fact) => wrap(plainLine(fact), width - margin));
    const action = (server ? "added" : "skipped").padEnd(ACTION_WIDTH);
    return [
      `  ${action}${plainLine(name).padEnd(nameWidth)}${first}`.trimEnd(),
      ...rest.map((line) => " ".repeat(margin) + line),
    ];
  });
}

function connectLines(
  { file, backup, kept, text, isAlone, readsAddresses }: ImportReport["connected"][number],
  isDryRun: boolean,
): string[] {
  const shown = shortPath(file);
  if (isDryRun) return ["", `${shown} would have these servers, and the rest as it is:`, "", ...text.split("\n")];
  if (backup === undefined) return [`${shown} points at Isthmus already.`];
  return [
    "",
    `${shown} now points at Isthmus.`,
    "  As it was, it is kept beside it:",
    `  ${basename(backup)}`,
    ...(kept.length > 0 ? [`  left there, because it could not be taken: ${kept.join(", ")}`] : []),
    ...(isAlone ? [ALONE, readsAddresses ? ADDRESS : GATE] : RUNNING),
    "  Restart the client to see it. To take it back:",
    `  ${PROGRAM} import --undo`,
    "",
  ];
}
