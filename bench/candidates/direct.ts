import type { Candidate } from "./candidate.ts";

/** No gateway at all: what the load generator and the upstream can do. */
export const direct: Candidate = {
  name: "direct",
  kind: "direct",
  upstreams: ["http"],
  async start(upstream) {
    if (upstream.kind !== "http") throw new Error("direct needs an HTTP upstream");
    return { url: upstream.url, protocol: "streamable", stop: async () => {} };
  },
};
