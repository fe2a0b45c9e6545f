/** What one caller may reach of a view, and nothing that tells of the rest. */
import type { Entry, ListedKind, Principal, ProviderFacts, Reach, View, ViewList } from "../../contract/index.ts";
import { EntryTexts } from "./entry-texts.ts";
import type { LiveView } from "./live-view.ts";

export class AllowedView implements View {
  readonly version: number;
  readonly providers: readonly ProviderFacts[];
  readonly isPartial: boolean;
  readonly instructions: string | undefined;
  readonly #view: LiveView;
  readonly #catalog: string;
  readonly #reach: Reach;
  readonly #lists = new Map<ListedKind, ViewList>();

  constructor(view: LiveView, catalog: string, reach: Reach) {
    this.#view = view;
    this.#catalog = catalog;
    this.#reach = reach;
    this.version = view.version;
    this.providers = view.providers.filter(({ id }) => reach.reachesProvider(id, catalog));
    this.isPartial = view.isPartial || !reach.hasRaw;
    this.instructions = view.instructions;
  }

  list(kind: ListedKind): ViewList {
    const known = this.#lists.get(kind);
    if (known) return known;
    const list = this.#listOf(kind);
    this.#lists.set(kind, list);
    return list;
  }

  #listOf(kind: ListedKind): ViewList {
    const whole = this.#view.list(kind);
    const places = this.#view.layout
      .entries(kind)
      .map((entry, place) => (entry && this.#isReached(entry) ? place : -1));
    const shown = places.filter((place) => place >= 0);
    return shown.length === whole.count ? whole : new AllowedList(whole, shown, this.#view.layout.names(kind));
  }

  #isReached(entry: Entry): boolean {
    return this.#reach.reaches(entry, this.#catalog);
  }

  resolve(kind: ListedKind, name: string, by?: Principal): Entry | undefined {
    const entry = this.#view.resolve(kind, name);
    if (!entry || !this.#reach.conceals || this.#isReached(entry)) return entry;
    if (by) this.#reach.refused(entry, this.#catalog, by);
    return undefined;
  }

  hears(entry: Entry): boolean {
    return this.#reach.hears(entry, this.#catalog);
  }

  hearsOf(provider: string, uri: string): boolean {
    const found = this.#view.layout.found(provider, uri);
    return found !== undefined && this.#reach.hears(found, this.#catalog);
  }

  raw(provider: string, method: string): Entry | undefined {
    return this.#reach.reachesProvider(provider, this.#catalog) ? this.#view.raw(provider, method) : undefined;
  }
}

/** The entries of a list that stand at these places. */
class AllowedList implements ViewList {
  readonly extras: string;
  readonly pins: string | undefined;
  readonly #whole: ViewList;
  readonly #places: readonly number[];
  readonly #names: readonly string[];
  #texts: EntryTexts | undefined;
  #older: ViewList | undefined;

  constructor(whole: ViewList, places: readonly number[], names: readonly string[]) {
    this.#whole = whole;
    this.#places = places;
    this.#names = names;
    this.extras = whole.extras;
    this.pins = whole.pins === undefined ? undefined : this.#pinsOf(whole.pins);
  }

  /** Only of what is shown: a remark would tell of the others. */
  #pinsOf(pins: string): string | undefined {
    const remarks = JSON.parse(`{${pins}}`) as Record<string, unknown>;
    const shown = this.#places.map((place) => this.#names[place] ?? "").filter((name) => Object.hasOwn(remarks, name));
    return shown.length === 0
      ? undefined
      : shown.map((name) => JSON.stringify({ [name]: remarks[name] }).slice(1, -1)).join(",");
  }

  get count(): number {
    return this.#places.length;
  }

  slice(from: number, to: number): string {
    this.#texts ??= new EntryTexts(
      this.#places.map((place) => this.#whole.slice(place, place + 1)),
      this,
    );
    return this.#texts.slice(from, to);
  }

  get older(): ViewList {
    const { older } = this.#whole;
    this.#older ??= older === this.#whole ? this : new AllowedList(older, this.#places, this.#names);
    return this.#older;
  }
}
