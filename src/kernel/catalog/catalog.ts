/**
 * Who offers what to whom, as views. A view is made when it is first asked for and thrown away when anything behind it
 * changes; its parts live as long as the offers they show.
 *
 * Invariants:
 *  1. `#version` grows with every change of an offer, a state or a scope; no view outlives the version it was made for.
 *  2. A session is in `#scoped` only if some provider keeps offers for it alone.
 */
import {
  type Catalog,
  type Clock,
  type Entry,
  GatewayError,
  type ListedKind,
  type Next,
  type Offer,
  type Payload,
  type ProviderState,
  type Scope,
  type SessionRef,
  type Timers,
  type View,
  type ViewList,
} from "../../contract/index.ts";
import { JoinedList } from "./joined-list.ts";
import { LiveView } from "./live-view.ts";
import type { Mount } from "./mount.ts";
import { NO_OFFERS, OfferSets } from "./offer-set.ts";
import type { ViewPart } from "./view-part.ts";

export type CatalogOptions = {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly compile: (entry: Entry) => Next;
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

/** The catalog of everything, under its segments. */
const EVERYTHING = "";

/** Lists of one kind that different sessions see at the same time and that stay one object each. */
const MAX_LISTS = 64;

type Scoped = { readonly scopes: Map<string, Scope>; readonly views: Map<string, LiveView> };

export class LiveCatalog implements Catalog {
  readonly #options: CatalogOptions;
  readonly #mounts = new Map<string, Mount>();
  readonly #sets = new OfferSets();
  readonly #shared = new Map<string, LiveView>();
  readonly #scoped = new Map<string, Scoped>();
  readonly #lists = new Map<string, JoinedList[]>();
  readonly #patienceMs: number;
  readonly #startedAt: number;
  #version = 0;

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.#patienceMs = options.patienceMs ?? 5_000;
    this.#startedAt = options.clock.now();
  }

  add(mount: Mount): void {
    this.#mounts.set(mount.provider.id, mount);
    this.#changed();
  }

  has(catalog: string): boolean {
    return catalog === EVERYTHING || this.#mounts.has(catalog);
  }

  offer(mount: Mount, scope: Scope, offers: readonly Offer[]): void {
    const former = mount.offers.get(scope) ?? NO_OFFERS;
    if (offers.length === 0) mount.offers.delete(scope);
    else mount.offers.set(scope, this.#sets.intern(former, offers));
    if (mount.offers.get(scope) === former) return;
    const session = scope === "shared" ? undefined : scope.slice("session:".length);
    this.#changed(session);
    // What a session sees when it is first let in is no change to it.
    if (session !== undefined && former === NO_OFFERS) return;
    this.#options.onChange({ provider: mount.provider.id, kinds: offers.map((offer) => offer.kind), session });
  }

  state(mount: Mount, state: ProviderState): void {
    mount.setState(state);
    this.#changed();
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

  view(catalog: string, session?: SessionRef): View {
    const scoped = session && this.#scoped.get(session.id);
    const views = scoped ? scoped.views : this.#shared;
    const known = views.get(catalog);
    if (known) return known;
    const view = this.#build(catalog, scoped);
    views.set(catalog, view);
    return view;
  }

  #build(catalog: string, scoped: Scoped | undefined): LiveView {
    const mounts = this.#mountsOf(catalog);
    return new LiveView({
      version: this.#version,
      members: mounts.map((mount) => ({
        provider: mount.provider.id,
        segment: catalog === EVERYTHING ? mount.segment : "",
        set: mount.offersFor(scoped?.scopes.get(mount.provider.id) ?? "shared"),
      })),
      facts: mounts.map((mount) => mount.facts),
      compile: this.#options.compile,
      sameList: (kind, parts) => this.#sameList(`${catalog} ${kind}`, parts),
    });
  }

  #mountsOf(catalog: string): Mount[] {
    if (catalog === EVERYTHING) return [...this.#mounts.values()];
    const mount = this.#mounts.get(catalog);
    if (!mount) throw new GatewayError("NO_SUCH_TARGET", { message: `There is no catalog "${catalog}".` });
    return [mount];
  }

  #sameList(key: string, parts: readonly ViewPart[]): ViewList {
    const known = this.#lists.get(key) ?? [];
    const same = known.find((list) => list.shows(parts));
    if (same) return same;
    const list = new JoinedList(parts);
    this.#lists.set(key, [list, ...known.slice(0, MAX_LISTS - 1)]);
    return list;
  }

  async enter(catalog: string, session?: SessionRef): Promise<void> {
    const mounts = this.#mountsOf(catalog);
    // Counted from the start: whoever comes later does not wait for a server again that others have waited for.
    const left = this.#patienceMs - (this.#options.clock.now() - this.#startedAt);
    if (mounts.some((mount) => !mount.isSettled)) {
      await this.#patiently(left, Promise.all(mounts.map((mount) => mount.settled)));
    }
    if (!session) return;
    await this.#patiently(this.#patienceMs, Promise.all(mounts.map((mount) => this.#enterMount(mount, session))));
  }

  async #enterMount(mount: Mount, session: SessionRef): Promise<void> {
    if (mount.facts.status !== "ok" && !mount.offers.has("shared")) return;
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

  leave(session: SessionRef): void {
    this.#scoped.delete(session.id);
    for (const mount of this.#mounts.values()) mount.provider.release(session);
  }

  notify(catalog: string, session: SessionRef, method: string, input: Payload): void {
    for (const mount of this.#mountsOf(catalog)) mount.provider.notify(session, method, input);
  }
}
