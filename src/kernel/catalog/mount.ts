import type { Provider, ProviderFacts, ProviderState, Scope } from "../../contract/index.ts";
import { Slots } from "../slots.ts";
import { NO_OFFERS, type OfferSet } from "./offer-set.ts";

export type MountOptions = {
  /** Names of this provider stand under it; "" leaves them as they are. */
  readonly segment: string;
  /** How many calls it gets at once. */
  readonly concurrency: number;
  readonly timeoutMs: number;
};

/** A provider in its place: what it offers to whom, its state, its slots. */
export class Mount {
  readonly provider: Provider;
  readonly segment: string;
  readonly timeoutMs: number;
  readonly slots: Slots;
  readonly offers = new Map<Scope, OfferSet>();
  /** Resolves when the provider has offered or failed once. */
  readonly settled: Promise<void>;
  readonly settle: () => void;
  isSettled = false;
  #facts: ProviderFacts;

  constructor(provider: Provider, options: MountOptions) {
    this.provider = provider;
    this.segment = options.segment;
    this.timeoutMs = options.timeoutMs;
    this.slots = new Slots(options.concurrency);
    this.#facts = { id: provider.id, status: "starting", since: new Date().toISOString() };
    const { promise, resolve } = Promise.withResolvers<void>();
    this.settled = promise;
    this.settle = () => {
      this.isSettled = true;
      resolve();
    };
  }

  get facts(): ProviderFacts {
    return this.#facts;
  }

  offersFor(scope: Scope): OfferSet {
    return this.offers.get(scope) ?? this.offers.get("shared") ?? NO_OFFERS;
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
