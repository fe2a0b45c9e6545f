import { type Candidate, findFreePort, peerFile, startCandidate } from "./candidate.ts";

/** Bare node:http that issues session ids and holds GET streams: what an open stream costs anyone on Node. */
export const bareHttp: Candidate = {
  name: "bare node:http",
  kind: "shown",
  upstreams: ["http"],
  async start() {
    const port = await findFreePort();
    return startCandidate({ command: process.execPath, args: [peerFile("bare-http-server.mjs"), String(port)], port });
  },
};
