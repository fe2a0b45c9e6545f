import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Candidate, findFreePort, makeTempDir, packageFile, startCandidate } from "./candidate.ts";

/**
 * At its start it fetches a list of servers from the internet unless it has a fresh copy. It gets one: the bench stays on this
 * machine, and the peer's start does not depend on the network.
 */
function writeMarketplace(directory: string): void {
  const server = { id: "none", name: "none", description: "", url: "", installations: [] };
  const registry = { version: "1", generatedAt: Date.now(), totalServers: 1, servers: [server] };
  mkdirSync(join(directory, "mcp-hub", "cache"), { recursive: true });
  writeFileSync(
    join(directory, "mcp-hub", "cache", "registry.json"),
    JSON.stringify({ registry, lastFetchedAt: Date.now(), serverDocumentation: {} }),
  );
}

/** Serves the 2024 HTTP+SSE transport only, and prefixes names with the server's. */
export const mcpHub: Candidate = {
  name: "mcp-hub",
  kind: "peer",
  upstreams: ["http", "stdio"],
  async start(upstream) {
    const port = await findFreePort();
    const directory = makeTempDir();
    const config = join(directory, "mcp-hub.json");
    const server =
      upstream.kind === "http" ? { url: upstream.url } : { command: upstream.command, args: upstream.args };
    writeFileSync(config, JSON.stringify({ mcpServers: { up: server } }));
    writeMarketplace(directory);
    return startCandidate({
      command: process.execPath,
      args: [packageFile("mcp-hub/dist/cli.js"), "--port", String(port), "--config", config],
      port,
      protocol: "sse",
      directory,
      // Its log and its caches must not end up in the home of whoever measures.
      env: { HOME: directory, XDG_STATE_HOME: directory, XDG_CONFIG_HOME: directory, XDG_DATA_HOME: directory },
    });
  },
};
