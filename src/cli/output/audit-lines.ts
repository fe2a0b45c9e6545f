/** Events and reports of the audit trail, for people. */
import { type JsonObject, objectOf, objectsIn, textOf } from "../json.ts";
import { plainLine } from "./plain.ts";

/** One line: when, what, how it ended, who, on what, why not, and from where. */
export function eventText(event: JsonObject): string {
  const { actor, target, details } = event;
  const { server_id: server, tool_name: tool } = objectOf(target);
  const on = [server, tool].filter((part) => part !== "").join(".");
  const { code, duration_ms: duration, permission, agent_id: agent, address, ...about } = objectOf(details);
  const why = textOf(about.reason) ?? textOf(about.why);
  const [method, path] = [textOf(about.method), textOf(about.path)];
  const words = [
    textOf(event.timestamp),
    textOf(event.event_type),
    textOf(event.result),
    textOf(objectOf(actor).id),
    on,
    // A grant and a denial are the same event.
    permission === undefined ? undefined : `${textOf(permission)} ${textOf(agent) ?? ""}`,
    textOf(code),
    why === undefined || why === code ? undefined : `reason ${why}`,
    path === undefined ? undefined : [method, path].filter((word) => word !== undefined).join(" "),
    textOf(address) ? `from ${textOf(address)}` : undefined,
    typeof duration === "number" ? `${duration} ms` : undefined,
  ];
  return plainLine(words.filter((word) => word !== undefined && word !== "").join("  "));
}

export function reportLines(report: JsonObject): string[] {
  const { number, hash, at } = objectOf(report.lastCheckpoint);
  const counts = `${counted(report.events, "event")} in ${counted(report.blocks, "block")} of ${counted(report.chains, "chain")}, ${counted(report.checkpoints, "checkpoint")}`;
  const { blocks, until } = objectOf(report.removed);
  const removed =
    blocks === undefined ? [] : [`removed because it was old: ${counted(blocks, "block")}, up to ${until}`];
  const last = number === undefined ? "no checkpoint yet" : `last checkpoint ${number}:${hash} of ${at}`;
  return [
    ...objectsIn(report.problems).map(({ text }) => plainLine(`ALTERED  ${textOf(text) ?? ""}`)),
    `${report.isIntact === true ? "intact" : "not intact"}: ${counts}`,
    ...removed,
    `${last}; ${counted(report.uncovered, "block")} after it`,
    ...keptLines(report.kept),
  ];
}

function counted(count: unknown, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** Of a file that was exported nothing is known beside it. */
function keptLines(kept: unknown): string[] {
  if (kept === undefined) return [];
  const { file, number } = objectOf(kept);
  if (number !== undefined) return [plainLine(`compared with checkpoint ${number}, kept in ${file}`)];
  return ["no checkpoint is kept beside the key: that the end was cut off before cannot be told"];
}
