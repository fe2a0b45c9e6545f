/** From files and flags to the one internal form of the config. Everything wrong with it is said at once. */

import { resolve } from "node:path";
import type { z } from "zod";
import { type McpTransportKind, mcpConfig } from "../../providers/mcp/mcp-config.ts";
import { checkAccess } from "./access-config.ts";
import { type AddedTables, withAdded } from "./added-tables.ts";
import { checkAudit, resolveAudit, shapeAudit } from "./audit-config.ts";
import { checkAuth, shapeAuth } from "./auth-config.ts";
import { catalogIdsOf, checkCatalogs, serversOf } from "./check-catalogs.ts";
import { checkReload } from "./check-reload.ts";
import { checkServers, type RawServer, segmentFor } from "./check-servers.ts";
import type { Config, ServerConfig } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { configSchema } from "./config-schema.ts";
import { describeIssue } from "./describe-issue.ts";
import type { Environment } from "./find-config.ts";
import { withFormerSecrets } from "./former-secrets.ts";
import { checkGate, shapeGate } from "./gate-config.ts";
import { resolveHeaders } from "./header-schema.ts";
import { checkLimits, edgeOf, limitEntryOf } from "./limits-config.ts";
import { type ListenAddress, parseListen } from "./listen-address.ts";
import { stateFolder } from "./pin-place.ts";
import { givenBy, type Origin, type Problem, reportProblems, valueAt } from "./problem.ts";
import type { RawConfig } from "./read-config.ts";
import { READ_ONCE } from "./read-once.ts";
import { type Resolver, resolveReferences } from "./references.ts";
import type { Secret } from "./secret.ts";
import { type AuthSecrets, checkServerAuth, resolveServerAuth, shapeServerAuth } from "./server-auth-config.ts";
import { restartOf, type ServerTable, serverSchema } from "./server-config.ts";
import { fillServers, wordsWritten } from "./server-words.ts";
import { checkState, resolveState, shapeState } from "./state-config.ts";
import { checkTls, resolveTls, type TlsConfig } from "./tls-config.ts";
import { resolveVault } from "./vault-config.ts";

const NO_TABLES: AddedTables = { servers: [], catalogs: [] };

export type LoadOptions = {
  /** Tables that stand in no file. */
  readonly added?: AddedTables;
  readonly env: Environment;
  /** They win over what the files say. */
  readonly flags?: SettingFlags;
  /** What is in force: settings that cannot change while the gateway runs must be the same. */
  readonly running?: Config | undefined;
  /** Hears of every file that holds a secret. */
  readonly onFile?: Resolver["onFile"];
  /** What gave `flags.listen`; unset: the option of that name. */
  readonly listenName?: string | undefined;
  /** The gateway may be started with other variables than these: one that is not set is no problem, and what it would hold is not checked. */
  readonly allowsUnset?: boolean;
};

/** Flags that stand for a setting. */
export type SettingFlags = {
  readonly listen?: string;
  readonly logLevel?: string;
  readonly database?: string;
  readonly shared?: string;
};

/** Where each of them stands in the file. */
const FLAG_PATHS: Readonly<Record<keyof SettingFlags, readonly [table: string, key: string]>> = {
  listen: ["gateway", "listen"],
  logLevel: ["gateway", "logLevel"],
  database: ["database", "url"],
  shared: ["shared", "url"],
};

/** How a person gives them. */
const FLAG_NAMES: Readonly<Record<keyof SettingFlags, string>> = {
  listen: "--listen",
  logLevel: "--log-level",
  database: "--database",
  shared: "--shared",
};

/** The table with what the flags say. Something else in the place of a table stays, so that the schema speaks about it. */
function withFlags(table: RawConfig["table"], flags: SettingFlags): Record<string, unknown> {
  const changed: Record<string, unknown> = { ...table };
  for (const [flag, [name, key]] of Object.entries(FLAG_PATHS)) {
    const value = flags[flag as keyof SettingFlags];
    const present = changed[name] ?? {};
    if (value === undefined || typeof present !== "object" || Array.isArray(present)) continue;
    changed[name] = { ...present, [key]: value };
  }
  return changed;
}

