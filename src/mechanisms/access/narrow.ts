import type { Identity } from "../../contract/index.ts";
import { agentOf, hasScope, targetRank } from "./decide.ts";
import { type AccessPolicy, ANY } from "./policy.ts";
import { idRank } from "./precedence.ts";

/** What of a policy is about one caller. Equal keys, of one policy: the same is decided about both. */
export type Narrowed = { readonly policy: AccessPolicy; readonly key: string };

export function narrow(policy: AccessPolicy, identity: Identity): Narrowed {
  const { tenant, proof } = identity;
  const agent = agentOf(identity);
  const isOwn = (of: string) => of === ANY || of === tenant;
  const grants = ranked(policy.grants, (grant) => (isOwn(grant.tenant) ? idRank(grant.agent, agent) : undefined));
  const bindings = ranked(policy.bindings, ({ tenant: of, target }) =>
    isOwn(of) ? targetRank(target, identity) : undefined,
  );
  const asked = new Set(policy.scopes.flatMap(({ scopes }) => scopes));
  const held = [...asked].filter((scope) => hasScope(identity, scope));
  return {
    policy: { ...policy, grants: grants.map(({ item }) => item), bindings: bindings.map(({ item }) => item) },
    key: JSON.stringify([tenant, proof === "local", grants.map(placeOf), bindings.map(placeOf), held]),
  };
}

type Ranked<Item> = { readonly item: Item; readonly place: number; readonly rank: number };

function ranked<Item>(items: readonly Item[], rankOf: (item: Item) => number | undefined): readonly Ranked<Item>[] {
  return items.flatMap((item, place) => {
    const rank = rankOf(item);
    return rank === undefined ? [] : [{ item, place, rank }];
  });
}

function placeOf({ place, rank }: Ranked<unknown>): readonly number[] {
  return [place, rank];
}
