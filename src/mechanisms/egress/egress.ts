/** Small requests to addresses that arrive at run time: bounded in time and size, and never to where they must not go. */
import type { IncomingHttpHeaders } from "node:http";
import { EgressFault } from "./egress-fault.ts";
import { findAddress, NO_TRUST, parseUrl, type Resolve, resolveByDns, type Trust } from "./find-address.ts";

export type EgressRequest = {
  readonly url: string;
  /** With a body it is a POST, and follows no redirect. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type EgressAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };

export interface Egress {
  /** Rejects with EgressFault; any status is an answer. */
  fetch(request: EgressRequest, trust?: Trust): Promise<EgressAnswer>;
}

export type EgressOptions = {
  readonly resolve?: Resolve;
  /** For all hops together. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
};

const MAX_REDIRECTS = 3;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 256 * 1024;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

export function createEgress(options: EgressOptions = {}): Egress {
  const { resolve = resolveByDns, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = options;
  return {
    async fetch(request, trust = NO_TRUST) {
      // Most gateways never send any: what it takes is loaded with the first.
      const { send } = await import("./send.ts");
      const limits = { signal: AbortSignal.timeout(timeoutMs), maxBytes };
      let url = parseUrl(request.url);
      for (let hops = 0; ; hops++) {
        const found = await inTime(findAddress(url, trust, resolve), limits.signal, url);
        const answer = await inTime(send(url, found, request, limits), limits.signal, url);
        const { location } = answer.headers;
        if (!REDIRECTS.includes(answer.status) || location === undefined) return answer;
        if (request.body !== undefined)
          throw new EgressFault("refused", `${url.hostname} sends a request elsewhere that goes only there.`);
        if (hops >= MAX_REDIRECTS) throw new EgressFault("refused", `${url.hostname} redirects too often.`);
        url = parseUrl(location, url);
      }
    },
  };
}

/** Neither a resolver that hangs nor a peer, whatever it does, outlasts the limit. */
function inTime<Result>(work: Promise<Result>, signal: AbortSignal, url: URL): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(new EgressFault("unreachable", `${url.hostname} did not answer in time.`));
  signal.addEventListener("abort", onAbort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", onAbort));
}
