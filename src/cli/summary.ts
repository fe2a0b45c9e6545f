/** What `isthmus up` shows a person: what is behind it, where it listens, what to do next. */

import type { ConfigChange, ServerSummary } from "../server/gateway-types.ts";
import { isOwnAddress } from "./client/gateway-url.ts";
import type { DemoCall } from "./demo-call.ts";
import { grantLines } from "./output/grant-advice.ts";
import { plainLine } from "./output/plain.ts";
import { shortPath } from "./output/short-path.ts";
import { wrappedRows } from "./output/table.ts";
import { wrap } from "./output/wrap.ts";
import { PROGRAM } from "./program-name.ts";

export type Summary = {
  readonly url: string;
  readonly servers: readonly ServerSummary[];
  /** Where a config was looked for, when none was found and the demo runs. */
  readonly looked?: readonly string[];
  /** How callers are known; unset: nobody is asked. */
  readonly callers?: readonly string[];
  /** None of them may use anything. */
  readonly grantsNothing?: boolean;
  /** They are known by tokens of the gateway, and it has given out none. */
  readonly lacksTokens?: boolean;
  /** What the demo did by itself. */
  readonly call?: DemoCall;
};

export type SummaryOptions = {
  /** How the program is called here. */
  readonly program: string;
  /** Where a client on this machine connects. Unset: where it listens. */
  readonly reachable?: string;
  readonly width: number;
  /** Verbs find this gateway without being told where it is. */
  readonly isFound: boolean;
  /** Other machines reach it, and no name was written that they may call it by. */
  readonly lacksNames?: boolean;
  /** Whoever runs it is known to it. Unset: they are. */
  readonly knowsOperator?: boolean;
};

export function summaryText(summary: Summary, options: SummaryOptions): string {
  const { url, servers, looked, call, callers, grantsNothing = false, lacksTokens = false } = summary;
  const { width, reachable = url, lacksNames = false, knowsOperator = true } = options;
  // Without the operator's token nobody can say yes.
  const waiting = knowsOperator ? call?.waiting : undefined;
  return [
    ...(looked
      ? [
          "No config was found, so the built-in demo runs. Looked for:",
          ...looked.map((file) => `  ${shortPath(file)}`),
          "",
        ]
      : []),
    `Isthmus listens on ${url}`,
    ...(lacksNames ? [namesLine(url, reachable)] : []),
    ...(callers ? [`Callers are known by ${callers.join(", ")}.`] : []),
    "",
    ...serverLines(servers, width),
    "",
    ...adviceLines(servers, width),
    ...(lacksTokens ? firstTokenLines(reachable, options) : []),
    ...nothingGrantedLines(servers, grantsNothing),
    ...(call ? ["A call, just now:", `  isthmus ${call.words}`, `  ${call.answer}`, ""] : []),
    ...(waiting ? ["And one that waits for your yes:", `  isthmus ${waiting}`, ""] : []),
    `Point an MCP client at ${reachable} (Streamable HTTP).`,
    `Open ${new URL("/", reachable).href} in a browser to see it, and what waits for a yes.`,
    ...(looked ? nextSteps(reachable, options, waiting) : []),
    "Stop with Ctrl-C.",
    "",
  ].join("\n");
}

/** An address that stands for all of them is the name of none. */
function namesLine(url: string, reachable: string): string {
  if (url !== reachable)
    return "Other machines reach it only by the names in allowedHosts of [gateway]: there are none.";
  return `Other machines reach it as ${new URL(url).host}, or by names in allowedHosts of [gateway].`;
}

/** What another config has made of the servers. */
export function changeText(
  servers: readonly ServerSummary[],
  { added, changed, removed, settings }: Omit<ConfigChange, "settled">,
  { width, grantsNothing }: { readonly width: number; readonly grantsNothing: boolean },
): string {
  const counts = [
    [added, "new"],
    [changed, "changed"],
    [removed, "gone"],
  ] as const;
  const counted = counts.filter(([ids]) => ids.length > 0).map(([ids, word]) => `${ids.length} ${word}`);
  const what = [...counted, ...settings];
  return [
    "",
    ...wrap(`The config has changed and was taken over${what.length > 0 ? `: ${what.join(", ")}` : ""}.`, width),
    "",
    ...serverLines(servers, width),
    "",
    ...adviceLines(servers, width),
    ...nothingGrantedLines(servers, grantsNothing),
  ].join("\n");
}

