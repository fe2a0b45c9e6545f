/** Tokens for servers behind us: sealed in their records, each bound to whom and what it is for. */
import { createHash } from "node:crypto";
import type {
  AuditTrail,
  Change,
  KeyProvider,
  RiskClass,
  UpstreamToken,
  UpstreamTokenFilter,
  UpstreamTokenRow,
  UpstreamTokenRows,
} from "../../contract/index.ts";
import { openEnvelope, sealEnvelope } from "./envelope.ts";

/** No record lives longer, whatever an issuer says: a key that is older than this can be forgotten. */
export const MAX_TOKEN_MS = 90 * 24 * 60 * 60_000;
/** How many are looked at together when they are to be taken back. */
const PAGE = 100;

/** Whom a token is for. `session`: of risk class 2 only. */
export type TokenOwner = {
  readonly server: string;
  readonly tenant: string;
  readonly client: string;
  readonly user: string;
  /** For whom it is got just now; the same token may serve others of the same user and client. */
  readonly principal: string;
  readonly session: string;
};

/** What is kept beside the token itself, and can be read without a key. */
export type TokenFacts = TokenOwner & {
  readonly riskClass: RiskClass;
  readonly scopes: string;
  readonly audience: string;
  readonly expiresAt: number;
};

export type KeptToken = { readonly row: UpstreamTokenRow; readonly text: string };

export type FoundToken = { readonly row: UpstreamTokenRow; readonly text: string | undefined };

export type TokenVaultOptions = {
  readonly rows: UpstreamTokenRows;
  readonly audit: AuditTrail;
  /** As `Records.write`: for what nobody could want to know later. */
  readonly write: (changes: readonly Change[]) => Promise<boolean>;
  readonly keys: () => Promise<KeyProvider>;
  readonly now: () => number;
};

export class TokenVault {
  readonly #options: TokenVaultOptions;

  constructor(options: TokenVaultOptions) {
    this.#options = options;
  }

  /** Undefined: there is none, it has expired, or it does not open. */
  async get(owner: TokenOwner): Promise<KeptToken | undefined> {
    const row = await this.#options.rows.get(tokenId(owner));
    if (!row || row.expiresAt <= this.#options.now()) return undefined;
    return await this.#open(row);
  }

  async #open(row: UpstreamTokenRow): Promise<KeptToken | undefined> {
    const text = await openEnvelope(await this.#options.keys(), row, boundOf(row));
    return text === undefined ? undefined : { row, text };
  }

  /** Always under the newest key. False: the record has another version than `ifVersion`, and nothing was written. */
  async put(facts: TokenFacts, text: string, ifVersion?: number): Promise<boolean> {
    const expiresAt = Math.round(Math.min(facts.expiresAt, this.#options.now() + MAX_TOKEN_MS));
    const plain = { ...facts, expiresAt, id: tokenId(facts) };
    const token = { ...plain, ...(await sealEnvelope(await this.#options.keys(), text, boundOf(plain))) };
    const change: Change = {
      table: "upstreamTokens",
      type: "put",
      token,
      ...(ifVersion !== undefined && { ifVersion }),
    };
    return await this.#commit("dev.isthmus.upstream_token_stored", facts, [change]);
  }

  /** One process at a time makes a new token of an old one. False: another does, or has. */
  async lease({ id, version }: UpstreamTokenRow, ms: number): Promise<boolean> {
    const until = this.#options.now() + ms;
    const change: Change = { table: "upstreamTokens", type: "lease", id, ifVersion: version, until };
    return await this.#options.write([change]);
  }

  /** A record is removed under the id that it has, also where somebody has changed the rest of it. */
  async remove(owner: TokenOwner | UpstreamTokenRow, reason: string): Promise<void> {
    const id = "id" in owner ? owner.id : tokenId(owner);
    const change: Change = { table: "upstreamTokens", type: "remove", id };
    await this.#commit("dev.isthmus.upstream_token_removed", owner, [change], reason);
  }

  /** All of them, however many, some at a time; without their text where they do not open. */
  async *find(filter: UpstreamTokenFilter): AsyncGenerator<readonly FoundToken[]> {
    const { rows, now } = this.#options;
    for (let after: string | undefined = ""; after !== undefined; ) {
      const page: readonly UpstreamTokenRow[] = await rows.find(filter, now(), PAGE, after);
      yield await Promise.all(page.map(async (row) => ({ row, text: (await this.#open(row))?.text })));
      after = page.length < PAGE ? undefined : page.at(-1)?.id;
    }
  }

  sweep(): Promise<number> {
    return this.#options.rows.expire(this.#options.now());
  }

  #commit(
    type: "dev.isthmus.upstream_token_stored" | "dev.isthmus.upstream_token_removed",
    { server, tenant, client, user, session }: TokenOwner,
    changes: readonly Change[],
    reason?: string,
  ): Promise<boolean> {
    const details = { client, ...(session !== "" && { session }), ...(reason !== undefined && { reason }) };
    const actor = { type: "user", id: user } as const;
    return this.#options.audit.commit(
      { type, tenant, actor, target: { server, name: "" }, result: "SUCCESS", details },
      changes,
    );
  }
}

export function tokenId({ server, tenant, client, user, session }: TokenOwner): string {
  const parts = JSON.stringify([server, tenant, client, user, session]);
  return createHash("sha256").update(parts).digest("base64url");
}

type Plain = Omit<UpstreamToken, "ciphertext" | "wrappedKey" | "nonce" | "keyId">;

/** Every field that is not encrypted, in one order. */
function boundOf(token: Plain): string {
  const { id, server, tenant, client, user, principal, session, riskClass, scopes, audience, expiresAt } = token;
  return JSON.stringify([id, server, tenant, client, user, principal, session, riskClass, scopes, audience, expiresAt]);
}
