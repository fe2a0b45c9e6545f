/** What one caller sees of one catalog at one moment. */
import type { Entry, ListedKind, ProviderFacts, View, ViewList } from "../../contract/index.ts";
import type { CatalogRules } from "./catalog-rules.ts";
import type { ViewLayout } from "./view-layout.ts";

export class LiveView implements View {
  readonly version: number;
  readonly providers: readonly ProviderFacts[];
  readonly isPartial: boolean;
  readonly instructions: string | undefined;
  readonly layout: ViewLayout;

  constructor(version: number, facts: readonly ProviderFacts[], layout: ViewLayout, rules: CatalogRules | undefined) {
    this.version = version;
    this.providers = facts;
    this.layout = layout;
    this.isPartial = rules !== undefined;
    this.instructions = rules?.instructions;
  }

  list(kind: ListedKind): ViewList {
    return this.layout.list(kind);
  }

  resolve(kind: ListedKind, name: string): Entry | undefined {
    return this.layout.resolve(kind, name);
  }

  raw(provider: string, method: string): Entry | undefined {
    return this.layout.raw(provider, method);
  }
}
