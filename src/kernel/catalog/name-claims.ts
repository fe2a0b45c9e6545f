/** The names under which one provider's tools or prompts want to stand in a view. */
import { joinName, type Naming, type Primitive, type Steps, underscoreName } from "../../contract/index.ts";
import type { CatalogRules } from "./catalog-rules.ts";

/** Who keeps a name that several want: the smaller one. */
export const RANKS = { exact: 0, clear: 1, mapped: 2, renamed: 3 } as const;

export type NameClaim = {
  readonly primitive: Primitive;
  /** Its full name inside: what patterns and renames speak about. */
  readonly dotted: string;
  /** What it is called unless that is taken. */
  readonly name: string;
  /** What it is called when a name it was given is taken. */
  readonly unrenamed: string;
  readonly rank: (typeof RANKS)[keyof typeof RANKS];
};

export type ClaimOptions = {
  readonly segment: string;
  /** Names pass exactly as they are. */
  readonly isExact: boolean;
  readonly naming: Naming;
  readonly rules: CatalogRules | undefined;
};

export function* claimNames(primitives: readonly Primitive[], options: ClaimOptions): Steps<NameClaim[]> {
  const { rules } = options;
  const dottedNames = new DottedNames(options.segment);
  const claims: NameClaim[] = [];
  for (const primitive of primitives) {
    const dotted = dottedNames.take(primitive.name);
    if (!rules || rules.shows(dotted)) claims.push(claimFor(primitive, dotted, options));
    yield;
  }
  return claims;
}

function claimFor(primitive: Primitive, dotted: string, options: ClaimOptions): NameClaim {
  const { segment, isExact, naming, rules } = options;
  const unrenamed = isExact || naming === "dotted" ? dotted : underscoreName(segment, dotted);
  const given = rules?.renamed(dotted);
  if (given !== undefined) {
    const name = naming === "dotted" ? given : underscoreName("", given);
    return { primitive, dotted, name, unrenamed, rank: RANKS.renamed };
  }
  const rank = isExact ? RANKS.exact : isClear(unrenamed, dotted, options) ? RANKS.clear : RANKS.mapped;
  return { primitive, dotted, name: unrenamed, unrenamed, rank };
}

/** Whether no other segment and no other name of the provider can come to the same name by these rules. */
function isClear(shown: string, dotted: string, { segment, naming }: ClaimOptions): boolean {
  if (naming === "dotted" || shown === dotted) return true;
  return segment !== "" && shown === dotted.replace(".", "__");
}

/** Two names that differ only in characters a segment maps away stay two names. */
class DottedNames {
  readonly #segment: string;
  readonly #owners = new Map<string, string>();
  readonly #copies = new Map<string, number>();

  constructor(segment: string) {
    this.#segment = segment;
  }

  take(own: string): string {
    const name = joinName(this.#segment, own);
    if (this.#segment === "") return name;
    const free = this.#isFor(name, own) ? name : this.#copyFor(name, own);
    this.#owners.set(free, own);
    return free;
  }

  #isFor(name: string, own: string): boolean {
    const owner = this.#owners.get(name);
    return owner === undefined || owner === own;
  }

  #copyFor(name: string, own: string): string {
    // Goes on where the last one stopped: a server may offer very many names that fall together.
    let copy = this.#copies.get(name) ?? 2;
    while (!this.#isFor(`${name}_${copy}`, own)) copy++;
    this.#copies.set(name, copy);
    return `${name}_${copy}`;
  }
}
