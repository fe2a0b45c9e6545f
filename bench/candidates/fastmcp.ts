import { type Candidate, findFreePort, peerFile, startCandidate } from "./candidate.ts";

/** A framework, not a program: the gateway in front of an HTTP server is written with it as its documents show. */
export const fastmcp: Candidate = {
  name: "fastmcp",
  kind: "peer",
  upstreams: ["http"],
  async start(upstream) {
    if (upstream.kind !== "http") throw new Error("fastmcp is measured with an HTTP upstream");
    const port = await findFreePort();
    const args = [peerFile("fastmcp-gateway.mjs"), upstream.url, String(port)];
    return startCandidate({ command: process.execPath, args, port });
  },
};
