/** What an import did, or would do. */
import { basename } from "node:path";
import { cut, plainLine } from "../output/plain.ts";
import { shortPath } from "../output/short-path.ts";
import { wrap } from "../output/wrap.ts";
import type { PlannedServer } from "./import-plan.ts";

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
    /** Undefined: it was right already, or this is a dry run. */
    readonly backup: string | undefined;
    /** What stays with the client, because it could not be taken. */
    readonly kept: readonly string[];
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
      : `${added.length === 0 ? `${shortPath(config)} has them all` : `Added ${count} to ${shortPath(config)}`}.`,
  );
  for (const one of connected) lines.push(...connectLines(one, isDryRun));
  return [...lines, ...(isDryRun || added.length === 0 ? [] : ['"isthmus doctor" tries each of them.'])];
}

const ACTION_WIDTH = 9;

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

function connectLines({ file, backup, kept, text }: ImportReport["connected"][number], isDryRun: boolean): string[] {
  const shown = shortPath(file);
  if (isDryRun) return ["", `${shown} would read:`, "", ...text.split("\n")];
  if (backup === undefined) return [`${shown} points at Isthmus already.`];
  return [
    "",
    `${shown} now points at Isthmus.`,
    "  As it was, it is kept beside it:",
    `  ${basename(backup)}`,
    ...(kept.length > 0 ? [`  left there, because it could not be taken: ${kept.join(", ")}`] : []),
    '  Restart the client to see it. "isthmus import --undo" takes it back.',
    "",
  ];
}
