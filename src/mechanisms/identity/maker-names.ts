import {
  type CallerNames,
  DEFAULT_TENANT,
  GatewayError,
  identityOf,
  type Principal,
  type TokenRow,
} from "../../contract/index.ts";

/** In characters, as they are kept: about 250 makers with few groups. Every call of the token is judged by each of them. */
const MAX_NAMES = 64 * 1024;

/**
 * The names that a token bears of its makers: all that the token in whose place it comes has borne, all that its maker bears, and
 * what the maker is called now. Nobody is rid of a name so by which the platform denies something, and of none that somebody bore
 * at another time. What the platform makes bears nothing more. Throws NOT_ALLOWED where it would be too much.
 */
export function makerNamesBy(by: Principal, old: TokenRow | undefined): readonly CallerNames[] {
  const { tenant, user, client, groups, scopes, proof, tokenHash, makerNames = [] } = identityOf(by);
  const before = old?.makerNames ?? [];
  if (tenant === DEFAULT_TENANT) return before;
  // An issuer's token is one of many of the same principal: each would be a maker of its own.
  const hash = proof === "token" && tokenHash !== undefined && { tokenHash };
  const all = [...before, ...makerNames, { id: by.id, user, client, groups, scopes, ...hash }];
  const names = [...new Map(all.map((one) => [keyOf(one), one])).values()];
  if (JSON.stringify(names).length <= MAX_NAMES) return names;
  throw new GatewayError("NOT_ALLOWED", {
    message: `A token bears the names of all who made it and the tokens by which they could, and these are too many (${names.length}). Let the platform's admin make a new token, for its bearer or for you.`,
  });
}

/** The order in which somebody has groups and scopes makes nobody another. */
function keyOf({ id, user, client, groups, scopes }: CallerNames): string {
  return JSON.stringify([id, user, client, [...groups].sort(), [...scopes].sort()]);
}