/** Throws ConfigError. */
export function loadConfig(raw: RawConfig, options: LoadOptions): Config {
  const flags = options.flags ?? {};
  const ofFiles = withFlags({ gateway: {}, ...raw.table }, flags);
  const { added = NO_TABLES, env } = options;
  const written = withAdded(ofFiles, added);
  // Only what the files say: whoever adds tables otherwise may be nobody to whom the environment can be told.
  const filled = ofFiles.servers === undefined ? ofFiles : { ...ofFiles, servers: fillServers(ofFiles.servers, env) };
  const table = withAdded(filled, added);
  const problems: Problem[] = [];
  // What a flag says stands in no file.
  const flagAt = ([first, second]: Problem["path"]) => {
    const given = Object.keys(flags) as (keyof SettingFlags)[];
    return given.find((flag) => FLAG_PATHS[flag][0] === first && FLAG_PATHS[flag][1] === second);
  };
  const originOf = (path: Problem["path"]): Origin | undefined => {
    const flag = flagAt(path);
    if (flag === undefined) return raw.originOf(path);
    const name = flag === "listen" ? options.listenName : undefined;
    return givenBy(name ?? FLAG_NAMES[flag]);
  };
  // What stops one server only is no reason why the config is refused.
  const faults: Problem[] = [];
  const faultsOf = (index: number) => faults.filter(({ path }) => path[1] === index);
  const report = () => new ConfigError(reportProblems(problems, { table, originOf }));

  const parsed = configSchema.safeParse(table, { reportInput: true, ...READ_ONCE });
  // As it is written: what a variable holds may be a secret.
  if (!parsed.success) problems.push(...parsed.error.issues.flatMap((issue) => describeIssue(issue, written)));
  const rawServers = (Array.isArray(table.servers) ? table.servers : []) as RawServer[];
  problems.push(...checkServers(rawServers), ...rawServers.flatMap(checkTransport), ...checkAuth(table));
  problems.push(...rawServers.flatMap(checkServerAuth));
  const segments = serversOf(rawServers);
  problems.push(...checkCatalogs(table.catalogs, rawServers), ...checkLimits(table.limits, segments));
  problems.push(...checkAccess(table.access, segments, catalogIdsOf(table.catalogs)));
  const resolverAt = (path: Problem["path"], found = problems): Resolver => ({
    env: options.env,
    folder: raw.originOf(path)?.folder ?? process.cwd(),
    configFiles: raw.files,
    onProblem: (place, text) => found.push({ path: place, text }),
    onFile: options.onFile ?? (() => {}),
    allowsUnset: options.allowsUnset,
  });
  const resolved = rawServers.map((server, index): Resolved => {
    const path = ["servers", index];
    const resolver = resolverAt(path, faults);
    // What is left out needs no secrets.
    if (server.disabled === true) return { folder: resolver.folder, env: {}, headers: {}, auth: {} };
    return {
      folder: resolver.folder,
      env: resolveReferences(server.env, [...path, "env"], resolver),
      headers: resolveHeaders(server.headers, [...path, "headers"], resolver),
      auth: resolveServerAuth(server.auth, [...path, "auth"], resolver),
    };
  });
  const headersPath = ["telemetry", "headers"];
  const otlpHeaders = resolveHeaders(valueAt(table, headersPath), headersPath, resolverAt(headersPath));
  const sealKey = resolveSealKey(table, resolverAt(["gateway", "sealKey"]));
  const tls = resolveTls(table, resolverAt(["gateway", "tls"]));
  const secrets = resolveState(table, resolverAt);
  const auditHeaders = resolveAudit(table, resolverAt);
  const vaultKeys = resolveVault(table, resolverAt);
  problems.push(...checkState(table, secrets), ...checkTls(tls));
  if (parsed.success) problems.push(...checkGate(parsed.data.gate));
  if (!parsed.success || problems.length > 0) throw report();
  const endpoint = parsed.data.telemetry.otlp ?? options.env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const telemetry = { headers: otlpHeaders, ...(endpoint && { endpoint }) };
  const state = stateFolder(raw, parsed.data.gateway.state);
  const places = { folder: raw.originOf(["database", "url"])?.folder ?? process.cwd(), state };
  const stores = shapeState(parsed.data, secrets, places);
  const auditPlaces = {
    folder: raw.originOf(["audit"])?.folder ?? process.cwd(),
    headers: auditHeaders,
    isInMemory: stores.database.kind === "memory",
    hasCollector: endpoint !== undefined || options.allowsUnset === true,
  };
  problems.push(...checkAudit(parsed.data.audit, auditPlaces));
  const shaped = shape(
    parsed.data,
    resolved.map((one, index) => ({
      ...one,
      written: wordsWritten(valueAt(written, ["servers", index]), rawServers[index] ?? {}),
      fault: describeFaults(faultsOf(index), table),
    })),
    { sealKey, state, tls },
  );
  const before = { table, running: options.running };
  const indexOf = (id: string) => rawServers.findIndex((server) => server.id === id);
  const config = {
    ...shaped,
    servers: shaped.servers.map((server) => withFormerSecrets(server, faultsOf(indexOf(server.id)), before)),
    access: parsed.data.access,
    auth: shapeAuth(parsed.data.auth),
    gate: shapeGate(parsed.data.gate, raw.originOf(["gate"])?.folder ?? process.cwd()),
    telemetry,
    vault: { ...parsed.data.vault, keys: vaultKeys },
    state: stores,
    audit: shapeAudit(parsed.data.audit, auditPlaces),
  };
  if (config.auth.tokens && config.state.database.kind === "memory") {
    problems.push({
      path: ["auth", "tokens"],
      text: "tokens are kept in a database; set [database] url, or a state folder",
    });
  }
  if (options.running) problems.push(...checkReload(options.running, config));
  if (problems.length > 0) throw report();
  return config;
}

