import { identityOf, type Principal } from "../../../contract/index.ts";

type Shown = { readonly token: string; readonly until: number };

const MAX_SHOWN = 10_000;
/** Of a token whose end nobody told. */
const UNTOLD_MS = 5 * 60_000;

/** What callers have proved themselves with, the newest of each: kept in memory alone, and given to issuers alone. */
export class SubjectTokens {
  readonly #shown = new Map<string, Shown>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Only what an issuer signed can be exchanged. */
  show(principal: Principal, token: string): void {
    const { proof, expiresAt } = identityOf(principal);
    if (proof !== "oidc") return;
    this.#shown.delete(principal.id);
    this.#shown.set(principal.id, { token, until: expiresAt ?? this.#now() + UNTOLD_MS });
    const [oldest] = this.#shown.keys();
    if (this.#shown.size > MAX_SHOWN && oldest !== undefined) this.#shown.delete(oldest);
  }

  of({ id }: Principal): string | undefined {
    const shown = this.#shown.get(id);
    return shown && shown.until > this.#now() ? shown.token : undefined;
  }
}
