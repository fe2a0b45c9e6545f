/** What `isthmus up` shows a person: what is behind it, where it listens, what to do next. */
import type { ConfigChange, ServerSummary } from "../server/gateway-types.ts";
import type { DemoCall } from "./demo-call.ts";
import { shortPath } from "./output/short-path.ts";
import { tableLines } from "./output/table.ts";
import { wrap } from "./output/wrap.ts";

export type Summary = {
  readonly url: string;
  readonly servers: readonly ServerSummary[];
  /** Where a config was looked for, when none was found and the demo runs. */
  readonly looked?: readonly string[];
  /** How callers are known; unset: nobody is asked. */
  readonly callers?: readonly string[];
  /** What the demo did by itself. */
  readonly call?: DemoCall;
};

export type SummaryOptions = {
  /** How the program is called here. */
  readonly program: string;
  readonly width: number;
  /** Verbs find this gateway without being told where it is. */
  readonly isFound: boolean;
};

export function summaryText(summary: Summary, options: SummaryOptions): string {
  const { url, servers, looked, call, callers } = summary;
  const { width } = options;
  return [
    ...(looked
      ? [
          "No config was found, so the built-in demo runs. Looked for:",
          ...looked.map((file) => `  ${shortPath(file)}`),
          "",
        ]
      : []),
    `Isthmus listens on ${url}`,
    ...(callers ? [`Callers are known by ${callers.join(", ")}.`] : []),
    "",
    ...serverLines(servers, width),
    "",
    ...adviceLines(servers, width),
    ...(call ? ["A call, just now:", `  isthmus ${call.words}`, `  ${call.answer}`, ""] : []),
    ...(call?.waiting ? ["And one that waits for your yes:", `  isthmus ${call.waiting}`, ""] : []),
    `Point an MCP client at ${url} (Streamable HTTP).`,
    ...(looked ? nextSteps(url, options, call?.waiting) : []),
    "Stop with Ctrl-C.",
    "",
  ].join("\n");
}

/** What another config has made of the servers. */
export function changeText(
  servers: readonly ServerSummary[],
  { added, changed, removed }: Pick<ConfigChange, "added" | "changed" | "removed">,
  width: number,
): string {
  const counts = [
    [added, "new"],
    [changed, "changed"],
    [removed, "gone"],
  ] as const;
  const what = counts.filter(([ids]) => ids.length > 0).map(([ids, word]) => `${ids.length} ${word}`);
  return [
    "",
    `The config has changed and was taken over${what.length > 0 ? `: ${what.join(", ")}` : ""}.`,
    "",
    ...serverLines(servers, width),
    "",
    ...adviceLines(servers, width),
  ].join("\n");
}

function serverLines(servers: readonly ServerSummary[], width: number): string[] {
  if (servers.length === 0) return ["  no servers are configured"];
  const rows = servers.map(({ id, status, tools, message }) => {
    return [id, status, status === "ok" ? `${tools} ${tools === 1 ? "tool" : "tools"}` : (message ?? "")];
  });
  return tableLines(rows, { width: width - 2 }).map((line) => `  ${line}`);
}

/** What to do about servers that do not work. */
function adviceLines(servers: readonly ServerSummary[], width: number): string[] {
  const broken = servers.filter(({ status }) => status !== "ok" && status !== "starting").map(({ id }) => id);
  if (broken.length === 0) return [];
  return [...wrap(`"isthmus doctor" says what to do about ${broken.join(", ")}.`, width), ""];
}

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
  // From a clone the program is a script of npm; with the alias everything that it says can be typed as it stands.
  const isAlias = program !== "isthmus";
  const heading = `Try next, in another terminal${isAlias ? " in this folder" : ""}:`;
  return ["", heading, ...(isAlias ? [`  alias isthmus='${program}'`] : []), ...lines, ""];
}

function approvalSteps(where: string, waiting: string | undefined): (readonly [command: string, about: string])[] {
  if (waiting === undefined) return [];
  return [
    ["operator init", "make the key you approve with, once"],
    [`approve --latest${where}`, "say yes to the call that waits"],
    [`${waiting}${where}`, "make it again: now it is done"],
  ];
}