const SEAL_KEY_BYTES = 32;

function resolveSealKey(table: unknown, resolver: Resolver): Secret | undefined {
  const reference = valueAt(table, ["gateway", "sealKey"]);
  if (typeof reference !== "object") return undefined;
  const { sealKey } = resolveReferences({ sealKey: reference }, ["gateway"], resolver);
  if (sealKey && Buffer.byteLength(sealKey.reveal()) < SEAL_KEY_BYTES) {
    resolver.onProblem(["gateway", "sealKey"], `expected at least ${SEAL_KEY_BYTES} bytes`);
  }
  return sealKey;
}

/** Only of a table that is right by itself: else the schema has spoken. */
function checkTransport(raw: RawServer, index: number): Problem[] {
  const parsed = serverSchema.safeParse(raw, READ_ONCE);
  if (!parsed.success) return [];
  try {
    settleTransport(parsed.data);
    return [];
  } catch (error) {
    const [key = "", ...rest] = (error as Error).message.split(": ");
    return [{ path: ["servers", index, key], text: rest.join(": ") }];
  }
}

function settleTransport(server: ServerTable): McpTransportKind {
  return mcpConfig({ ...server, restart: restartOf(server), env: {}, headers: {} }).transport;
}

/** What cannot be resolved for one server is no reason to stop the others. */
function describeFaults(faults: readonly Problem[], table: unknown): string | undefined {
  return faults.length === 0 ? undefined : reportProblems(faults, { table, originOf: () => undefined }).join("; ");
}

type Resolved = {
  folder: string;
  env: Record<string, Secret>;
  headers: Record<string, Secret>;
  auth: AuthSecrets;
};

/** What people are told of a server. */
type Shown = { readonly fault: string | undefined; readonly written: ServerConfig["written"] };

/** What `[gateway]` points at. */
type GatewayFiles = {
  readonly sealKey: Secret | undefined;
  readonly state: string | undefined;
  readonly tls: TlsConfig | undefined;
};

function shape(
  data: z.output<typeof configSchema>,
  resolved: readonly (Resolved & Shown)[],
  { sealKey, state, tls }: GatewayFiles,
): Omit<Config, "access" | "audit" | "auth" | "gate" | "telemetry" | "state" | "vault"> {
  const { listen, maxBody, timeout, inputTimeout, sessionIdle, sessionAge, resumeWindow, ...others } = data.gateway;
  const { drain, pageSize, edge, sealKey: _reference, state: _given, tls: _files, ...rest } = others;
  const kept = edgeOf(edge);
  return {
    gateway: {
      ...rest,
      listen: parseListen(listen) as ListenAddress,
      pageSize,
      maxBodyBytes: maxBody,
      timeoutMs: timeout,
      inputTimeoutMs: inputTimeout,
      sessionIdleMs: sessionIdle,
      sessionAgeMs: sessionAge,
      resumeWindowMs: resumeWindow,
      drainMs: drain,
      ...(tls && { tls }),
      ...(kept && { edge: kept }),
      ...(sealKey && { sealKey }),
      ...(state !== undefined && { state }),
    },
    servers: data.servers.flatMap((server, index) => {
      const { folder, env, headers, auth: secrets, written, fault } = resolved[index] as (typeof resolved)[number];
      const { auth: table, disabled, ...rest } = server;
      if (disabled) return [];
      const auth = shapeServerAuth(table, secrets);
      return [
        {
          ...rest,
          ...(auth && { auth }),
          transport: settleTransport(server),
          restart: restartOf(server),
          segment: segmentFor(server),
          // Without `cwd` a program starts beside the file that names it: the file then means the same from everywhere.
          cwd: resolve(folder, server.cwd ?? ""),
          ...(server.cwd !== undefined && { writtenCwd: server.cwd }),
          timeoutMs: server.timeout ?? timeout,
          env,
          headers,
          ...(written && { written }),
          ...(fault !== undefined && { fault }),
        },
      ];
    }),
    disabled: data.servers.filter(({ disabled }) => disabled).map(({ id }) => id),
    catalogs: data.catalogs,
    limits: data.limits.map(limitEntryOf),
  };
}
