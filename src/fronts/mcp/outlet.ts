import type { GatewayError, Run } from "../../contract/index.ts";
import type { Session } from "../../mechanisms/sessions/index.ts";

/** Whoever writes to an outlet: is told when there is room again and when the client is gone. */
export interface OutletOwner {
  readonly session: Session;
  /** The run whose events come here, in which a client that comes back can find its place. */
  readonly run: Run | undefined;
  /** The last event that was given to the outlet. */
  readonly cursor: number;
  resume(): void;
  left(): void;
}

/** Where the messages about one request go: an HTTP response, or a pipe shared with other requests. */
export interface Outlet {
  /** Messages may go out before the answer. */
  readonly canStream: boolean;
  /** What went out may be asked for again by a client that lost it. */
  readonly isKept: boolean;
  /** The client has closed its connection; unset: that cannot be seen here. */
  readonly isGone?: boolean;
  /** Whoever opens a session here is told its id, and may come back with it by another way. */
  readonly namesSession: boolean;
  /** The request opened this session. */
  opened(session: Session): void;
  bind(owner: OutletOwner): void;
  /** A message before the answer. False: it is full. `cursor` is the event's place in the run; -1: none. */
  send(text: string, cursor: number): boolean;
  /** The answer; nothing follows it. `status` and `error`, why it is none, are for transports that can say more about it. */
  answer(text: string, cursor?: number, status?: number, error?: GatewayError): void;
  /** A large answer, its middle as bytes that are kept ready. */
  answerParts(head: string, body: Buffer, tail: string): void;
  /** Over without an answer. */
  drop(): void;
  /** Sends the client away to come back for the answer, where it knows how to. False: it stays. */
  release(retryMs?: number): boolean;
}
