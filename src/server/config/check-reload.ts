/** What differs between two configs, and what of it a gateway that runs can take over. */
import type { Config, GatewayConfig, ServerConfig } from "./config.ts";
import type { Problem } from "./problem.ts";
import { Secret } from "./secret.ts";
import { keepsNothing, type StateConfig } from "./state-config.ts";

/** The settings of `[gateway]` that change while the gateway runs. A new one is fixed until it stands here. */
const LIVE: ReadonlySet<string> = new Set<keyof GatewayConfig>([
  "naming",
  "sessions",
  "allowedHosts",
  "allowedOrigins",
  "trustedProxies",
  "pageSize",
  "maxBodyBytes",
  "timeoutMs",
  "drainMs",
  "state",
  "tls",
]);

/** Settings that only a new process takes. */
export function checkReload(running: Config, next: Config): Problem[] {
  const text = "cannot change while the gateway runs; restart to change it";
  const problems = changedSettings(running.gateway, next.gateway)
    .filter((name) => !LIVE.has(name))
    .map((name): Problem => ({ path: ["gateway", name], text }));
  for (const name of ["database", "shared", "cluster"] as const) {
    if (comparable(asSet(running.state)[name]) !== comparable(asSet(next.state)[name])) {
      problems.push({ path: [name], text });
    }
  }
  if ((running.gateway.tls === undefined) !== (next.gateway.tls === undefined)) {
    problems.push({ path: ["gateway", "tls"], text });
  }
  if (comparable(withoutFeeds(running)) !== comparable(withoutFeeds(next))) problems.push({ path: ["auth"], text });
  if (comparable(running.audit) !== comparable(next.audit)) problems.push({ path: ["audit"], text });
  if (comparable(running.vault) !== comparable(next.vault)) problems.push({ path: ["vault"], text });
  if (comparable(running.telemetry) !== comparable(next.telemetry)) problems.push({ path: ["telemetry"], text });
  return problems;
}

/** How callers are known. Who may revoke is no part of it: that changes in place. */
function withoutFeeds({ auth: { revocationFeeds: _, ...ways } }: Config): object {
  return ways;
}

/** Of a database that no setting names, the next process may have another one: this one goes on with what it has. */
function asSet({ database, ...rest }: StateConfig): Readonly<Record<"database" | "shared" | "cluster", unknown>> {
  return { ...rest, database: database.isDefault ? undefined : database };
}

/** Whether the next process keeps what this one, started with `first`, has in memory only. */
export function beginsToKeep(first: Config, next: Config): boolean {
  return keepsNothing(first.state) && !keepsNothing(next.state);
}

/** What another config changes: ids of servers, and names of settings as a file has them, those of `[gateway]` without its name. */
export type ConfigDifference = {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly settings: readonly string[];
};

export function compareConfigs(running: Config, next: Config): ConfigDifference {
  const before = new Map(running.servers.map((server) => [server.id, server]));
  const after = new Map(next.servers.map((server) => [server.id, server]));
  return {
    added: [...after.keys()].filter((id) => !before.has(id)),
    changed: next.servers
      .filter((server) => !isSameServer(before.get(server.id) ?? server, server))
      .map(({ id }) => id),
    removed: [...before.keys()].filter((id) => !after.has(id)),
    settings: [
      ...changedSettings(running.gateway, next.gateway).map(writtenName),
      ...changedIn("gate", running.gate, next.gate),
      ...changedIn("access", running.access, next.access),
      ...changedIn("auth", running.auth, next.auth),
      ...changedSettings(wholeTables(running), wholeTables(next)),
      ...next.servers.flatMap((server) =>
        changedIn(`servers.${server.id}`, judging(before.get(server.id) ?? server), judging(server)),
      ),
    ],
  };
}

/** Those that are lists, or named by whoever wrote them. */
function wholeTables({ limits, catalogs }: Config): object {
  return { limits, catalogs };
}

function changedIn(table: string, running: object, next: object): string[] {
  return changedSettings(running, next).map((name) => `${table}.${writtenName(name)}`);
}

/** In a file the unit stands in the value. */
function writtenName(name: string): string {
  return name.replace(/(Ms|Bytes)$/, "");
}

/** The names of the settings that differ. */
function changedSettings(running: object, next: object): string[] {
  const [before, after] = [new Map(Object.entries(running)), new Map(Object.entries(next))];
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => comparable(before.get(name)) !== comparable(after.get(name)));
}

/** Whether a server may go on as it is. How its calls and its offers are judged is no part of it: that changes in place. */
function isSameServer(running: ServerConfig, next: ServerConfig): boolean {
  return comparable(withoutJudging(running)) === comparable(withoutJudging(next));
}

function judging({ timeout, breaker, pin }: ServerConfig): object {
  return { timeout, breaker, pin };
}

function withoutJudging({ timeout: _a, timeoutMs: _b, breaker: _c, pin: _d, kept: _e, ...rest }: ServerConfig): object {
  return rest;
}

/** Secrets count by what they hold, tables whatever the order of their keys. */
export function comparable(value: unknown): string {
  return JSON.stringify(unfold(value)) ?? "undefined";
}

function unfold(value: unknown): unknown {
  if (value instanceof Secret) return { secret: value.reveal() };
  if (Array.isArray(value)) return value.map(unfold);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .map(([key, inner]): [string, unknown] => [key, unfold(inner)])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
