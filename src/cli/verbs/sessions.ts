import type { ConnectFlags } from "../client/gateway-url.ts";
import { operateRunning, sayElsewhere } from "../client/operate.ts";
import { Ending } from "../ending.ts";
import { objectOf, objectsIn, textOf } from "../json.ts";
import { print, printJson, tableWidth } from "../output/console.ts";
import { tableLines } from "../output/table.ts";
import { PROGRAM } from "../program-name.ts";

export type SessionOptions = ConnectFlags & { readonly json?: boolean };

/** Lists the sessions of clients, or ends one of them. */
export async function sessions(action: "list" | "end", id: string | undefined, options: SessionOptions): Promise<void> {
  return action === "list" ? await list(options) : await end(id, options);
}

async function list(options: SessionOptions): Promise<void> {
  await sayElsewhere(options);
  const answer = objectOf(
    await operateRunning({ method: "GET", path: "/api/sessions", role: "viewer", input: {} }, options),
  );
  if (options.json) return printJson(answer);
  const found = objectsIn(answer.sessions);
  if (found.length === 0) return print("No client has a session in the process that was asked.");
  const rows = found.map(({ id, user, tenant, catalog, protocol, startedAt, idleMs, isBusy }) => [
    textOf(id) ?? "",
    `${textOf(user) ?? ""} of ${textOf(tenant) ?? ""}`,
    textOf(protocol) ?? "",
    `/${[textOf(catalog), "mcp"].filter(Boolean).join("/")}`,
    textOf(startedAt)?.slice(0, "2026-01-31T00:00:00".length) ?? "",
    isBusy === true ? "busy" : `idle for ${Math.round(Number(idleMs) / 1000)} s`,
  ]);
  const head = ["ID", "WHOSE", "PROTOCOL", "AT", "SINCE (UTC)", "STATE"];
  for (const line of tableLines([head, ...rows], { width: tableWidth() })) print(line);
  if (Number(answer.total) > found.length) print(`These are ${found.length} of ${answer.total}.`);
}

async function end(id: string | undefined, options: SessionOptions): Promise<void> {
  if (id === undefined) throw new Ending("usage", [`which session? "${PROGRAM} sessions" shows their ids`]);
  await operateRunning(
    { method: "DELETE", path: `/api/sessions/${encodeURIComponent(id)}`, role: "operator", input: {} },
    options,
  );
  if (options.json) printJson({ ended: id });
  else print(`Ended ${id}.`);
}
