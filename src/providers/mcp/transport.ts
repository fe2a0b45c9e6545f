/**
 * How messages travel to and from one upstream session. A transport skims each message once, keeps the streams of
 * requests apart where the wire does, and says precisely what became of a request that got no answer.
 */
import type { GatewayError, SharingCaller } from "../../contract/index.ts";
import type { Message, MessageFault } from "../../wire/jsonrpc/index.ts";
import type { LargeAnswer } from "./large-answer.ts";

export type UpstreamFailure = {
  /**
   * unreachable: nothing was sent, or nobody there looked at it. lost: it was sent, and no answer can come any more. invalid: the answer cannot be
   * used. auth: credentials are missing or refused. expired: the upstream session is gone, nothing was processed. full: too much
   * waits to be sent already, and nothing was; that says nothing about the server.
   */
  readonly kind: "unreachable" | "lost" | "invalid" | "auth" | "expired" | "full";
  /** The HTTP status, where that is what was wrong. */
  readonly status?: number;
  /** Safe to show: never text of the server beyond a JSON-RPC error's own message. */
  readonly message: string;
  /** A reused socket died before any byte of the answer: most likely the server had closed it while it was idle. */
  readonly isStale?: boolean;
  /** Turned away before it was looked at (HTTP 400, an error for nobody): perhaps the server does not know the session. */
  readonly isTurnedAway?: boolean;
  readonly cause?: unknown;
  /** What the call ends with, where somebody else has said so: there are no credentials, say. */
  readonly error?: GatewayError;
};

/** An UpstreamFailure on its way through a promise. Stays inside this folder. */
export class UpstreamFault extends Error {
  override readonly name = "UpstreamFault";
  readonly failure: UpstreamFailure;

  constructor(failure: UpstreamFailure) {
    super(failure.message, { cause: failure.cause });
    this.failure = failure;
  }
}

/** Hears about one request. After the answer or a failure it hears nothing more. */
export interface RequestSink {
  /** The request's id as JSON text. */
  readonly id: string;
  /** The answer, or whatever else came on the stream of this request. */
  onMessage(message: Message): void;
  onFailure(failure: UpstreamFailure): void;
  /** Takes a long answer that nobody has read yet. Absent: it is read like any other, and comes by `onMessage`. */
  onLarge?(answer: LargeAnswer): void;
  /** The server closed the stream before its answer and is asked again after that time. */
  onHangUp?(retryMs: number): void;
  /** It stays open as long as the session: nobody waits for its answer. */
  readonly isStanding?: boolean;
  /** For whom it is made; absent: for ourselves. Asked only where it has to wait before it is sent. */
  readonly caller?: SharingCaller;
}

/** Reading of one request's stream. All three do nothing where streams are not apart. */
export interface RequestStream {
  pause(): void;
  resume(): void;
  /** Stops reading. The sink hears nothing more. */
  abort(): void;
  /** True: nothing of the request was sent, and nothing will be. Absent: it is sent, as far as is known. */
  takeBack?(): boolean;
}

/** How a request goes out that is unlike the others of its session. */
export type RequestOptions = {
  /** Header lines instead of the session's own; its stream is then never taken up again. */
  readonly head?: string;
  /** Stays open: it shall take no socket away from calls. */
  readonly isLong?: boolean;
};

/** It is kept, also in the store, and goes out with every request. Some servers put a signed token there. */
export const MAX_SESSION_ID = 4096;

/** Under which a server knows a session, whichever process speaks: and what came last on the stream of that session. */
export type SessionHandle = { readonly id: string; readonly lastEventId: string };

export interface TransportHandlers {
  /** A message that stands on no request's stream. */
  onMessage(message: Message): void;
  /** A long answer that nobody has read yet. False: nobody takes it like this. */
  onLarge?(answer: LargeAnswer): boolean;
  /** A message outside request streams that cannot be taken; `fault.id` is its id where that could be read. */
  onFault(fault: MessageFault): void;
  /** Once: nothing will come and nothing can be sent any more. */
  onLost(failure: UpstreamFailure): void;
  /** What the server says outside requests cannot be heard now: it may be away. */
  onUnheard?(): void;
  /** The transport's `handle` has changed. */
  onHandle?(): void;
}

export interface UpstreamTransport {
  /** Each request has a stream of its own: what comes on it belongs to it, and it can be paused alone. */
  readonly hasStreams: boolean;
  /** The server gave the session an id: it keeps state per session. Known after the first answer. */
  readonly issuesSessions: boolean;
  /** The server has a way to ask questions and to connect the answers with them. Known after `listen`. */
  readonly canAsk: boolean;
  /** A server that is reached this way may speak 2026-07-28. */
  readonly mayBeModern: boolean;
  /** What the server says outside requests reaches us now. Absent: always. */
  readonly hears?: boolean;
  /** With it another process can go on with the session; undefined, or absent, where none could. */
  readonly handle?: SessionHandle | undefined;
  /** Goes on with a session that another process has opened, and in which this revision was agreed on. */
  resume?(handle: SessionHandle, version: string): void;
  /** Rejects with UpstreamFault. */
  open(handlers: TransportHandlers): Promise<void>;
  /** Never calls the sink before it returns. `text` holds one character per byte. */
  request(text: string, sink: RequestSink, options?: RequestOptions): RequestStream;
  /** After it was lost: the ids of requests of which certainly nothing was sent. Absent: the sinks have heard it. */
  unsent?(): readonly string[];
  /** Sends a notification or an answer. Resolves when the server took it, or to why it did not. `head`: as in RequestOptions. */
  send(text: string, head?: string): Promise<UpstreamFailure | undefined>;
  /** The same for an answer to what the server asked, which it owes to itself. Absent: as `send`. */
  answer?(text: string): Promise<UpstreamFailure | undefined>;
  /** The revision both sides agreed on. */
  agree(version: string): void;
  /** Opens the way for messages outside requests, where that is a stream of its own. Resolves soon in any case. */
  listen(): Promise<void>;
  /** Ends the upstream session; with `isKept` only our part in it, because another process goes on. Safe to call twice. */
  close(isKept?: boolean): Promise<void>;
}
