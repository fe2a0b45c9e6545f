import type { Answer, Ask, CallReply, Next } from "./call.ts";
import type { Notice } from "./notice.ts";
import type { Payload } from "./payload.ts";
import type { ListedKind, Offer, Scope } from "./primitive.ts";
import type { SessionRef } from "./session.ts";
import type { Effort } from "./steps.ts";

export type ProviderStatus = "starting" | "ok" | "unreachable" | "auth_required" | "invalid";

/**
 * What a server declared when it was opened: capabilities and instructions, as it wrote them. `protocol`: the revision that was
 * agreed on, where there was any to agree on.
 */
type About = { readonly capabilities: Payload; readonly instructions?: string; readonly protocol?: string };

/** What a provider says about itself; lists and `/readyz` are honest because of it. */
export type ProviderState = {
  readonly status: ProviderStatus;
  /** Why it is not ok, or what is left out of what it offers although it is; safe to show. */
  readonly message?: string;
  readonly about?: About;
};

/** Why a session is not served here any more: it is over, or it goes on in another process. */
export type Departure = "ended" | "moved";

/** What the kernel does for a provider. */
export interface Host {
  /**
   * Replaces what this provider offers to that scope, kind by kind. An empty list withdraws the scope. A promise where that
   * takes a while; offers come into force in the order in which they are made. `effort`: what it takes is added to it.
   */
  offer(scope: Scope, offers: readonly Offer[], effort?: Effort): void | Promise<void>;
  notice(notice: Notice): void;
  /** Asks a client outside any call. Rejects with NOT_ALLOWED where there is no way to that client. */
  ask(session: SessionRef, ask: Ask, signal: AbortSignal): Promise<Answer>;
  state(state: ProviderState): void;
}

/**
 * Something that can be called. `create` does no I/O; `open` connects and resolves when the provider has offered or
 * failed once; `close` is safe to call twice.
 */
export interface Provider {
  readonly id: string;
  open(host: Host, signal: AbortSignal): Promise<void>;
  /** Writes exactly one `end` or `error` unless it throws. A call that is cancelled hears of it by `reply`. */
  readonly run: Next;
  reply(callId: string, reply: CallReply): void;
  /** Makes what this session sees ready; resolves to the scope whose offers are the session's. */
  scope(session: SessionRef): Promise<Scope>;
  /** Something a client says outside any call: roots changed, a log level, a notification nobody here knows. */
  notify(session: SessionRef, method: string, input: Payload): void;
  /**
   * Somebody looks at what it offers of this kind: what may be out of date is read again behind the scenes. Absent: what
   * it offers is never out of date.
   */
  refresh?(session: SessionRef | undefined, kind: ListedKind): void;
  /** How many sessions, processes or connections of its own it holds now. */
  upstreamCount(): number;
  /**
   * The session has left, "ended" unless told otherwise: whatever was held for it is given back. Of one that moved nothing
   * is ended that another process can go on with.
   */
  release(session: SessionRef, reason?: Departure): void;
  close(): Promise<void>;
}
