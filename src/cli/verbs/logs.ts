import { LOG_LEVELS, type LogLevel } from "../../server/log-level.ts";
import { NoAnswer } from "../client/channel.ts";
import { type ConnectFlags, gatewayUrl } from "../client/gateway-url.ts";
import { httpEvents } from "../client/http-events.ts";
import { nobodyThere } from "../client/nobody-there.ts";
import { operateRunning, sayElsewhere } from "../client/operate.ts";
import { type JsonObject, objectOf, objectsIn, parseJson, textOf } from "../json.ts";
import { proofToLook } from "../operator/send-as-operator.ts";
import { print, printJson, printText } from "../output/console.ts";
import { terminalFormat } from "../output/terminal-lines.ts";

export type LogsOptions = ConnectFlags & {
  readonly level?: (typeof LOG_LEVELS)[number];
  readonly limit: number;
  readonly follow?: boolean;
  readonly json?: boolean;
};

/** Shows the last lines of the log of a running gateway, on a terminal as `up` does; with --follow also those that come. */
export async function logs(text: string | undefined, options: LogsOptions): Promise<void> {
  const filter = { ...(options.level && { level: options.level }), ...(text !== undefined && { text }) };
  const show = showWith(options);
  await sayElsewhere(options);
  const query = new URLSearchParams({ ...filter, limit: String(options.limit) });
  const answer = await operateRunning(
    { method: "GET", path: `/api/logs?${query}`, role: "operator", input: {} },
    options,
  );
  for (const line of objectsIn(objectOf(answer).lines)) show(line);
  if (!options.follow) return;
  const url = new URL(`/api/logs/stream?${new URLSearchParams(filter)}`, gatewayUrl(options));
  try {
    const proof = await proofToLook({ method: "GET", url });
    await httpEvents(url, (data) => show(objectOf(parseJson(data))), proof);
  } catch (error) {
    throw error instanceof NoAnswer ? await nobodyThere(url, error, options) : error;
  }
}

function showWith({ json }: LogsOptions): (line: JsonObject) => void {
  if (json) return printJson;
  if (!process.stdout.isTTY) return (line) => print(lineText(line));
  const format = terminalFormat(() => false);
  return ({ time, level, message, ...fields }) =>
    printText(format(textOf(time) ?? "", levelOf(level), textOf(message) ?? "", fields));
}

function levelOf(level: unknown): LogLevel {
  return LOG_LEVELS.find((one) => one === level) ?? "info";
}

const LEVEL_WIDTH = Math.max(...LOG_LEVELS.map(({ length }) => length));

function lineText({ time, level, message, ...fields }: JsonObject): string {
  const facts = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const head = [textOf(time) ?? "", (textOf(level) ?? "").padEnd(LEVEL_WIDTH), textOf(message) ?? ""].join(" ");
  return [head, ...facts].join("  ");
}
