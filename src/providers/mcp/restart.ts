const MIN_MS = 200;
const MAX_MS = 30_000;
/** A session that lasted this long starts from the shortest pause again. */
const STABLE_MS = 60_000;
/** Sessions that the server forgets faster than this are opened with pauses. */
const EXPIRY_MS = 5000;

/** Pauses between attempts to open a session: doubled each time, shortened at random so that many do not come at once. */
export class Backoff {
  #failures = 0;
  #openedAt: number | undefined;
  readonly #random: () => number;
  #expiredAt = Number.NEGATIVE_INFINITY;
  /** Not before this time, on the clock given to the methods. */
  notBefore = 0;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  opened(now: number): void {
    this.#openedAt = now;
  }

  /** The server forgot the session. That is no failure, unless it does little else. */
  expired(now: number): void {
    if (now - this.#expiredAt < EXPIRY_MS) this.failed(now);
    this.#expiredAt = now;
  }

  /** An attempt failed, or an open session was lost. */
  failed(now: number): void {
    if (this.#openedAt !== undefined && now - this.#openedAt >= STABLE_MS) this.#failures = 0;
    this.#openedAt = undefined;
    const pause = Math.min(MIN_MS * 2 ** this.#failures, MAX_MS);
    this.#failures = Math.min(this.#failures + 1, 16);
    this.notBefore = now + pause * (0.5 + this.#random() / 2);
  }
}
