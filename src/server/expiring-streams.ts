/** Streams may outlive what whoever opened them was known by: then they are cut, and their clients come back with something new. */
import { type HttpResponse, identityOf, type Principal, type Timer, type Timers } from "../contract/index.ts";

const LOOK_MS = 5_000;

// Invariants:
//  1. There is a timer exactly while there is something to look at.
export class ExpiringStreams {
  readonly #timers: Timers;
  /** Everybody's clock. */
  readonly #now: () => number;
  /** Whose each is, and until when it is good. */
  readonly #open = new Map<HttpResponse, { readonly principal: Principal; readonly expiresAt: number }>();
  #timer: Timer | undefined;

  constructor(timers: Timers, now: () => number) {
    this.#timers = timers;
    this.#now = now;
  }

  /** An answer that is over soon costs no more than to be looked at once; one to somebody who is known for good, nothing. */
  watch(response: HttpResponse, principal: Principal): void {
    const { expiresAt } = identityOf(principal);
    if (expiresAt === undefined) return;
    this.#open.set(response, { principal, expiresAt });
    this.#timer ??= this.#timers.after(LOOK_MS, () => this.#look());
  }

  /** Cuts those of whoever is meant: a session may have been opened with another token than its stream. */
  drop(isMeant: (principal: Principal) => boolean): void {
    for (const [response, { principal }] of this.#open) {
      if (!response.isOver && isMeant(principal)) cut(response);
    }
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#open.clear();
  }

  #look(): void {
    const now = this.#now();
    for (const [response, { expiresAt }] of this.#open) {
      if (!response.isOver && now < expiresAt) continue;
      this.#open.delete(response);
      if (!response.isOver) cut(response);
    }
    this.#timer = this.#open.size > 0 ? this.#timers.after(LOOK_MS, () => this.#look()) : undefined;
  }
}

/** Whoever writes to it is told as if its client had left, and lets go of it. */
function cut(response: HttpResponse): void {
  response.cut();
  response.onClose?.();
}
