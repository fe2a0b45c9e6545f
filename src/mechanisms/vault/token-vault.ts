/** Tokens for servers behind us: sealed in their records, each bound to whom and what it is for. */
import { createHash } from "node:crypto";
import {
  type AuditTrail,
  type Change,
  DEFAULT_TENANT,
  identityOf,
  type KeyProvider,
  type Principal,
  type RiskClass,
  sourceOf,
  type UpstreamToken,
  type UpstreamTokenFilter,
  type UpstreamTokenRow,
  type UpstreamTokenRows,
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
  /** For whom it is got just now; the same token may serve others of the same user and client, if the same source vouches. */
  readonly principal: string;
  /** Whose word it is that they are this user and client, as `wordOf` has it; unset: theirs with whom the principal's id begins. */
  readonly source?: string;
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
    if (!row) return await this.#adopt(owner);
    return row.expiresAt > this.#options.now() ? await this.#open(row) : undefined;
  }

  /** A record from when ids did not tell who vouched for its owner: it is theirs for whose source it was got, nobody else's. */
  async #former(owner: TokenOwner): Promise<UpstreamTokenRow | undefined> {
    const row = await this.#options.rows.get(formerId(owner));
    return row && sourceOf({ id: row.principal }) === ownSource(owner) ? row : undefined;
  }

  async #adopt(owner: TokenOwner): Promise<KeptToken | undefined> {
    const { rows, now } = this.#options;
    const former = await this.#former(owner);
    const kept = former && former.expiresAt > now() ? await this.#open(former) : undefined;
    if (!former || !kept) return undefined;
    const { version: _version, leasedUntil: _leased, ...facts } = former;
    await this.#put(
      { ...facts, source: ownSource(owner) },
      kept.text,
      [{ table: "upstreamTokens", type: "remove", id: former.id }],
      0,
    );
    const row = await rows.get(tokenId(owner));
    return row && (await this.#open(row));
  }

  async #open(row: UpstreamTokenRow): Promise<KeptToken | undefined> {
    const text = await openEnvelope(await this.#options.keys(), row, boundOf(row));
    return text === undefined ? undefined : { row, text };
  }

  /** Always under the newest key. False: the record has another version than `ifVersion`, and nothing was written. */
  put(facts: TokenFacts, text: string, ifVersion?: number): Promise<boolean> {
    return this.#put(facts, text, [], ifVersion);
  }

  async #put(kept: TokenFacts, text: string, more: readonly Change[], ifVersion?: number): Promise<boolean> {
    const { source: _inItsId, ...facts } = kept;
    const expiresAt = Math.round(Math.min(facts.expiresAt, this.#options.now() + MAX_TOKEN_MS));
    const plain = { ...facts, expiresAt, id: tokenId(kept) };
    const token = { ...plain, ...(await sealEnvelope(await this.#options.keys(), text, boundOf(plain))) };
    const change: Change = {
      table: "upstreamTokens",
      type: "put",
      token,
      ...(ifVersion !== undefined && { ifVersion }),
    };
    return await this.#commit("dev.isthmus.upstream_token_stored", facts, [change, ...more]);
  }

  /** One process at a time makes a new token of an old one. False: another does, or has. */
  async lease({ id, version }: UpstreamTokenRow, ms: number): Promise<boolean> {
    const until = this.#options.now() + ms;
    const change: Change = { table: "upstreamTokens", type: "lease", id, ifVersion: version, until };
    return await this.#options.write([change]);
  }

  /** A record is removed under the id that it has, also where somebody has changed the rest of it. */
  async remove(owner: TokenOwner | UpstreamTokenRow, reason: string): Promise<void> {
    const ids = "id" in owner ? [owner.id] : [tokenId(owner), (await this.#former(owner))?.id];
    const changes = ids
      .filter((id) => id !== undefined)
      .map((id): Change => ({ table: "upstreamTokens", type: "remove", id }));
    await this.#commit("dev.isthmus.upstream_token_removed", owner, changes, reason);
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

export function tokenId(owner: TokenOwner): string {
  const { server, tenant, client, user, session } = owner;
  return hashOf([server, tenant, client, user, session, ownSource(owner)]);
}

function ownSource({ source, principal }: TokenOwner): string {
  return source ?? sourceOf({ id: principal });
}

/**
 * Who vouches for the names of a caller. Of tokens of the gateway it is whoever has named their bearers: the platform, or somebody of
 * a tenant, who may have kept any token that it gave a name to, so that each of these is one of its own.
 */
export function wordOf(principal: Principal): string {
  const { tenant, namedBy } = identityOf(principal);
  const source = sourceOf(principal);
  if (namedBy === "tenant") return principal.id;
  return source === "token" && tenant !== DEFAULT_TENANT ? "token of the platform" : source;
}

function formerId({ server, tenant, client, user, session }: TokenOwner): string {
  return hashOf([server, tenant, client, user, session]);
}

function hashOf(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

type Plain = Omit<UpstreamToken, "ciphertext" | "wrappedKey" | "nonce" | "keyId">;

/** Every field that is not encrypted, in one order. */
function boundOf(token: Plain): string {
  const { id, server, tenant, client, user, principal, session, riskClass, scopes, audience, expiresAt } = token;
  return JSON.stringify([id, server, tenant, client, user, principal, session, riskClass, scopes, audience, expiresAt]);
}
