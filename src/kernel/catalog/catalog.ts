/**
 * Who offers what to whom, as views. A view is made when it is first asked for and thrown away when anything behind it
 * changes; its parts live as long as the offers they show.
 *
 * Invariants:
 *  1. `#version` grows with every change of an offer, a state or a scope; no view outlives the version it was made for.
 *  2. A session is in `#scoped` only if some provider keeps offers for it alone.
 */
import {
  type Access,
  type Catalog,
  type Clock,
  type Departure,
  LISTED_KINDS,
  type ListedKind,
  type MadeCall,
  type MappedUris,
  type Offer,
  type Payload,
  type Primitive,
  type Principal,
  type ProviderState,
  type Reach,
  type Scope,
  type SessionRef,
  type Steps,
  type Target,
  type Timers,
  type View,
} from "../../contract/index.ts";
import { AllowedView } from "./allowed-view.ts";
import { type Arrangement, Layouts, type NameTaken } from "./layouts.ts";
import { LiveView } from "./live-view.ts";
import type { Mount } from "./mount.ts";
import { NO_OFFERS, OfferSets, takeOver } from "./offer-set.ts";
import type { Compiler } from "./view-entry.ts";
import type { ViewMember } from "./view-layout.ts";

export type CatalogOptions = {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly compiler: Compiler;
  /** Who may see what; unset: everybody everything. */
  readonly access?: Access;
  /** Puts mapped URIs into whatever else of a definition leads to them. */
  readonly mapLinks?: (definition: Payload, uris: MappedUris) => Payload;
  readonly onNameTaken: (taken: NameTaken) => void;
  /** Somebody wants what is held back. */
  readonly onHeld?: (kind: ListedKind, name: string) => void;
  /** How long a slow provider may delay anybody. */
  readonly patienceMs?: number;
  /** Lists have changed: for everybody, or in what one session sees. */
  readonly onChange: (change: CatalogChange) => void;
};

export type CatalogChange = {
  readonly provider: string;
  readonly kinds: readonly ListedKind[];
  readonly session: string | undefined;
};

/** Callers who may do different things, for whom views of one catalog are kept ready. */
const MAX_ALLOWED = 256;

/** The catalog of everything, under its segments. */
const EVERYTHING = "";

/** `isForAll`: every session is shown it like this. */
export type Offered = { readonly primitive: Primitive; readonly isForAll: boolean };

type Scoped = { readonly scopes: Map<string, Scope>; readonly views: Map<string, LiveView> };

export class LiveCatalog implements Catalog {
  readonly #options: CatalogOptions;
  readonly #mounts = new Map<string, Mount>();
  readonly #sets = new OfferSets();
  readonly #shared = new Map<string, LiveView>();
  readonly #allowedViews = new WeakMap<LiveView, Map<string, AllowedView>>();
  readonly #scoped = new Map<string, Scoped>();
  /** Who has entered what and not left. */
  readonly #inside = new Map<string, { readonly session: SessionRef; readonly catalog: string }>();
  readonly #layouts: Layouts;
  readonly #patienceMs: number;
  readonly #startedAt: number;
  #version = 0;

  constructor(options: CatalogOptions) {
    this.#options = options;
    const { compiler, mapLinks = (definition) => definition, onNameTaken, onHeld } = options;
    this.#layouts = new Layouts({ compiler, mapLinks, onNameTaken, ...(onHeld && { onHeld }) });
    this.#patienceMs = options.patienceMs ?? 5_000;
    this.#startedAt = options.clock.now();
  }

  add(mount: Mount): void {
    this.#mounts.set(mount.provider.id, mount);
    this.#changed();
  }

