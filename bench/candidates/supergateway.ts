import { type Candidate, findFreePort, packageFile, startCandidate } from "./candidate.ts";

/** From an HTTP server it can only make a stdio one, so it stands in the stdio tables alone. A child per session. */
export const supergateway: Candidate = {
  name: "supergateway",
  kind: "peer",
  upstreams: ["stdio"],
  async start(upstream) {
    if (upstream.kind !== "stdio") throw new Error("supergateway needs a stdio upstream");
    const port = await findFreePort();
    const quoted = [upstream.command, ...upstream.args].map((word) => `'${word}'`).join(" ");
    const args = [packageFile("supergateway/dist/index.js"), "--stdio", quoted, "--outputTransport", "streamableHttp"];
    args.push("--stateful", "--logLevel", "none", "--port", String(port));
    return startCandidate({ command: process.execPath, args, port });
  },
};
