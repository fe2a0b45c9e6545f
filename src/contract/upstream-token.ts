/** How far a token for a server behind us is trusted to be kept: 1 (high) never, 2 (medium) for a session, 3 (low) for its user. */
export type RiskClass = 1 | 2 | 3;

/** What is kept of a token pair. Everything but the last four is bound to the ciphertext: changed, it does not open. */
export type UpstreamToken = {
  /** The same for the same server and holder. */
  readonly id: string;
  readonly server: string;
  readonly tenant: string;
  /** Which client acts for the user: a hash of its token, or the id it has at its issuer. */
  readonly client: string;
  readonly user: string;
  /** For whom it was last got: it ends with this one, too. */
  readonly principal: string;
  /** Of risk class 2 only; "" otherwise. */
  readonly session: string;
  readonly riskClass: RiskClass;
  /** Sorted, with blanks between. */
  readonly scopes: string;
  /** The resource it is for, as the server's metadata spells it. */
  readonly audience: string;
  /** When the record is worth nothing any more, in ms of everybody's clock. */
  readonly expiresAt: number;
  readonly ciphertext: string;
  readonly wrappedKey: string;
  readonly nonce: string;
  /** Which key of which provider wrapped the data key. */
  readonly keyId: string;
};

/** `version`: grows with each writing. `leasedUntil`: somebody refreshes it until then; 0: nobody. */
export type UpstreamTokenRow = UpstreamToken & { readonly version: number; readonly leasedUntil: number };

/** `ifVersion`: it is missed where the row has another one, or is gone; 0: where there is a row. */
export type UpstreamTokenChange = { readonly table: "upstreamTokens" } & (
  | { readonly type: "put"; readonly token: UpstreamToken; readonly ifVersion?: number }
  | { readonly type: "lease"; readonly id: string; readonly ifVersion: number; readonly until: number }
  | { readonly type: "remove"; readonly id: string }
);

/** Which tokens are meant; what is unset is not asked for. */
export type UpstreamTokenFilter = {
  readonly server?: string;
  readonly tenant?: string;
  readonly client?: string;
  readonly user?: string;
  readonly principal?: string;
  readonly session?: string;
};

export interface UpstreamTokenRows {
  get(id: string): Promise<UpstreamTokenRow | undefined>;
  /** Those that have not expired, in the order of their ids, at most so many. `after`: only those behind this id. */
  find(filter: UpstreamTokenFilter, now: number, limit: number, after?: string): Promise<readonly UpstreamTokenRow[]>;
  /** Forgets what has expired; resolves to how many. */
  expire(now: number): Promise<number>;
}

/** Wraps data keys. What it wrapped under a former key it still unwraps. */
export interface KeyProvider {
  /** The key with which it wraps now, as a URL. */
  readonly id: string;
  /** Says with which key it did: that may have changed since somebody looked. */
  wrap(dataKey: Uint8Array): Promise<{ readonly keyId: string; readonly wrapped: string }>;
  /** Undefined: it has no such key, or the text was not wrapped by it. */
  unwrap(keyId: string, wrapped: string): Promise<Uint8Array | undefined>;
}
