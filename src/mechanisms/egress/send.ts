/** One request to one address that has been judged. */
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import type { EgressAnswer, EgressRequest } from "./egress.ts";
import { EgressFault } from "./egress-fault.ts";
import type { Found } from "./find-address.ts";

type Limits = { readonly signal: AbortSignal; readonly maxBytes: number };

/** Rejects with EgressFault. */
export function send(url: URL, found: Found, { body, headers }: EgressRequest, limits: Limits): Promise<EgressAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<EgressAnswer>();
  const start = url.protocol === "https:" ? requestHttps : requestHttp;
  const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
  const outgoing = start(url, {
    method: body === undefined ? "GET" : "POST",
    agent: false,
    lookup: pinTo(found),
    signal: limits.signal,
    headers: { Accept: "application/json", "User-Agent": "isthmus", ...headers, ...length },
  });
  const noAnswer = () => reject(new EgressFault("unreachable", `${url.hostname} closed without an answer.`));
  outgoing.on("error", (cause) => reject(faultOf(url, cause)));
  outgoing.on("response", (incoming) => {
    outgoing.off("close", noAnswer);
    read(incoming, url, limits.maxBytes).then(resolve, reject);
  });
  // A peer that changes the protocol, which nobody has asked for, gives no response, and its connection no error.
  outgoing.on("upgrade", (_incoming, socket) => {
    socket.destroy();
    reject(new EgressFault("invalid", `${url.hostname} answers with another protocol.`));
  });
  outgoing.on("close", noAnswer);
  outgoing.end(body);
  return promise;
}

/** The name was resolved once, and what was judged is what is connected to. */
function pinTo({ address, family }: Found): LookupFunction {
  return (_host, { all }, callback) => {
    if (all) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
}

async function read(incoming: IncomingMessage, url: URL, maxBytes: number): Promise<EgressAnswer> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of incoming as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxBytes) throw new EgressFault("invalid", `The answer of ${url.hostname} is too large.`);
      parts.push(part);
    }
  } catch (cause) {
    incoming.destroy();
    throw faultOf(url, cause);
  }
  const { statusCode = 0, headers } = incoming;
  return { status: statusCode, headers, body: Buffer.concat(parts).toString("utf8") };
}

function faultOf({ hostname }: URL, cause: unknown): EgressFault {
  if (cause instanceof EgressFault) return cause;
  const { code, name } = Object(cause) as { code?: unknown; name?: unknown };
  if (name === "AbortError" || name === "TimeoutError")
    return new EgressFault("unreachable", `${hostname} did not answer in time.`, cause);
  const why = typeof code === "string" ? ` (${code})` : "";
  return new EgressFault("unreachable", `${hostname} cannot be reached${why}.`, cause);
}
