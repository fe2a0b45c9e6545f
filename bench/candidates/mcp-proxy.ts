import { type Candidate, findFreePort, packageFile, peerFile, startCandidate } from "./candidate.ts";

/** Its command line takes only stdio servers; for HTTP the same functions are called by a small program. */
export const mcpProxy: Candidate = {
  name: "mcp-proxy",
  kind: "peer",
  upstreams: ["http", "stdio"],
  async start(upstream) {
    const port = await findFreePort();
    const args =
      upstream.kind === "http"
        ? [peerFile("mcp-proxy-http.mjs"), upstream.url, String(port)]
        : [packageFile("mcp-proxy/dist/bin/mcp-proxy.mjs"), "--host", "127.0.0.1", "--port", String(port)].concat(
            ["--server", "stream", "--", upstream.command],
            upstream.args,
          );
    return startCandidate({ command: process.execPath, args, port });
  },
};
