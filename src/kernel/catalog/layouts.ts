/** The layouts that are in use, one for each catalog and each different thing that its callers are offered. */
import type { ListedKind, MappedUris, Naming, Payload, ViewList } from "../../contract/index.ts";
import { type CatalogPlan, CatalogRules } from "./catalog-rules.ts";
import { JoinedList } from "./joined-list.ts";
import type { Compiler } from "./view-entry.ts";
import { ViewLayout, type ViewMember } from "./view-layout.ts";
import type { ViewPart } from "./view-part.ts";

/** How names look, and which catalogs there are beside everything and each provider alone. */
export type Arrangement = { readonly naming: Naming; readonly catalogs: readonly CatalogPlan[] };

export type LayoutsOptions = {
  readonly compiler: Compiler;
  readonly mapLinks: (definition: Payload, uris: MappedUris) => Payload;
  /** A name that the operator gave is taken by something else in the catalog; told once. */
  readonly onNameTaken: (taken: NameTaken) => void;
  /** Somebody wants what is held back. */
  readonly onHeld?: (kind: ListedKind, name: string) => void;
};

export type NameTaken = { readonly catalog: string; readonly target: string; readonly name: string };

/** Lists of one kind that different sessions see at the same time and that stay one object each. */
const MAX_LISTS = 64;
/** Layouts of one catalog that are looked through for one that can be shared. */
const MAX_SHARED = 64;
const MAX_TOLD = 1000;

export class Layouts {
  readonly #options: LayoutsOptions;
  readonly #layouts = new Map<string, WeakRef<ViewLayout>[]>();
  readonly #lists = new Map<string, JoinedList[]>();
  readonly #told = new Set<string>();
  #key = "";
  #naming: Naming = "dotted";
  #rules: ReadonlyMap<string, CatalogRules> = new Map();

  constructor(options: LayoutsOptions) {
    this.#options = options;
  }

  /** False when that is how it is already. */
  arrange({ naming, catalogs }: Arrangement): boolean {
    const key = JSON.stringify([naming, catalogs]);
    if (key === this.#key) return false;
    this.#key = key;
    this.#naming = naming;
    this.#rules = new Map(catalogs.map((plan) => [plan.id, new CatalogRules(plan)]));
    this.#layouts.clear();
    this.#lists.clear();
    this.#told.clear();
    return true;
  }

  rulesOf(catalog: string): CatalogRules | undefined {
    return this.#rules.get(catalog);
  }

  find(catalog: string, members: readonly ViewMember[]): ViewLayout {
    const alive = (this.#layouts.get(catalog) ?? []).filter((ref) => ref.deref() !== undefined);
    for (const ref of alive) {
      const layout = ref.deref();
      if (layout?.shows(members)) return layout;
    }
    const layout = this.#make(catalog, members);
    this.#layouts.set(catalog, [new WeakRef(layout), ...alive.slice(0, MAX_SHARED - 1)]);
    return layout;
  }

  #make(catalog: string, members: readonly ViewMember[]): ViewLayout {
    const rules = this.#rules.get(catalog);
    const { compiler, mapLinks, onHeld = () => undefined } = this.#options;
    return new ViewLayout({
      naming: this.#naming,
      rules,
      members,
      compiler,
      mapLinks,
      sameList: (kind, parts) => this.#sameList(`${catalog} ${kind}`, parts, rules !== undefined),
      onHeld,
      onRefused: ({ dotted, name }) => this.#tellTaken({ catalog, target: dotted, name }),
    });
  }

  /** `isPartial`: much of what its providers change is not shown, so that equal texts must count as the same list. */
  #sameList(key: string, parts: readonly ViewPart[], isPartial: boolean): ViewList {
    const known = this.#lists.get(key) ?? [];
    const list = new JoinedList(parts);
    const same = known.find((one) => one.shows(parts) || (isPartial && one.equals(list)));
    if (same) return same;
    this.#lists.set(key, [list, ...known.slice(0, MAX_LISTS - 1)]);
    return list;
  }

  #tellTaken(taken: NameTaken): void {
    const key = JSON.stringify(taken);
    if (this.#told.has(key) || this.#told.size >= MAX_TOLD) return;
    this.#told.add(key);
    this.#options.onNameTaken(taken);
  }
}
