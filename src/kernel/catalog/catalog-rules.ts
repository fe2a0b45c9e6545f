/** A catalog that an operator made: which names it shows, and what it calls them. */
import { joinName, matchesPattern, patternCovers, patternReaches, type Target } from "../../contract/index.ts";

/** Patterns and names are dotted ones: `segment.name`. */
export type CatalogPlan = {
  readonly id: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** New names by dotted name. */
  readonly rename: Readonly<Record<string, string>>;
  /** New descriptions by dotted name. */
  readonly descriptions: Readonly<Record<string, string>>;
  /** Whether resources and templates of the included providers are shown. */
  readonly resources: boolean;
  readonly instructions?: string | undefined;
};

export class CatalogRules {
  readonly id: string;
  /** Unequal rules have unequal keys. */
  readonly key: string;
  readonly instructions: string | undefined;
  readonly hasRenames: boolean;
  readonly #plan: CatalogPlan;
  readonly #renames: ReadonlyMap<string, string>;
  readonly #descriptions: ReadonlyMap<string, string>;

  constructor(plan: CatalogPlan) {
    this.id = plan.id;
    this.key = JSON.stringify(plan);
    this.instructions = plan.instructions;
    this.#plan = plan;
    this.#renames = new Map(Object.entries(plan.rename));
    this.#descriptions = new Map(Object.entries(plan.descriptions));
    this.hasRenames = this.#renames.size > 0;
  }

  /** Whether anything of the provider under this segment can be shown. */
  reaches(segment: string): boolean {
    const { include, exclude } = this.#plan;
    return (
      include.some((pattern) => patternReaches(pattern, segment)) &&
      !exclude.some((pattern) => patternCovers(pattern, segment))
    );
  }

  shows(dotted: string): boolean {
    const { include, exclude } = this.#plan;
    const matches = (pattern: string) => matchesPattern(pattern, dotted);
    return include.some(matches) && !exclude.some(matches);
  }

  /** What a provider with this segment calls so, whether or not it offers it just now. */
  showsTarget(segment: string, { kind, name }: Target): boolean {
    if (kind === "tool" || kind === "prompt") return this.shows(joinName(segment, name));
    return kind === "operation" || this.showsResources;
  }

  get showsResources(): boolean {
    return this.#plan.resources;
  }

  renamed(dotted: string): string | undefined {
    return this.#renames.get(dotted);
  }

  description(dotted: string): string | undefined {
    return this.#descriptions.get(dotted);
  }
}
