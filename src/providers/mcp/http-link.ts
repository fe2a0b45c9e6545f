import {
  type Clock,
  GatewayError,
  type GatheredBytes,
  type Log,
  type Slices,
  type Timers,
} from "../../contract/index.ts";
import type { Message, MessageFault } from "../../wire/jsonrpc/index.ts";
import type { HttpClient, HttpExchange, HttpFailure, ResponseHead } from "./http/index.ts";
import { type UpstreamFailure, UpstreamFault } from "./transport.ts";

/** What the streams of one Streamable HTTP session share: the way out, and what every request says of the session. */
export interface HttpLink {
  /** For requests that end. */
  readonly posts: HttpClient;
  /** For streams that stay open, so that they take no socket away from calls. */
  readonly streams: HttpClient;
  readonly clock: Clock;
  readonly slices: Slices;
  readonly timers: Timers;
  readonly log: Log;
  readonly maxBytes: number;
  /** Counts what is here of one message that is not whole. */
  gather(): GatheredBytes;
  /** Header lines of the session: its id and the agreed revision. */
  readonly head: string;
  readonly hasSession: boolean;
  /** The server may write several messages as one batch. */
  readonly hasBatches: boolean;
  /** Every answer of the server passes here: one of them brings the session's id. */
  onHead(head: ResponseHead): void;
  /** A message that belongs to no open request. */
  onMessage(message: Message): void;
  onFault(fault: MessageFault): void;
  /** An event of a stream had an id that is too long to keep. */
  onLongEventId(): void;
}

/** What a call ends with for whose answer there is no memory. */
export function noRoom(): UpstreamFailure {
  const message = "The gateway has no memory for the server's answer now.";
  return { kind: "invalid", message, error: new GatewayError("OVERLOADED", { message }) };
}

/** Why a request without a usable answer failed. */
export function describeHttpFailure(failure: HttpFailure): UpstreamFailure {
  const { cause } = failure;
  // There are no credentials to send: somebody must say yes, or whoever gives them out is away.
  if (GatewayError.is(cause)) {
    if (cause.code !== "CONSENT_REQUIRED") return { kind: "unreachable", message: cause.message, cause, error: cause };
    // The link is made for one caller: it is in what that call ends with, and nowhere else.
    return { kind: "auth", message: "The server must be allowed first.", error: cause };
  }
  if (cause instanceof UpstreamFault) return cause.failure;
  if (failure.reason === "full")
    return { kind: "full", message: "Too many calls wait to be sent to the server.", cause };
  if (!failure.sent) {
    const { code } = Object(failure.cause) as { code?: unknown };
    const why = typeof code === "string" ? ` (${code})` : "";
    return { kind: "unreachable", message: `The server cannot be reached${why}.`, cause: failure.cause };
  }
  if (failure.reason === "malformed" || failure.reason === "head-too-large")
    return { kind: "invalid", message: "The server's answer is not valid HTTP.", cause: failure.cause };
  return {
    kind: "lost",
    message: "The connection was lost after the call had been sent.",
    isStale: failure.stale,
    cause: failure.cause,
  };
}

/** Why an answer with that status, and no message for us in it, is none. */
export function describeStatus(status: number, hasSession: boolean): UpstreamFailure {
  if (status === 401) return { kind: "auth", status, message: "The server refused our credentials (HTTP 401)." };
  if (status === 403) return { kind: "auth", status, message: "The server does not allow this (HTTP 403)." };
  if (status === 404 && hasSession)
    return { kind: "expired", status, message: "The server has ended the session (HTTP 404)." };
  if (status === 421)
    return { kind: "unreachable", status, message: "What was reached does not serve this server (HTTP 421)." };
  return { kind: "invalid", status, message: `The server answered HTTP ${status}.` };
}

/** How long a server may take to accept a notification or an answer: one that never does must not keep the socket. */
const SEND_MS = 5000;

type Post = {
  readonly head: string;
  readonly body: string;
  readonly hasSession: boolean;
  /** Instead of the path of the server's URL. */
  readonly path?: string | undefined;
};

/** Posts what is not answered there. `onOver` hears once that the server took it, or why it did not. */
export function startPost(
  client: HttpClient,
  { head, body, hasSession, path }: Post,
  onOver: (failure: UpstreamFailure | undefined) => void,
): HttpExchange {
  let status = 0;
  return client.send(
    { method: "POST", head, body, path },
    {
      onHead(answer) {
        status = answer.status;
      },
      onData() {},
      onEnd: () => onOver(status >= 200 && status < 300 ? undefined : describeStatus(status, hasSession)),
      onError: (failure) => onOver(describeHttpFailure(failure)),
    },
  );
}

/** Posts what needs no answer. Resolves when the server took it, or to why it did not, within 5 s. */
export function postOnly(
  client: HttpClient,
  request: Post & { readonly timers: Timers },
): Promise<UpstreamFailure | undefined> {
  const { promise, resolve } = Promise.withResolvers<UpstreamFailure | undefined>();
  const exchange = startPost(client, request, resolve);
  const timer = request.timers.after(SEND_MS, () => exchange.abort());
  return promise.finally(() => timer.cancel());
}
