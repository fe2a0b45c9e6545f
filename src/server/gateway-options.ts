/** What each part of a gateway is told, made of its config and of what the gateway has. */
import { isIPv6 } from "node:net";
import { GATEWAY_NAME } from "../contract/index.ts";
import type { McpFrontConfig } from "../fronts/mcp/index.ts";
import type { Arrangement } from "../kernel/index.ts";
import { MGP_EXTENSIONS, type MgpExtension } from "../wire/mgp/index.ts";
import { type Config, type GatewayConfig, isLoopback, type ServerConfig } from "./config/index.ts";
import { type Ports, revealAll } from "./extensions.ts";
import type { ServerSummary } from "./gateway-types.ts";
import type { HomedMcpOptions } from "./hop-provider/index.ts";
import type { TlsTerms } from "./http/index.ts";
import type { Cluster, GatewayState } from "./state/index.ts";
import { OtlpExporter } from "./telemetry/otlp-exporter.ts";
import { VERSION } from "./version.ts";

/** Undefined: nobody asked for traces. */
export function createExporter({ telemetry }: Config, ports: Ports): OtlpExporter | undefined {
  const { endpoint, headers } = telemetry;
  if (endpoint === undefined) return undefined;
  return new OtlpExporter({ ...ports, endpoint, headers: revealAll(headers), version: VERSION });
}

export function arrangementOf({ gateway: { naming }, catalogs }: Config): Arrangement {
  return { naming, catalogs };
}

export function mountOptions({ segment, concurrency, timeoutMs, breaker }: ServerConfig) {
  return { segment, concurrency, timeoutMs, breaker };
}

export function mgpOf({ servers }: Config, id: string): Pick<ServerSummary, "mgp"> {
  const mgp = servers.find((server) => server.id === id)?.mgp;
  return mgp === undefined ? {} : { mgp };
}

/** Where calls are not on record, there is nothing that an agent could hear of its own. */
export function offeredOfMgp({ audit }: Config): readonly MgpExtension[] {
  return MGP_EXTENSIONS.filter((extension) => extension !== "audit" || audit.plain === "all");
}

/** Without a key of the operator's or the cluster's, what was sealed opens only until this process ends. */
export function sealOptions({ sealKey }: GatewayConfig, clusterKey: string | undefined): { master?: Uint8Array } {
  const key = sealKey?.reveal() ?? clusterKey;
  return key === undefined ? {} : { master: Buffer.from(key, "utf8") };
}

/** Undefined: plain HTTP. */
export function tlsTerms({ tls }: GatewayConfig): TlsTerms | undefined {
  if (!tls) return undefined;
  const { cert, key, clientCa } = tls;
  return { cert: cert.reveal(), key: key.reveal(), ...(clientCa && { clientCa: clientCa.reveal() }) };
}

export function homedOptions(cluster: Cluster | undefined): HomedMcpOptions | undefined {
  const { homes, hop } = cluster ?? {};
  return homes && hop && { homes, wayTo: (home) => hop.wayTo(home) };
}

/** Said of stores that several processes share; a file of our own is no news. */
export function storesOf(state: GatewayState | undefined): { stores?: Record<string, "ok" | "away"> } {
  if (state?.clusterKey === undefined) return {};
  const word = (isUp: boolean) => (isUp ? "ok" : "away");
  return { stores: { shared: word(state.shared.isUp), database: word(state.records.isUp) } };
}

/** Clients that were told where the gateway is name it. */
function publicHost(resource: string | undefined): readonly string[] {
  return resource === undefined ? [] : [new URL(resource).host];
}

type LiveFrontConfig = { -readonly [Key in keyof McpFrontConfig]: McpFrontConfig[Key] };

export function frontConfig({ gateway, auth, state }: Config): LiveFrontConfig {
  const { sessions, allowedHosts, allowedOrigins, trustedProxies, pageSize, maxBodyBytes, inputTimeoutMs, listen } =
    gateway;
  return {
    sessions,
    // Whoever reaches the address we listen on may name it, as it stands in URLs.
    allowedHosts: [
      ...allowedHosts,
      isIPv6(listen.host) ? `[${listen.host}]` : listen.host,
      ...publicHost(auth.resource),
    ],
    allowedOrigins,
    maxBody: maxBodyBytes,
    inputMs: inputTimeoutMs,
    serverInfo: { name: GATEWAY_NAME, version: VERSION },
    pageSize,
    cookie: state.cluster.hasCookie,
    // Where only this machine can connect, and no proxy on it, everybody has the same address.
    namesAddresses: trustedProxies.length > 0 || !isLoopback(listen.host),
  };
}
