/** Looks up the tokens that this gateway has given out. */
import { isTenantName, type Log, type Principal, type TokenRows } from "../../contract/index.ts";
import { refuse } from "./refusal.ts";
import { isSameHash, principalOfToken } from "./static-token.ts";

export type StaticTokensOptions = {
  readonly rows: TokenRows;
  /** Everybody's clock. */
  readonly now: () => number;
  readonly log: Log;
};

/** How exactly it is told when a token was last used. */
const COARSE_MS = 60 * 60_000;

export class StaticTokens {
  readonly #options: StaticTokensOptions;

  constructor(options: StaticTokensOptions) {
    this.#options = options;
  }

  /** Rejects with NOT_AUTHENTICATED or STATE_UNAVAILABLE. */
  async verify(hash: string): Promise<Principal> {
    const { rows, now } = this.#options;
    const row = await rows.find(hash);
    if (!row || !isSameHash(row.hash, hash)) throw refuse("unknown");
    // Somebody may have made it when such a name could still be given.
    if (!isTenantName(row.tenant)) throw refuse("claims");
    if (row.expiresAt !== undefined && row.expiresAt <= now()) throw refuse("expired");
    if (now() - (row.lastUsedAt ?? 0) > COARSE_MS) this.#touch(hash);
    return principalOfToken(row);
  }

  /** Nobody waits for it. */
  #touch(hash: string): void {
    const { rows, now, log } = this.#options;
    rows.touch(hash, now()).catch((cause: unknown) => log.debug("use of a token not noted", { cause }));
  }
}
