/** Gives each claim of a view a name of its own, the same whatever order views are made in. */
import { markName, type Naming } from "../../contract/index.ts";
import { type NameClaim, RANKS } from "./name-claims.ts";

export type SettledNames<Part> = {
  /** The names of each part that had to give way, by the provider's own name. */
  readonly moved: ReadonlyMap<Part, ReadonlyMap<string, string>>;
  /** The part that has a name. */
  readonly owners: ReadonlyMap<string, Part>;
  /** Claims whose given name was taken. */
  readonly refused: readonly NameClaim[];
};

/** `parts` in file order. */
export function settleNames<Part extends { readonly claims: readonly NameClaim[] }>(
  parts: readonly Part[],
  naming: Naming,
): SettledNames<Part> {
  const owners = new Map<string, Part>();
  const moved = new Map<Part, Map<string, string>>();
  const refused: NameClaim[] = [];
  for (const rank of Object.values(RANKS)) {
    for (const part of parts) {
      // A provider may offer one name twice; both are then shown, and the first answers.
      const seen = new Set<string>();
      for (const claim of part.claims) {
        if (claim.rank !== rank || seen.has(claim.primitive.name)) continue;
        seen.add(claim.primitive.name);
        const name = freeName(claim, owners, naming);
        owners.set(name, part);
        if (name === claim.name) continue;
        const names = moved.get(part) ?? new Map<string, string>();
        moved.set(part, names.set(claim.primitive.name, name));
        if (claim.rank === RANKS.renamed) refused.push(claim);
      }
    }
  }
  return { moved, owners, refused };
}

function freeName(claim: NameClaim, owners: ReadonlyMap<string, unknown>, naming: Naming): string {
  if (!owners.has(claim.name)) return claim.name;
  if (!owners.has(claim.unrenamed)) return claim.unrenamed;
  for (let again = 0; ; again++) {
    const name = markName(claim.dotted, naming, again);
    if (!owners.has(name)) return name;
  }
}
