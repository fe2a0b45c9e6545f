import { once } from "node:events";
import { createReadStream, createWriteStream, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { AUDIT_TYPES } from "../../contract/index.ts";
import { nearest } from "../../server/config/nearest.ts";
import { type OperationOrder, type Operator, openOperator, operate } from "../client/operate.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf, objectsIn, textOf } from "../json.ts";
import { eventText, reportLines } from "../output/audit-lines.ts";
import { jsonLine, print, printJson, say } from "../output/console.ts";
import { plainLine } from "../output/plain.ts";
import { PROGRAM } from "../program-name.ts";

export type AuditOptions = {
  readonly trace?: string;
  readonly type?: string;
  readonly actor?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly tenant?: string;
  readonly result?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
  readonly follow?: boolean;
  readonly key?: readonly string[];
  readonly checkpoint?: string;
  readonly url?: string;
  readonly config?: string;
  readonly json?: boolean;
};

type Action = "tail" | "query" | "verify" | "export";

export async function audit(action: Action, file: string | undefined, options: AuditOptions): Promise<void> {
  switch (action) {
    case "tail":
      return await tail(options);
    case "query":
      return await query(options);
    case "verify":
      return await (file === undefined ? verifyGateway(options) : verifyFile(file, options));
    case "export":
      return await exportTo(file, options);
  }
}

const MAX_PAGE = 1_000;

/** Newest first. */
async function query(options: AuditOptions): Promise<void> {
  let left = options.limit;
  for await (const event of eventsOf(options)) {
    show(event, options);
    if (--left === 0) return;
  }
  if (left === options.limit) await sayNothingFound(options);
}

/** Actors are named by whole ids, such as `token:default/ada/1234`, and people ask for `ada`. */
async function sayNothingFound({ actor, ...options }: AuditOptions): Promise<void> {
  say("no event of the trail is so");
  if (options.type !== undefined) sayMeantType(options.type);
  if (options.type === undefined || options.type === "TOOL_EXECUTED") await sayWhatIsLeftOut(options);
  if (actor === undefined) return;
  const others = await firstOf(eventsOf({ ...options, limit: MAX_PAGE }), MAX_PAGE);
  const ids = new Set(others.map((event) => textOf(objectOf(event.actor).id) ?? ""));
  const near = [...ids].filter((id) => id.includes(actor)).slice(0, MAX_NEAR);
  if (near.length > 0) say(`--actor takes whole ids; there are: ${near.map(plainLine).join(", ")}`);
}

const MAX_NEAR = 10;

function sayMeantType(type: string): void {
  const types: readonly string[] = AUDIT_TYPES;
  if (types.includes(type)) return;
  const meant = nearest(type, types) ?? types.find((one) => one.endsWith(`.${type}`));
  const instead = meant === undefined ? `there are: ${types.join(", ")}` : `did you mean ${meant}?`;
  say(`--type: no event is called ${JSON.stringify(plainLine(type))}; ${instead}`);
}

async function sayWhatIsLeftOut(options: AuditOptions): Promise<void> {
  const operator = await openOperator(options);
  const order = { id: "audit.query", method: "GET", path: "/api/audit?limit=1", input: { limit: "1" } };
  const { records } = objectOf(await operator.operate(order).finally(() => operator.close()));
  if (records !== "decisions") return;
  say(
    'calls are recorded only with [audit] in the config (and without plain = "decisions"): refusals and decisions are',
  );
}

const POLL_MS = 1_000;
/** Of the events that were shown: one more than a page, because several may have happened in one ms. */
const REMEMBERED = 2 * MAX_PAGE;

/** Oldest first, as they came. */
async function tail(options: AuditOptions): Promise<void> {
  const shown: string[] = [];
  let from: string | undefined = options.from;
  for (let limit = options.limit; ; limit = MAX_PAGE) {
    const found = await firstOf(eventsOf({ ...options, ...(from !== undefined && { from }) }), limit);
    for (const event of found.reverse()) {
      const id = textOf(objectOf(event.details).id) ?? "";
      if (shown.includes(id)) continue;
      show(event, options);
      shown.push(id);
      from = textOf(event.timestamp) ?? from;
    }
    shown.splice(0, shown.length - REMEMBERED);
    if (!options.follow) return;
    await sleep(POLL_MS);
  }
}

async function firstOf(events: AsyncIterable<JsonObject>, count: number): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  for await (const event of events) if (found.push(event) >= count) break;
  return found;
}

async function* eventsOf(options: AuditOptions): AsyncGenerator<JsonObject> {
  const operator = await openOperator({ ...options, besideAnother: "say" });
  try {
    yield* pagesOf(operator, options);
  } finally {
    await operator.close();
  }
}

