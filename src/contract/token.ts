import type { Role } from "./principal.ts";

/** A token that this gateway has given out, as it is kept: whoever reads the rows cannot call with them. */
export type TokenRow = {
  /** SHA-256 of the token, in hex. */
  readonly hash: string;
  /** By which people name it. */
  readonly id: string;
  readonly tenant: string;
  readonly user: string;
  /** The client that it was given to, as somebody named it; "" where nobody did. */
  readonly client: string;
  readonly groups: readonly string[];
  readonly scopes: readonly string[];
  readonly role: Role | undefined;
  /** Times are everybody's, in ms. */
  readonly createdAt: number;
  readonly createdBy: string;
  /** Undefined: it is good until it is revoked. */
  readonly expiresAt: number | undefined;
  /** Coarse: what matters is whether anybody still uses it. */
  readonly lastUsedAt: number | undefined;
};

/** One that is removed must be there: else the change is missed. */
export type TokenChange = { readonly table: "tokens" } & (
  | { readonly type: "add"; readonly row: TokenRow }
  | { readonly type: "remove"; readonly id: string }
);

export interface TokenRows {
  find(hash: string): Promise<TokenRow | undefined>;
  get(id: string): Promise<TokenRow | undefined>;
  /** By id, those after `after`. */
  list(limit: number, after?: string): Promise<readonly TokenRow[]>;
  touch(hash: string, usedAt: number): Promise<void>;
  /** Forgets what has expired; resolves to how many. */
  expire(now: number): Promise<number>;
}
