/** What a connection needs of the listener, and for how long it waits for its client. */
import type { HttpConnection } from "./connection.ts";
import type { Exchange } from "./exchange.ts";
import type { HoldingHost } from "./held-bytes.ts";
import type { RequestHead } from "./request-head.ts";
import type { RequestTurns } from "./request-turns.ts";
import type { UnreadBook } from "./unread.ts";

export interface ConnectionHost extends HoldingHost {
  readonly dateLine: string;
  readonly tick: number;
  readonly isDraining: boolean;
  /** No connection stays open that waits for nothing. */
  readonly closesIdle: boolean;
  readonly limits: ConnectionLimits;
  readonly unread: UnreadBook;
  readonly turns: RequestTurns;
  /** False: nothing may leave or be taken any more on the connections that are there. Absent: always. */
  readonly mayWrite: (() => boolean) | undefined;
  /** Who sends these headers; `peer`: the other end of the connection. */
  clientAddress(peer: string, headers: RequestHead["headers"]): string | undefined;
  onRequest(exchange: Exchange): void;
  /** The body does not fit in memory now: the request is answered without it. */
  onNoRoom(exchange: Exchange): void;
  /** A body is whole that did not come with its head: it is handed over now or later, or the request is answered without it. */
  onLateBody(exchange: Exchange, handOver: () => void): void;
  /** A handler threw. The client has been answered with 500, or cut off in the middle of an answer. */
  onError(cause: unknown): void;
  /** A client was turned away before anybody could answer it, or while it was waited for. */
  onRefused(status: number, peer: string | undefined): void;
  /** A client was cut off that did not read what it had asked for. */
  onUnread(peer: string | undefined): void;
  onGone(connection: HttpConnection): void;
}

/** In ticks, which are seconds; but for the last. */
export type ConnectionLimits = {
  readonly head: number;
  /** From one piece of a body to the next. */
  readonly body: number;
  /** For a whole body, from its head on; large ones have more, see `BODY_RATE`. */
  readonly wholeBody: number;
  readonly idle: number;
  readonly linger: number;
  readonly stalledWriteMs: number;
};