async function* pagesOf(operator: Operator, options: AuditOptions): AsyncGenerator<JsonObject> {
  const { trace, type, actor, tenant, result, from, to, limit } = options;
  const { server, tool } = targetOf(options);
  const wanted = {
    ...{ trace_id: trace, event_type: type, agent_id: actor, server_id: server, tool_name: tool },
    ...{ tenant, result, from, to, limit: String(Math.min(limit, MAX_PAGE)) },
  };
  for (let cursor: string | undefined; ; ) {
    const given = Object.entries({ ...wanted, cursor }).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    );
    const order = {
      id: "audit.query",
      method: "GET",
      path: `/api/audit?${new URLSearchParams(given)}`,
      role: "viewer",
    } as const;
    const page = objectOf(await operator.operate({ ...order, input: Object.fromEntries(given) }));
    yield* objectsIn(page.events);
    cursor = textOf(page.next);
    if (cursor === undefined) return;
  }
}

/** Without --server a tool may be named as the trail shows it; no id of a server has a dot. */
function targetOf({ server, tool }: AuditOptions): Pick<AuditOptions, "server" | "tool"> {
  const [, id, name] = (server === undefined && /^([^.]+)\.(.+)$/.exec(tool ?? "")) || [];
  if (id !== undefined && name !== undefined) return { server: id, tool: name };
  return { ...(server !== undefined && { server }), ...(tool !== undefined && { tool }) };
}

function show(event: JsonObject, { json }: AuditOptions): void {
  if (json) printJson(event);
  else print(eventText(event));
}

/** A trail may be large, and all of it is read. */
const VERIFY_MS = 30 * 60_000;

async function verifyGateway(options: AuditOptions): Promise<void> {
  if (options.key) throw new Ending("usage", ["--key is for files: a gateway knows its own key"]);
  const given = options.checkpoint === undefined ? {} : { checkpoint: options.checkpoint };
  const path = `/api/audit/verify?${new URLSearchParams(given)}`;
  const order: OperationOrder = {
    id: "audit.verify",
    method: "GET",
    path,
    role: "operator",
    input: given,
    timeoutMs: VERIFY_MS,
  };
  tellReport(objectOf(await operate(order, { ...options, besideAnother: "say" })), options);
}

async function verifyFile(file: string, options: AuditOptions): Promise<void> {
  const { trailLines, verifyLines } = await import("../../server/audit-export.ts");
  const keys = (options.key ?? []).map((one) => readFile(one));
  const known = options.checkpoint === undefined ? undefined : knownOf(options.checkpoint);
  const input = createReadStream(file);
  await once(input, "open").catch((error: Error) => {
    throw new Ending("file", [`${file} cannot be read: ${error.message}`]);
  });
  const report = await verifyLines(trailLines(input), keys, known);
  tellReport({ ...report }, options);
  if (report.keysFrom === "file") {
    say(
      "the key was taken from the file itself: whoever made the file may have made it; --key names one that you trust",
    );
  }
}

function knownOf(written: string): { number: number; hash: string } {
  const found = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(written);
  if (!found) throw new Ending("usage", ["--checkpoint: expected NUMBER:HASH, as a former report had it"]);
  return { number: Number(found[1]), hash: found[2] as string };
}

function readFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Ending("file", [`${file} cannot be read: ${(error as Error).message}`]);
  }
}

function tellReport(report: JsonObject, { json }: AuditOptions): void {
  if (json) printJson(report);
  else for (const line of reportLines(report)) print(line);
  if (report.isIntact !== true) throw new Ending("altered", ["the audit trail is not what was written"]);
}

/** In the form that `verify` reads; to standard output where no file is named. */
async function exportTo(file: string | undefined, options: AuditOptions): Promise<void> {
  const out = file === undefined ? process.stdout : createWriteStream(file, { mode: 0o600 });
  const failed = once(out, "error").then(([error]) => {
    throw new Ending("file", [`${file ?? "standard output"} cannot be written: ${(error as Error).message}`]);
  });
  // It may fail while nobody waits for it: whoever writes next hears of it.
  failed.catch(() => {});
  if (file !== undefined) await Promise.race([new Promise((resolve) => out.once("open", resolve)), failed]);
  const write = async (item: unknown) => {
    if (!out.write(jsonLine(item))) await Promise.race([once(out, "drain"), failed]);
  };
  const operator = await openOperator({ ...options, besideAnother: "say" });
  const items = await exportPages(operator, write).finally(() => operator.close());
  await write({ kind: "end", items });
  if (file === undefined) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  out.end(resolve);
  await Promise.race([promise, failed]);
  if (options.json) printJson({ file, items });
  else say(`${file} has the whole trail; "${PROGRAM} audit verify ${file}" checks it`);
}

/** How many items there are. */
async function exportPages(operator: Operator, write: (item: unknown) => Promise<void>): Promise<number> {
  let items = 0;
  for (let cursor: string | undefined; ; ) {
    const given = cursor === undefined ? {} : { cursor };
    const path = `/api/audit/export?${new URLSearchParams(given)}`;
    const page = objectOf(
      await operator.operate({ id: "audit.export", method: "GET", path, role: "admin", input: given }),
    );
    if (cursor === undefined) await write({ kind: "trail", version: 1, keys: [page.publicKey] });
    for (const item of objectsIn(page.items)) {
      items++;
      await write(item);
    }
    cursor = textOf(page.next);
    if (cursor === undefined) return items;
  }
}
