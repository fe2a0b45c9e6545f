/** Tokens that this gateway gives out itself: random, shown once, kept as a hash. */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { makersOf, namedByOf, type Principal, type TokenRow } from "../../contract/index.ts";

const PREFIX = "isth_";
const TOKEN_BYTES = 32;
const ID_LENGTH = 12;
const STATIC_TOKEN = /^isth_[A-Za-z0-9_-]{43}$/;
const ANYWHERE = /isth_[A-Za-z0-9_-]{43}/;

export function makeToken(): string {
  return PREFIX + randomBytes(TOKEN_BYTES).toString("base64url");
}

/** What is no token of ours is not looked for. */
export function isStaticToken(token: string): boolean {
  return STATIC_TOKEN.test(token);
}

/** One of ours that stands somewhere in a text: in quotes, behind the name of a header, in an address. */
export function staticTokenIn(text: string): string | undefined {
  return ANYWHERE.exec(text)?.[0];
}

/** SHA-256, in hex: enough for what is random, where a password would need more. */
export function tokenHash(token: string): string {
  return hash("sha256", token, "hex");
}

/** By which people name it. */
export function tokenId(hashed: string): string {
  return hashed.slice(0, ID_LENGTH);
}

export function isSameHash(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** Each token is a principal of its own: what one of them began, another of the same user does not see. */
export function principalOfToken(row: TokenRow): Principal {
  const { tenant, user, groups, scopes, role, makerNames, expiresAt } = row;
  const makers = makersOf(row);
  return {
    id: `token:${tenant}/${user}/${row.id}`,
    identity: {
      tenant,
      user,
      client: row.client === "" ? row.hash : row.client,
      groups,
      scopes,
      role,
      proof: "token",
      tokenHash: row.hash,
      ...(makers.length > 0 && { makers }),
      ...(namedByOf(row) === "tenant" && { namedBy: "tenant" as const }),
      ...(makerNames.length > 0 && { makerNames }),
      ...(expiresAt !== undefined && { expiresAt }),
    },
  };
}
