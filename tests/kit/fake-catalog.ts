/** A catalog whose views a test writes down. */
import type {
  Catalog,
  Entry,
  ListedKind,
  MadeCall,
  Payload,
  Primitive,
  Principal,
  ProviderFacts,
  SessionRef,
  View,
  ViewList,
} from "../../src/contract/index.ts";
import { payload, textOf } from "../../src/contract/index.ts";

export type FakePrimitive = {
  kind: ListedKind;
  name: string;
  own?: string;
  provider?: string;
  definition?: string;
  outlasts?: NonNullable<Primitive["outlasts"]>;
};

export class FakeView implements View {
  readonly version: number;
  readonly providers: readonly ProviderFacts[];
  readonly #primitives: readonly FakePrimitive[];
  readonly #lists = new Map<ListedKind, ViewList>();
  readonly #extras: string;

  constructor(version: number, providers: readonly ProviderFacts[], primitives: readonly FakePrimitive[], extras = "") {
    this.version = version;
    this.providers = providers;
    this.#primitives = primitives;
    this.#extras = extras;
  }

  list(kind: ListedKind): ViewList {
    const known = this.#lists.get(kind);
    if (known) return known;
    const texts = this.#primitives.filter((one) => one.kind === kind).map(definitionOf);
    const list: ViewList = {
      count: texts.length,
      slice: (from: number, to: number) => texts.slice(from, to).join(","),
      extras: this.#extras,
      get older() {
        return list;
      },
    };
    this.#lists.set(kind, list);
    return list;
  }

  resolve(kind: ListedKind, name: string): Entry | undefined {
    const found = this.#primitives.find((one) => one.kind === kind && one.name === name);
    if (!found) return undefined;
    const own = found.own ?? found.name;
    const target = { provider: found.provider ?? this.providers[0]?.id ?? "one", kind, name: own };
    const definition = payload(definitionOf(found));
    const { outlasts } = found;
    const primitive = { kind, name: own, definition, repeatable: false, ...(outlasts && { outlasts }) };
    return { name, target, primitive };
  }

  raw(provider: string, method: string): Entry | undefined {
    if (!this.providers.some(({ id }) => id === provider)) return undefined;
    const target = { provider, kind: "operation", name: method } as const;
    return {
      name: method,
      target,
      primitive: { kind: "operation", name: method, definition: payload("{}"), repeatable: false },
    };
  }
}

function definitionOf(one: FakePrimitive): string {
  return textOf(one.definition ?? JSON.stringify({ name: one.name }));
}

export function okProvider(id: string, capabilities = '{"tools":{}}', instructions?: string): ProviderFacts {
  const about = { capabilities: payload(capabilities), ...(instructions === undefined ? {} : { instructions }) };
  return { id, status: "ok", since: "2026-01-01T00:00:00Z", about };
}

export class FakeCatalog implements Catalog {
  current: View;
  readonly notified: { session: string; method: string; input: Payload }[] = [];
  readonly left: string[] = [];
  /** Which catalog was listed, and what of it. */
  readonly looked: string[] = [];
  entered = 0;
  /** Holds `enter` back. */
  gate: Promise<void> | undefined;

  constructor(view: View) {
    this.current = view;
  }

  has(catalog: string): boolean {
    return catalog !== "nowhere";
  }

  view(_catalog?: string, _principal?: Principal): View {
    return this.current;
  }

  /** Unless a test says otherwise: whatever there is. */
  tells(_catalog: string, _principal: Principal, _call: MadeCall): boolean {
    return true;
  }

  async enter(): Promise<void> {
    this.entered++;
    await this.gate;
  }

  listed(catalog: string, _session: SessionRef | undefined, kind: ListedKind): void {
    this.looked.push(`${catalog} ${kind}`);
  }

  leave(session: SessionRef): void {
    this.left.push(session.id);
  }

  notify(_catalog: string, session: SessionRef, method: string, input: Payload): void {
    this.notified.push({ session: session.id, method, input });
  }
}
