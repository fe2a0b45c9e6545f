import type { Approval } from "./approval.ts";
import { type CallerNames, DEFAULT_TENANT, type Role } from "./principal.ts";

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
  /** Who could have kept it, by `makerName`: who made or rotated it, and who made the tokens by which they could. */
  readonly makers: readonly string[];
  /** Whose word user, client and groups are; undefined: it is from before that was kept. */
  readonly namedBy: NamedBy | undefined;
  /** What those of a tenant are called who made it, or the tokens by which they could: what is denied to them is denied to it. */
  readonly makerNames: readonly CallerNames[];
  /** Undefined: it is good until it is revoked. */
  readonly expiresAt: number | undefined;
  /** Coarse: what matters is whether anybody still uses it. */
  readonly lastUsedAt: number | undefined;
};

export const NAMED_BY = ["platform", "tenant"] as const;
export type NamedBy = (typeof NAMED_BY)[number];

/** How the ids of those begin who are of the platform for certain. */
const PLATFORMS = /^(local$|operator$|token:default\/)/;

/** Where it was not kept, what nobody of the platform has made for certain is the tenant's word. */
export function namedByOf({ namedBy, tenant, createdBy }: Pick<TokenRow, "namedBy" | "tenant" | "createdBy">): NamedBy {
  if (tenant === DEFAULT_TENANT) return "platform";
  if (namedBy !== undefined) return namedBy;
  return PLATFORMS.test(createdBy) && !createdBy.startsWith(`token:${tenant}/`) ? "platform" : "tenant";
}

/** By which whoever makes tokens is known, with whatever they come: the user, else the principal. */
export function makerName({ tenant, user, principal }: Pick<Approval, "tenant" | "user" | "principal">): string {
  return user === "" ? principal : `user:${tenant}/${user}`;
}

/** How the ids of tokens' bearers are made: tenant, user and the token's id. */
const TOKEN_BEARER = /^token:([^/]*)\/(.+)\/[^/]+$/;

/** Where it was not kept, who made it is known by its id alone, and who made theirs is not. */
export function makersOf({ makers, createdBy }: Pick<TokenRow, "makers" | "createdBy">): readonly string[] {
  if (makers.length > 0 || createdBy === "local" || createdBy === "operator") return makers;
  const [, tenant = "", user = ""] = TOKEN_BEARER.exec(createdBy) ?? [];
  return [makerName({ tenant, user, principal: createdBy })];
}

/** One that is removed must be there: else the change is missed. */
export type TokenChange = { readonly table: "tokens" } & (
  | { readonly type: "add"; readonly row: TokenRow }
  | { readonly type: "remove"; readonly id: string }
);

export interface TokenRows {
  find(hash: string): Promise<TokenRow | undefined>;
  get(id: string): Promise<TokenRow | undefined>;
  /** By id, those after `after`; of one tenant, or of all. */
  list(limit: number, after?: string, tenant?: string): Promise<readonly TokenRow[]>;
  /** How many of a tenant have not expired. */
  count(tenant: string, now: number): Promise<number>;
  touch(hash: string, usedAt: number): Promise<void>;
  /** Forgets what has expired; resolves to how many. */
  expire(now: number): Promise<number>;
}

const PAGE = 1_000;

/** All of a tenant, or of all, read in pages. */
export async function* eachToken(rows: Pick<TokenRows, "list">, tenant?: string): AsyncIterable<TokenRow> {
  for (let after: string | undefined, isMore = true; isMore; ) {
    const page = await rows.list(PAGE, after, tenant);
    yield* page;
    after = page.at(-1)?.id;
    isMore = page.length === PAGE;
  }
}