  /** These and no others from now on, in this order, as one change. */
  replace(mounts: readonly Mount[]): void {
    const before = [...this.#mounts.values()];
    const gone = before.filter((mount) => !mounts.includes(mount));
    const fresh = mounts.filter((mount) => !before.includes(mount));
    this.#mounts.clear();
    for (const mount of mounts) this.#mounts.set(mount.provider.id, mount);
    for (const mount of gone) this.#forgetScopes(mount);
    for (const mount of fresh) for (const id of this.#inside.keys()) mount.missed.add(id);
    this.#changed();
    for (const mount of [...gone, ...fresh]) this.#tellAll(mount);
  }

  /** How names look and which catalogs there are from now on. */
  arrange(arrangement: Arrangement): void {
    if (!this.#layouts.arrange(arrangement)) return;
    this.#changed();
    for (const mount of this.#mounts.values()) this.#tellAll(mount);
  }

  /** Callers may reach something else than before: whoever then sees another list is told. */
  reachChanged(): void {
    this.#changed();
    for (const mount of this.#mounts.values()) {
      this.#tellAll(mount);
      if (mount.facts.status === "ok" && mount.missed.size > 0) void this.#letIn(mount);
    }
  }

  /** Whether a session may have anything to do with a provider. */
  reaches(mount: Mount, session: SessionRef, catalog = this.#inside.get(session.id)?.catalog ?? EVERYTHING): boolean {
    const reach = this.#options.access?.reachOf(session.principal);
    return reach === undefined || reach.reachesProvider(mount.provider.id, catalog);
  }

  /** Whatever everybody sees of it may look different now. */
  #tellAll({ provider, offers }: Mount): void {
    const kinds = LISTED_KINDS.filter((kind) => offers.get("shared")?.offers[kind]);
    if (kinds.length > 0) this.#options.onChange({ provider: provider.id, kinds, session: undefined });
  }

  #forgetScopes({ provider }: Mount): void {
    for (const [session, { scopes }] of this.#scoped) {
      if (scopes.delete(provider.id) && scopes.size === 0) this.#scoped.delete(session);
    }
  }

  has(catalog: string, principal?: Principal): boolean {
    if (catalog === EVERYTHING) return true;
    if (!this.#mounts.has(catalog) && this.#layouts.rulesOf(catalog) === undefined) return false;
    const reach = principal && this.#options.access?.reachOf(principal);
    if (!reach?.conceals) return true;
    return this.#mountsOf(catalog).some(({ provider }) => reach.reachesProvider(provider.id, catalog));
  }

  /** Made ready in steps; it is seen from the last one on. */
  *offer(mount: Mount, scope: Scope, offers: readonly Offer[]): Steps<void> {
    const former = mount.offers.get(scope) ?? NO_OFFERS;
    const session = scope === "shared" ? undefined : scope.slice("session:".length);
    const set = offers.length === 0 ? undefined : yield* this.#sets.intern(former, offers);
    if (set) yield* takeOver(former, set);
    if (mount.isLeaving) return;
    const mapping = this.#mapping(session);
    if (set) mount.offers.set(scope, set);
    else mount.offers.delete(scope);
    if (mount.offers.get(scope) === former) return;
    this.#changed(session);
    // What a session sees when it is first let in is no change to it.
    if (session !== undefined && former === NO_OFFERS) return;
    const kinds = new Set(offers.map((offer) => offer.kind));
    // Tools show links to resources.
    if (this.#mapping(session) !== mapping) kinds.add("tool");
    this.#options.onChange({ provider: mount.provider.id, kinds: [...kinds], session });
  }

  /** Stands for which URIs are mapped in what this session sees, or everybody. */
  #mapping(session: string | undefined): string {
    if (this.#mounts.size < 2) return "";
    return this.#viewOf(EVERYTHING, session === undefined ? undefined : this.#scoped.get(session)).layout.mapping;
  }

  state(mount: Mount, state: ProviderState): void {
    const { status, message, about } = mount.facts;
    mount.setState(state);
    this.#changed();
    const { facts } = mount;
    if (facts.status !== status || facts.message !== message || facts.about !== about) this.#tellPeers(mount);
    if (state.status === "ok" && mount.missed.size > 0) void this.#letIn(mount);
  }

  /** To other processes a server is what it is here, so they hear of whatever it says of itself. */
  #tellPeers(mount: Mount): void {
    const { id } = mount.provider;
    for (const { session, catalog } of this.#inside.values())
      if (session.isPeer && this.#mountsOf(catalog).includes(mount))
        this.#options.onChange({ provider: id, kinds: LISTED_KINDS, session: session.id });
  }

  /** Sessions that came before the provider was ready, one after the other: nobody waits for this. */
  async #letIn(mount: Mount): Promise<void> {
    const missed = [...mount.missed];
    mount.missed.clear();
    for (const id of missed) {
      const inside = this.#inside.get(id);
      if (!inside || mount.isLeaving || !this.#mountsOf(inside.catalog).includes(mount)) continue;
      await this.#enterMount(mount, inside.session, inside.catalog);
      if (!this.#inside.has(id)) this.#scoped.delete(id);
      const own = mount.offers.get(this.#scoped.get(id)?.scopes.get(mount.provider.id) ?? "shared");
      const kinds = LISTED_KINDS.filter((kind) => own?.offers[kind]);
      this.#options.onChange({ provider: mount.provider.id, kinds, session: id });
    }
  }

  /** Something changed for everybody, or only for one session. */
  #changed(session?: string): void {
    this.#version++;
    if (session !== undefined) {
      this.#scoped.get(session)?.views.clear();
      return;
    }
    this.#shared.clear();
    for (const scoped of this.#scoped.values()) scoped.views.clear();
  }

  view(catalog: string, principal: Principal, session?: SessionRef): View {
    const view = this.#viewOf(catalog, session && this.#scoped.get(session.id));
    const reach = this.#options.access?.reachOf(principal);
    return reach ? this.#allowed(view, catalog, reach) : view;
  }

  tells(catalog: string, principal: Principal, call: MadeCall, asked?: "asked"): boolean {
    const { target } = call;
    const mount = this.#mountsOf(catalog).find(({ provider }) => provider.id === target.provider);
    const rules = this.#layouts.rulesOf(catalog);
    if (!mount || rules?.showsTarget(mount.segment, target) === false) return false;
    const { access } = this.#options;
    const reach = access?.reachOf(principal);
    if (!access || !reach) return true;
    if (target.kind !== "operation") {
      return access.tells(principal, { ...call, templates: mount.templatesFor(target) }, catalog, asked);
    }
    // Words about a call that was judged.
    if (reach.reachesProvider(target.provider, catalog)) return true;
    if (asked) reach.refused({ target }, catalog, principal);
    return false;
  }

  /** What there is, whoever may see it. */
  whole(catalog: string): LiveView {
    return this.#viewOf(catalog, undefined);
  }

  /** What a provider says now of something that it offers, to this session or to everybody. */
  offered({ provider, kind, name }: Target, session?: SessionRef): Offered | undefined {
    const mount = this.#mounts.get(provider);
    if (!mount || kind === "agent" || kind === "operation") return undefined;
    const scope = (session && this.#scoped.get(session.id)?.scopes.get(provider)) ?? "shared";
    const primitive = mount.offersFor(scope).offers[kind]?.primitives.find((one) => one.name === name);
    return primitive && { primitive, isForAll: scope === "shared" || !mount.offers.has(scope) };
  }

  /** Callers who reach the same share what they see, as long as the view lives that it is a part of. */
  #allowed(view: LiveView, catalog: string, reach: Reach): View {
    let views = this.#allowedViews.get(view);
    if (!views) {
      views = new Map();
      this.#allowedViews.set(view, views);
    }
    const known = views.get(reach.key);
    if (known) return known;
    const [oldest] = views.keys();
    if (views.size >= MAX_ALLOWED && oldest !== undefined) views.delete(oldest);
    const allowed = new AllowedView(view, catalog, reach);
    views.set(reach.key, allowed);
    return allowed;
  }

  #viewOf(catalog: string, scoped: Scoped | undefined): LiveView {
    const views = scoped ? scoped.views : this.#shared;
    const known = views.get(catalog);
    if (known) return known;
    const view = this.#build(catalog, scoped);
    views.set(catalog, view);
    return view;
  }

  #build(catalog: string, scoped: Scoped | undefined): LiveView {
    const mounts = this.#mountsOf(catalog);
    const rules = this.#layouts.rulesOf(catalog);
    const isAlone = catalog !== EVERYTHING && !rules;
    const members = mounts.map((mount): ViewMember => {
      const set = mount.offersFor(scoped?.scopes.get(mount.provider.id) ?? "shared");
      const { segment, provider } = mount;
      return { provider: provider.id, segment: isAlone ? "" : segment, isExact: segment === "", set };
    });
    const facts = mounts.map((mount) => mount.facts);
    return new LiveView(this.#version, facts, this.#layouts.find(catalog, members), rules);
  }

  #mountsOf(catalog: string): Mount[] {
    const all = [...this.#mounts.values()];
    if (catalog === EVERYTHING) return all;
    const rules = this.#layouts.rulesOf(catalog);
    if (rules) return all.filter(({ segment }) => rules.reaches(segment));
    // A session may outlive its catalog: it then sees nothing.
    const mount = this.#mounts.get(catalog);
    return mount ? [mount] : [];
  }

  async enter(catalog: string, session?: SessionRef): Promise<void> {
    const mounts = this.#mountsOf(catalog);
    // Counted from the start: whoever comes later does not wait for a server again that others have waited for.
    const left = this.#patienceMs - (this.#options.clock.now() - this.#startedAt);
    if (mounts.some((mount) => !mount.isSettled)) {
      await this.#patiently(left, Promise.all(mounts.map((mount) => mount.settled)));
    }
    if (!session) return;
    this.#inside.set(session.id, { session, catalog });
    await this.#patiently(
      this.#patienceMs,
      Promise.all(mounts.map((mount) => this.#enterMount(mount, session, catalog))),
    );
  }

  async #enterMount(mount: Mount, session: SessionRef, catalog: string): Promise<void> {
    const isReady = mount.facts.status === "ok" || mount.offers.has("shared");
    // A server that the caller may not reach is not told of it, and gets no way to ask it anything.
    if (!isReady || !this.reaches(mount, session, catalog)) {
      mount.missed.add(session.id);
      return;
    }
    // A provider that cannot serve this session now has said so by its state; the session sees what everybody sees.
    const scope = await mount.provider.scope(session).catch((): Scope => "shared");
    const known = this.#scoped.get(session.id)?.scopes.get(mount.provider.id) ?? "shared";
    if (known === scope) return;
    const scoped = this.#scoped.get(session.id) ?? { scopes: new Map(), views: new Map() };
    scoped.scopes.set(mount.provider.id, scope);
    scoped.views.clear();
    this.#scoped.set(session.id, scoped);
  }

  /** Waits, but not for ever: a slow provider delays nobody beyond the set limit. */
  #patiently(ms: number, work: Promise<unknown>): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = this.#options.timers.after(ms, resolve);
      work.then(() => resolve(), reject).finally(() => timer.cancel());
    });
  }

  leave(session: SessionRef, reason: Departure = "ended"): void {
    this.#scoped.delete(session.id);
    this.#inside.delete(session.id);
    for (const mount of this.#mounts.values()) {
      mount.missed.delete(session.id);
      mount.provider.release(session, reason);
    }
  }

  listed(catalog: string, session: SessionRef | undefined, kind: ListedKind): void {
    for (const { provider } of this.#mountsOf(catalog)) provider.refresh?.(session, kind);
  }

  /** What the client of this scope declared, as it wrote it; "" for what everybody sees. */
  profileOf(scope: Scope): string {
    if (scope === "shared") return "";
    return this.#inside.get(scope.slice("session:".length))?.session.capabilities.text ?? scope;
  }

  notify(catalog: string, session: SessionRef, method: string, input: Payload): void {
    for (const mount of this.#mountsOf(catalog)) {
      if (this.reaches(mount, session, catalog)) mount.provider.notify(session, method, input);
    }
  }
}
