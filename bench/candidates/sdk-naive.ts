import { type Candidate, findFreePort, peerFile, startCandidate } from "./candidate.ts";

/** What one writes in an afternoon with the official SDK. Shown, not counted as a peer. */
export const sdkNaive: Candidate = {
  name: "sdk-naive",
  kind: "shown",
  upstreams: ["http", "stdio"],
  async start(upstream) {
    const port = await findFreePort();
    const target = upstream.kind === "http" ? [upstream.url] : [upstream.command, ...upstream.args];
    const args = [peerFile("sdk-naive-gateway.mjs"), String(port), ...target];
    return startCandidate({ command: process.execPath, args, port });
  },
};
