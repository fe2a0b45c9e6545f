import { HOME_HEADER, type Member } from "../../contract/index.ts";
import type { Homes } from "../../mechanisms/cluster/index.ts";
import {
  hasOwnChild,
  type McpConfig,
  type McpDeps,
  mcpProvider,
  type SocketOpener,
} from "../../providers/mcp/index.ts";
import { createHomedProvider, type HomedProvider } from "./homed-provider.ts";

/** How a process is reached whose children we want to call. */
export type WayHome = {
  readonly connect: SocketOpener;
  /** What its internal listener wants to be told with each request. */
  readonly headers: Readonly<Record<string, string>>;
};

export type HomedMcpOptions = {
  readonly homes: Pick<Homes, "watch">;
  readonly wayTo: (home: Member) => WayHome;
};

/** An MCP server on stdio, one shared instance for all processes. Elsewhere it is an MCP server over HTTP, at its home. */
export function homedMcpProvider(config: McpConfig, deps: McpDeps, { homes, wayTo }: HomedMcpOptions): HomedProvider {
  return createHomedProvider({
    id: config.id,
    homes,
    clock: deps.clock,
    timers: deps.timers,
    isOwn: (session) => hasOwnChild(config, session),
    createClients: () => mcpProvider(config, { ...deps, hasShared: false }),
    createLocal: () => mcpProvider(config, deps),
    createRemote(home) {
      const { connect, headers } = wayTo(home);
      return mcpProvider(remoteConfig(config, headers), { ...deps, connect, isHome: true });
    },
  });
}

/** The internal listener shows each server under its id, with the server's own names. */
function remoteConfig(config: McpConfig, headers: WayHome["headers"]): McpConfig {
  const { command: _command, cwd: _cwd, ...rest } = config;
  return {
    ...rest,
    args: [],
    env: {},
    transport: "http",
    url: `http://localhost/${encodeURIComponent(config.id)}/mcp`,
    headers: { ...headers, [HOME_HEADER]: config.id },
    sessions: "shared",
  };
}
