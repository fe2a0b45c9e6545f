/** From files and flags to the one internal form of the config. Everything wrong with it is said at once. */
import { resolve } from "node:path";
import type { z } from "zod";
import { type McpTransportKind, mcpConfig } from "../../providers/mcp/mcp-config.ts";
import type { LogLevel } from "../log-level.ts";
import { checkServers, type RawServer, segmentFor } from "./check-servers.ts";
import { ConfigError } from "./config-error.ts";
import { configSchema } from "./config-schema.ts";
import { describeIssue, formatPath } from "./describe-issue.ts";
import type { Environment } from "./find-config.ts";
import { isLoopback, type ListenAddress, parseListen } from "./listen-address.ts";
import type { RawConfig } from "./read-config.ts";
import { resolveReferences } from "./references.ts";
import type { Secret } from "./secret.ts";
import type { serverSchema } from "./server-config.ts";

export type ServerConfig = Omit<z.output<typeof serverSchema>, "env" | "headers" | "cwd" | "transport"> & {
  readonly transport: McpTransportKind;
  readonly segment: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly env: Readonly<Record<string, Secret>>;
  readonly headers: Readonly<Record<string, Secret>>;
};

export type GatewayConfig = {
  readonly listen: ListenAddress;
  readonly sessions: "auto" | "stateful";
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly sse: boolean;
  readonly pageSize: number | undefined;
  readonly maxBodyBytes: number;
  readonly timeoutMs: number;
  readonly inputTimeoutMs: number;
  readonly sessionIdleMs: number;
  readonly resumeWindowMs: number;
  readonly drainMs: number;
  readonly logLevel: LogLevel;
  /** What seals the state that clients bring back; unset: random. */
  readonly sealKey?: Secret;
};

export type Config = { readonly gateway: GatewayConfig; readonly servers: readonly ServerConfig[] };

/** Throws ConfigError. `flags` win over what the files say. */
export function loadConfig(
  raw: RawConfig,
  options: { env: Environment; flags?: { listen?: string; logLevel?: string } },
): Config {
  const gateway = { ...(raw.table.gateway as { sealKey?: unknown } | undefined), ...options.flags };
  const table: Record<string, unknown> = { ...raw.table, gateway };
  const problems: string[] = [];
  const parsed = configSchema.safeParse(table, { reportInput: true });
  if (!parsed.success) problems.push(...parsed.error.issues.flatMap((issue) => describeIssue(issue, table)));
  const rawServers = (Array.isArray(table.servers) ? table.servers : []) as RawServer[];
  problems.push(...checkServers(rawServers));
  const resolved = rawServers.map((server, index) => {
    const folder = raw.folders[index] ?? "";
    const path = formatPath(["servers", index], table);
    const onProblem = (place: string, problem: string) => problems.push(`${place}: ${problem}`);
    const resolver = { env: options.env, folder, onProblem };
    return {
      folder,
      env: resolveReferences(server.env, `${path}.env`, resolver),
      headers: resolveReferences(server.headers, `${path}.headers`, resolver),
    };
  });
  const sealKey = resolveSealKey(gateway, { env: options.env, folder: raw.sealKeyFolder ?? "", problems });
  if (parsed.success) {
    problems.push(...checkListen(parsed.data.gateway.listen), ...parsed.data.servers.flatMap(checkTransport));
  }
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  return shape(parsed.data, resolved, sealKey);
}

const SEAL_KEY_BYTES = 32;

function resolveSealKey(
  gateway: { sealKey?: unknown },
  { problems, ...resolver }: { env: Environment; folder: string; problems: string[] },
): Secret | undefined {
  if (typeof gateway.sealKey !== "object") return undefined;
  const onProblem = (place: string, problem: string) => problems.push(`${place}: ${problem}`);
  const { sealKey } = resolveReferences({ sealKey: gateway.sealKey }, "gateway", { ...resolver, onProblem });
  if (sealKey && Buffer.byteLength(sealKey.reveal()) < SEAL_KEY_BYTES) {
    problems.push(`gateway.sealKey: expected at least ${SEAL_KEY_BYTES} bytes`);
  }
  return sealKey;
}

function checkListen(text: string): string[] {
  if (isLoopback(parseListen(text)?.host ?? "")) return [];
  const expected = 'expected a loopback address such as "127.0.0.1:7411"';
  const reason = "there is no authentication yet, so only this machine may connect";
  return [`gateway.listen: ${expected}, found ${JSON.stringify(text)}; ${reason}`];
}

function checkTransport(server: z.output<typeof serverSchema>): string[] {
  try {
    settleTransport(server);
    return [];
  } catch (error) {
    return [`servers.${server.id}.${(error as Error).message}`];
  }
}

function settleTransport(server: z.output<typeof serverSchema>): McpTransportKind {
  return mcpConfig({ ...server, env: {}, headers: {} }).transport;
}

type Resolved = { folder: string; env: Record<string, Secret>; headers: Record<string, Secret> };

function shape(
  data: z.output<typeof configSchema>,
  resolved: readonly Resolved[],
  sealKey: Secret | undefined,
): Config {
  const { listen, maxBody, timeout, inputTimeout, sessionIdle, resumeWindow, ...others } = data.gateway;
  const { drain, pageSize, sealKey: _reference, ...rest } = others;
  return {
    gateway: {
      ...rest,
      listen: parseListen(listen) as ListenAddress,
      pageSize,
      maxBodyBytes: maxBody,
      timeoutMs: timeout,
      inputTimeoutMs: inputTimeout,
      sessionIdleMs: sessionIdle,
      resumeWindowMs: resumeWindow,
      drainMs: drain,
      ...(sealKey && { sealKey }),
    },
    servers: data.servers.map((server, index) => {
      const { folder, env, headers } = resolved[index] as Resolved;
      return {
        ...server,
        transport: settleTransport(server),
        segment: segmentFor(server),
        // Without `cwd` a program starts beside the file that names it: the file then means the same from everywhere.
        cwd: resolve(folder, server.cwd ?? ""),
        timeoutMs: server.timeout ?? timeout,
        env,
        headers,
      };
    }),
  };
}