export const NO_SERVERS = ["  no servers are configured", `  "${PROGRAM} add NAME -- COMMAND" adds one`];

function serverLines(servers: readonly ServerSummary[], width: number): string[] {
  if (servers.length === 0) return NO_SERVERS;
  const rows = servers.map(({ id, status, tools, message }) => {
    return [id, status, status === "ok" ? `${tools} ${tools === 1 ? "tool" : "tools"}` : (message ?? "")];
  });
  return wrappedRows(rows, { width: width - 2 }).flatMap((lines, index) => [
    ...lines.map((line) => `  ${line}`),
    ...lastWord(servers[index]).flatMap((said) => wrap(said, width - 4).map((line) => `    ${line}`)),
  ]);
}

/** The last of what the program of one wrote that does not work. */
function lastWord({ status, lastWords = [] }: Partial<ServerSummary> = {}): string[] {
  return status === "ok" ? [] : lastWords.slice(-1).map((said) => `it wrote: ${shortPath(plainLine(said))}`);
}

/** Nothing need be done about servers that are so. */
const FINE: readonly ServerSummary["status"][] = ["ok", "starting", "disabled"];

/** What to do about servers that do not work. */
function adviceLines(servers: readonly ServerSummary[], width: number): string[] {
  const broken = servers.filter(({ status }) => !FINE.includes(status)).map(({ id }) => id);
  if (broken.length === 0) return [];
  return [...wrap(`"${PROGRAM} doctor" says what to do about ${broken.join(", ")}.`, width), ""];
}

function nothingGrantedLines(servers: readonly ServerSummary[], grantsNothing: boolean): string[] {
  return grantsNothing ? [...grantLines({ server: servers[0]?.id }), ""] : [];
}

/** Whoever runs the gateway is known to it, but only from this machine. */
function firstTokenLines(url: string, { isFound, knowsOperator = true }: SummaryOptions): string[] {
  const own = new URL(url);
  const command = `${PROGRAM} token create --user NAME --role admin`;
  if (!knowsOperator)
    return [
      `${NO_TOKEN} This gateway has no operator token, so it knows nobody who could make one.`,
      "Stop it, make the first one, and start it again:",
      `  ${command}`,
      "",
    ];
  if (isOwnAddress(own))
    return [
      `${NO_TOKEN} Make the first one, in another terminal:`,
      `  ${command}${isFound ? "" : ` --url ${own.origin}`}`,
      "",
    ];
  return [
    `${NO_TOKEN} Stop this gateway, which has no address of this machine alone, and make the first one:`,
    `  ${command}`,
    "",
  ];
}

const NO_TOKEN = "There is no token yet.";

function nextSteps(url: string, { program, width, isFound }: SummaryOptions, waiting: string | undefined): string[] {
  const where = isFound ? "" : ` --url ${new URL(url).origin}`;
  const steps: readonly (readonly [command: string, about: string])[] = [
    [`list${where}`, "what can be called"],
    [`call demo.count to=5${where}`, "a call with progress"],
    ...approvalSteps(where, waiting),
    [`trace${where}`, "how the last calls went"],
    ["import", "take over the servers of other clients"],
  ];
  const commandWidth = Math.max(...steps.map(([command]) => command.length));
  const lines = steps.map(([command, about]) => {
    const line = `  isthmus ${command.padEnd(commandWidth)}  ${about}`;
    return line.length <= width ? line : `  isthmus ${command}`;
  });
  // From a clone the program is a script of npm, and npx installs nothing; with the alias everything that it says can be typed as it stands.
  const isAlias = program !== "isthmus";
  const heading = "Try next, in another terminal in this folder:";
  return ["", heading, ...(isAlias ? [`  alias isthmus='${program}'`] : []), ...lines, ""];
}

function approvalSteps(where: string, waiting: string | undefined): (readonly [command: string, about: string])[] {
  if (waiting === undefined) return [];
  return [
    [`approve --latest${where}`, "say yes to the call that waits"],
    [`${waiting}${where}`, "make it again: now it is done"],
  ];
}
