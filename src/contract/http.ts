/** One HTTP exchange as a front sees it. Text has one character per byte, in both directions. `server` owns the socket. */
import type { HeldMessage } from "./byte-budget.ts";
import type { Principal } from "./principal.ts";

export interface HttpRequest {
  readonly method: string;
  /** Path and query as they stand in the request line; always begins with a slash. */
  readonly url: string;
  /**
   * Names are lower case; a repeated header is joined with ", ", unless it must not repeat: such a request was refused.
   * How the body is framed is not among them. The same frozen object comes again for each request of a connection whose
   * head is the same, so that what is derived from it can be kept in a WeakMap.
   */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Who sends it: set by whoever found out, before any front sees the request. */
  principal: Principal;
  /** Whose connection it came on; unset where nobody can know, such as behind a hop. */
  readonly peer?: HttpPeer | undefined;
  /**
   * Whose request this is, in the one form that an address has: what a proxy says counts only if the operator trusts it. Found
   * out when asked for; undefined once the request is answered or its client gone, and where a process asks for itself.
   */
  readonly clientAddress: string | undefined;
  /** Its body, once that is here, as far as it counts among what the process holds: whoever goes on with it holds it, too. */
  readonly held?: HeldMessage | undefined;
  /** Nobody needs the body any more, though the answer may go on for long: it counts no longer. */
  forgetBody?(): void;
  /** Tells the taker once, possibly before this returns; never when the client goes away or the answer ends first. */
  body(maxBytes: number, taker: BodyTaker): void;
  /** The body is not wanted. */
  discard(): void;
}

/** The other end of a connection. */
export type HttpPeer = {
  /** An IP address; of a proxy, where there is one. */
  readonly address: string;
  /** At which address of ours it is connected; unset: the connection is gone. */
  readonly reached?: { readonly address: string; readonly port: number };
  /** What it showed in the handshake of TLS; unset: nothing. */
  readonly certificate?: {
    /** It was issued by somebody who is trusted to, and is valid. Nothing else of it means anything otherwise. */
    readonly isTrusted: boolean;
    readonly subject: Readonly<Record<string, string | readonly string[] | undefined>>;
    /** Such as `DNS:a.example, URI:spiffe://a`. */
    readonly alternativeNames: string;
    /** SHA-256, in hex. */
    readonly fingerprint: string;
    /** In ms of everybody's clock. */
    readonly expiresAt: number;
  };
};

export interface BodyTaker {
  onBody(text: string): void;
  /** The connection closes after the answer. */
  onTooLarge(): void;
}

/** After its end, and after the client went away, nothing here does anything. */
export interface HttpResponse {
  /** A whole answer in one write. `lines`: further header lines from `headerLine`, or constants of the same form. */
  answer(status: number, lines: string, body: string): void;
  /** A large answer whose middle is kept ready as bytes. */
  answerParts(status: number, lines: string, head: string, body: Buffer, tail: string): void;
  /** Starts a stream, whose length nobody knows yet. Nothing leaves before the first write. */
  open(status: number, lines: string): void;
  /** False: the client is behind; `onDrain` follows. */
  write(text: string): boolean;
  end(text?: string): void;
  /** Breaks off so that the client sees it: for an answer that has begun and cannot be ended. */
  cut(): void;
  onDrain: (() => void) | undefined;
  /** The client went away before the end. */
  onClose: (() => void) | undefined;
  readonly isOver: boolean;
}
