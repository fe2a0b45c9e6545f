import type { GatewayError, HttpRequest, Payload, Principal } from "../../../contract/index.ts";
import type { Message } from "../../../wire/jsonrpc/index.ts";
import type { Posted } from "../posted.ts";

/** Whoever writes to an outlet: is told when there is room again, and when the client is gone before the answer. */
export interface OutletOwner {
  resume(): void;
  left(): void;
  /** The client says that it wants no answer, where a transport lets it. */
  cancel(reason: string | undefined, words?: Payload): void;
}

/** Where the messages about one request of 2026-07-28 go. Nothing of it can be had again. */
export interface ModernOutlet {
  /** Something went out already: it is too late for a status. */
  readonly isOpen: boolean;
  /** The client went away: whatever would begin now need not. */
  readonly isGone: boolean;
  /** Messages may go out before the answer. */
  readonly canStream: boolean;
  bind(owner: OutletOwner): void;
  /** A message before the answer. False: it is full. */
  send(text: string): boolean;
  /** The answer; nothing follows it, and its owner hears no more. `error`: why it is none, where that was ours. */
  answer(text: string, status?: number, error?: GatewayError): void;
  /** A large answer, its middle as bytes that are kept ready. */
  answerParts(head: string, body: Buffer, tail: string): void;
  /** Over without an answer. */
  drop(): void;
}

/** One request, judged: what it says of its client, and the way back. */
export type ModernExchange = {
  readonly message: Message;
  readonly catalog: string;
  readonly principal: Principal;
  /** What the client declares, in the one form of it (see profiles.ts). */
  readonly profile: Payload;
  readonly hasTasks: boolean;
  /** What its `_meta` holds beside what it says of its client, as JSON text; undefined: nothing. */
  readonly meta: string | undefined;
  /** The least severe log line it wants; without one it wants none. */
  readonly logLevel: string | undefined;
  /** Absent on transports that have none. */
  readonly headers: HttpRequest["headers"] | undefined;
  readonly outlet: ModernOutlet;
  /** Absent on transports without exchanges of their own. */
  readonly posted: Posted | undefined;
};
