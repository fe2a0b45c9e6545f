import type { Session } from "../../mechanisms/sessions/index.ts";
import type { CallReader } from "./call-reader.ts";

/** Where the messages about one request go: an HTTP response, or a pipe shared with other requests. */
export interface Outlet {
  /** Messages may go out before the answer. */
  readonly canStream: boolean;
  /** What went out may be asked for again by a client that lost it. */
  readonly isKept: boolean;
  /** The request opened this session. */
  opened(session: Session): void;
  /** The call whose events come here, with its run: it is told when there is room again and when the client is gone. */
  bind(reader: CallReader): void;
  /** A message before the answer. False: it is full. `cursor` is the event's place in the run; -1: none. */
  send(text: string, cursor: number): boolean;
  /** The answer; nothing follows it. `status` is for transports that have one. */
  answer(text: string, cursor?: number, status?: number): void;
  /** A large answer, its middle as bytes that are kept ready. */
  answerParts(head: string, body: Buffer, tail: string): void;
  /** Over without an answer. */
  drop(): void;
  /** Sends the client away to come back for the answer, where it knows how to. False: it stays. */
  release(retryMs?: number): boolean;
}
