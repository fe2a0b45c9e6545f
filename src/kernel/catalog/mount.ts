import type { Provider, ProviderFacts, ProviderState, Scope, Target } from "../../contract/index.ts";
import { Breaker } from "../breaker.ts";
import { Slots } from "../slots.ts";
import { NO_OFFERS, type OfferSet } from "./offer-set.ts";
import { foundBy } from "./template-targets.ts";

export type MountOptions = {
  /** Names of this provider stand under it; "" leaves them as they are. */
  readonly segment: string;
  /** How many calls it gets at once. */
  readonly concurrency: number;
  readonly timeoutMs: number;
  /** Whether calls fail at once while the provider does not answer; unset: they do. */
  readonly breaker?: boolean;
};

/** A provider in its place: what it offers to whom, its state, its slots. */
export class Mount {
  readonly provider: Provider;
  readonly segment: string;
  /** How long its calls may take; a new config may change it. */
  timeoutMs: number;
  readonly slots: Slots;
  readonly breaker: Breaker;
  readonly offers = new Map<Scope, OfferSet>();
  /** Sessions that entered before it was ready: they are let in when it is. */
  readonly missed = new Set<string>();
  /** Resolves when the provider has offered or failed once. */
  readonly settled: Promise<void>;
  readonly settle: () => void;
  isSettled = false;
  /** Taken out: calls that run may end, and nothing else it says counts any more. */
  isLeaving = false;
  /** Aborted when the whole gateway ends. */
  readonly life = new AbortController();
  #facts: ProviderFacts;
  #lastOffer: Promise<void> | undefined;

  constructor(provider: Provider, options: MountOptions) {
    this.provider = provider;
    this.segment = options.segment;
    this.timeoutMs = options.timeoutMs;
    this.slots = new Slots(options.concurrency);
    const { breaker = true } = options;
    this.breaker = new Breaker({ isEnabled: breaker, isDown: () => this.#facts.status !== "ok" });
    this.#facts = { id: provider.id, status: "starting", since: new Date().toISOString() };
    const { promise, resolve } = Promise.withResolvers<void>();
    this.settled = promise;
    this.settle = () => {
      this.isSettled = true;
      resolve();
    };
  }

  /** Takes over what a new config may change while the provider goes on. */
  adjust({ timeoutMs, breaker = true }: MountOptions): void {
    this.timeoutMs = timeoutMs;
    this.breaker.isEnabled = breaker;
  }

  /** Does something with its offers when what was begun before is over. */
  inTurn(work: () => void | Promise<void>): void | Promise<void> {
    const done = this.#lastOffer === undefined ? work() : this.#lastOffer.then(work);
    if (!(done instanceof Promise)) return;
    const over = done.catch(() => undefined); // whoever made the offer hears of it
    this.#lastOffer = over;
    void over.then(() => {
      if (this.#lastOffer === over) this.#lastOffer = undefined;
    });
    return done;
  }

  get facts(): ProviderFacts {
    return this.#facts;
  }

  offersFor(scope: Scope): OfferSet {
    return this.offers.get(scope) ?? this.offers.get("shared") ?? NO_OFFERS;
  }

  /** Of a URI that it lists to nobody: the templates that it offers to anybody. */
  templatesFor({ kind, name }: Target): readonly Target[] {
    if (kind !== "resource") return [];
    const sets = [...new Set(this.offers.values())].map((set) => foundBy(this.provider.id, set, name));
    return sets.some(({ templates }) => !templates) ? [] : sets.flatMap(({ templates = [] }) => templates);
  }

  /** Shows what its predecessor of the same id offered until it has an offer of its own: names do not come and go. */
  inherit(former: Mount): void {
    const offers = former.offers.get("shared");
    if (offers) this.offers.set("shared", offers);
    if (former.facts.about) this.setState({ status: "starting", about: former.facts.about });
  }

  setState(state: ProviderState): void {
    const about = state.about ?? this.#facts.about;
    this.#facts = {
      id: this.provider.id,
      status: state.status,
      since: state.status === this.#facts.status ? this.#facts.since : new Date().toISOString(),
      ...(state.message === undefined ? {} : { message: state.message }),
      ...(about === undefined ? {} : { about }),
    };
  }
}
