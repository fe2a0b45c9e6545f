import type { Identity } from "../../contract/index.ts";
import { agentRank, targetRank } from "./caller-rank.ts";
import { alone, hasScope } from "./decide.ts";
import { type AccessPolicy, ANY, type Binding, type Grant, type TenantPolicy } from "./policy.ts";

/** What of a policy is about one caller. Equal keys, of one policy: the same is decided about both. */
export type Narrowed = { readonly policy: AccessPolicy; readonly key: string };

export function narrow(policy: AccessPolicy, identity: Identity): Narrowed {
  const { tenant, proof } = identity;
  const platform = narrowed(policy, identity);
  const of = policy.tenants.get(tenant);
  const own = of && narrowed(of, alone(identity));
  const asked = new Set(policy.scopes.flatMap(({ scopes }) => scopes));
  const held = [...asked].filter((scope) => hasScope(identity, scope));
  return {
    policy: {
      ...policy,
      ...itemsOf(platform),
      tenants: new Map(of && own ? [[tenant, { ...of, ...itemsOf(own) }]] : []),
    },
    key: JSON.stringify([tenant, proof === "local", placesOf(platform), own && placesOf(own), held]),
  };
}

type RankedRows = {
  readonly grants: readonly Ranked<Grant>[];
  readonly bindings: readonly Ranked<Binding>[];
};

function narrowed({ grants, bindings }: TenantPolicy, identity: Identity): RankedRows {
  const isOwn = (of: string) => of === ANY || of === identity.tenant;
  return {
    grants: ranked(grants, (grant) => (isOwn(grant.tenant) ? agentRank(grant, identity) : undefined)),
    bindings: ranked(bindings, (binding) => (isOwn(binding.tenant) ? targetRank(binding, identity) : undefined)),
  };
}

function itemsOf({ grants, bindings }: RankedRows): Pick<AccessPolicy, "grants" | "bindings"> {
  return { grants: grants.map(({ item }) => item), bindings: bindings.map(({ item }) => item) };
}

function placesOf({ grants, bindings }: RankedRows): readonly unknown[] {
  return [grants.map(placeOf), bindings.map(placeOf)];
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
