/** How the gateway is that runs: where it is, its servers, and what waits. */

import { ROLES, type Role } from "../../contract/index.ts";
import { inspectPins } from "../../server/pin-file-of.ts";
import { NoAnswer } from "../client/channel.ts";
import { missingEndpoint } from "../client/endpoint.ts";
import { type ConnectFlags, gatewayUrl } from "../client/gateway-url.ts";
import { httpGet, jsonOf } from "../client/http-get.ts";
import { nobodyThere } from "../client/nobody-there.ts";
import { operateRunning } from "../client/operate.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, listOf, objectOf, objectsIn, textOf } from "../json.ts";
import { filesIn, runsWith } from "../operator/find-listener.ts";
import { aboutGateway } from "../operator/other-config.ts";
import { print, printJson, tableWidth } from "../output/console.ts";
import { heldLines } from "../output/held-words.ts";
import { plainLine } from "../output/plain.ts";
import { tableLines } from "../output/table.ts";
import { wrap } from "../output/wrap.ts";
import { readGatewayPlace, readPinPlace } from "../own-config.ts";
import { PROGRAM } from "../program-name.ts";
import { NO_SERVERS } from "../summary.ts";

const TIMEOUT_MS = 5_000;

export async function status(options: ConnectFlags & { readonly json?: boolean }): Promise<void> {
  const url = gatewayUrl(options);
  const readiness = await readinessAt(url, options);
  const missing = await missingEndpoint(url);
  if (missing !== undefined) throw new Ending("failure", [missing]);
  const about = objectOf(await operateRunning({ method: "GET", path: "/api/about", input: {} }, options));
  if (about.name !== "isthmus") throw new Ending("unreachable", [`${url.origin} is another program`]);
  // What a role may not see is left out, and not asked for: it would stand on the trail. Without one it is still known that it runs.
  const may = (role: Role) => ROLES.findIndex((one) => one === about.role) >= ROLES.indexOf(role);
  const [servers, sessions, waiting] = await Promise.all([
    may("viewer") ? seen("/api/servers", "servers", options) : undefined,
    may("viewer") ? seen("/api/sessions", "sessions", options) : undefined,
    may("operator") ? waitingCount(options) : undefined,
  ]);
  if (options.json) {
    return printJson({
      url: url.href,
      ...readiness,
      about,
      servers,
      sessions: sessions?.length,
      waiting,
    });
  }
  print(`Isthmus ${textOf(about.version)} at ${url.href}: ${plainLine(textOf(readiness.status) ?? "unknown")}`);
  print(`You are ${described(about)}.`);
  for (const line of [...storeLines(readiness), ...keptLines(about), ...staleLines(about)]) print(line);
  if (servers) for (const line of ["", ...serverLines(servers)]) print(line);
  for (const line of await heldBack(url, options)) print(line);
  const counts = [
    ...(sessions ? [counted(sessions.length, "session")] : []),
    ...(waiting === undefined ? [] : [`${counted(waiting, "call")} waiting for a yes`]),
  ];
  if (counts.length === 0) return;
  print();
  print(`${counts.join(", ")}.${waiting ? ` "${PROGRAM} approvals" lists them.` : ""}`);
}

/** The pins are in a file: they are looked up where the gateway runs with the config here, as far as that can be read. */
async function heldBack(url: URL, { url: named, config }: ConnectFlags): Promise<string[]> {
  if (named !== undefined) return [];
  const flags = config === undefined ? {} : { config };
  const { files = [], problems = [] } = readGatewayPlace(flags);
  const running = filesIn(await aboutGateway(url));
  if (problems.length > 0 || !runsWith({ files: running }, files)) return [];
  const pins = inspectPins(readPinPlace(flags))?.pins ?? [];
  const lines = heldLines(pins.filter(({ changes, mode }) => changes.length > 0 && mode === "block").length);
  return lines.length === 0 ? [] : ["", ...lines];
}

async function readinessAt(url: URL, flags: ConnectFlags): Promise<JsonObject> {
  try {
    return objectOf(jsonOf(await httpGet(new URL("/readyz", url), TIMEOUT_MS)));
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    throw await nobodyThere(url, error, flags);
  }
}

async function seen(path: string, member: string, flags: ConnectFlags): Promise<readonly JsonObject[] | undefined> {
  const answer = await answerOf(path, flags);
  return answer && objectsIn(answer[member]);
}

async function waitingCount(flags: ConnectFlags): Promise<number | undefined> {
  const answer = await answerOf("/api/approvals?state=waiting&limit=1", flags);
  return answer && Number(answer.total);
}

/** Undefined: whoever asks may not see it. */
async function answerOf(path: string, flags: ConnectFlags): Promise<JsonObject | undefined> {
  try {
    return objectOf(await operateRunning({ method: "GET", path, input: {} }, flags));
  } catch (error) {
    if (error instanceof Ending && error.exit === "refused") return undefined;
    throw error;
  }
}

function described({ principal, tenant, role }: JsonObject): string {
  const who = `${plainLine(textOf(principal) ?? "?")} of ${plainLine(textOf(tenant) ?? "?")}`;
  return `${who}, ${textOf(role) === undefined ? "without a role" : `with the role ${textOf(role)}`}`;
}

function storeLines({ stores }: JsonObject): string[] {
  return Object.entries(objectOf(stores)).map(([name, state]) => `${plainLine(name)}: ${plainLine(String(state))}`);
}

function keptLines({ kept }: JsonObject): string[] {
  if (kept === "memory") return ["Grants, tokens and the audit trail are in memory until it ends."];
  return kept === "restart" ? ["Grants, tokens and the audit trail are in memory until it is restarted."] : [];
}

function staleLines({ isStale }: JsonObject): string[] {
  return isStale === true
    ? [`Its config was refused as it is now, and an older one is in force: "${PROGRAM} doctor" says what to do.`]
    : [];
}

function serverLines(servers: readonly JsonObject[]): string[] {
  if (servers.length === 0) return NO_SERVERS;
  const rows = servers.map(({ id, status: state, tools }) => [
    textOf(id) ?? "",
    textOf(state) ?? "",
    state === "ok" ? counted(Number(tools), "tool") : "",
  ]);
  const lines = tableLines(rows, { width: tableWidth() - 2 }).flatMap((line, index) => [
    `  ${line}`,
    // Never cut: the end says which variable or file it is.
    ...reasonLines(servers[index]?.message),
    ...listOf(servers[index]?.lastWords).flatMap((said) => reasonLines(`it wrote: ${textOf(said) ?? ""}`)),
  ]);
  const isBroken = ({ status: state }: JsonObject) => state !== "ok" && state !== "starting" && state !== "disabled";
  return servers.some(isBroken) ? [...lines, "", `"${PROGRAM} doctor" says what to do about it.`] : lines;
}

function reasonLines(message: unknown): string[] {
  const text = plainLine(textOf(message) ?? "");
  return text === "" ? [] : wrap(text, tableWidth() - 4).map((line) => `    ${line}`);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
