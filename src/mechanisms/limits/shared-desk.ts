/**
 * Where limits that all processes share are taken and given back. While their store is away, a share of them is local: not at
 * once, because a store that merely was slow has counted all the while, and nobody may get more for that.
 */
import {
  type Admission,
  type Admitted,
  type Charge,
  type Clock,
  GatewayError,
  type Limited,
  limitedError,
  type Settlement,
  type SharedState,
} from "../../contract/index.ts";
import type { LocalShare } from "./local-share.ts";

type Store = Pick<SharedState, "calls" | "isUp" | "onHealth">;

/** How long a store must be away before anybody goes by a share. */
const PATIENCE_MS = 2_000;
/** Settlements that the store did not take. Beyond them places are free when the lease of this process is over. */
const MAX_OWED = 10_000;

export class SharedDesk {
  readonly #store: Store;
  readonly #share: LocalShare;
  readonly #clock: Clock;
  readonly #stopHearing: () => void;
  #awaySince: number | undefined;
  #owed: Settlement[] = [];

  constructor(store: Store, share: LocalShare, clock: Clock) {
    this.#store = store;
    this.#share = share;
    this.#clock = clock;
    this.#awaySince = store.isUp ? undefined : clock.now();
    this.#stopHearing = store.onHealth((isUp) => {
      this.#awaySince = isUp ? undefined : clock.now();
      if (isUp) this.#payBack();
    });
  }

  /** One trip. Resolves when the call may go; rejects with LIMITED, or with STATE_UNAVAILABLE where there is no share. */
  async admit(admission: Admission): Promise<void> {
    const refusal = await this.#ask(admission, () => this.#store.calls.admit(admission));
    if (refusal !== undefined) throw limitedError(refusal);
  }

  /** Another trip, of a call that was held. */
  charge(charge: Charge): Promise<Limited | undefined> {
    return this.#ask(charge, () => this.#store.calls.charge(charge));
  }

  /** Nobody waits for it. */
  settle(settlement: Settlement): void {
    const { call, slots = [] } = settlement;
    this.#share.free(call, slots);
    if (this.#store.isUp) this.#send(settlement);
    else this.#owe(settlement);
  }

  /** The call is known to the store, and this process must know what it holds. */
  occupy(charge: Charge): void {
    this.#share.occupy(charge);
  }

  free({ call, slots = [] }: Settlement): void {
    this.#share.free(call, slots);
  }

  close(): void {
    this.#stopHearing();
  }

  async #ask(charge: Charge, ask: () => Promise<Admitted | undefined>): Promise<Limited | undefined> {
    if (!this.#store.isUp) return this.#takeShare(charge);
    let answer: Admitted | undefined;
    try {
      answer = await ask();
    } catch (error) {
      // It may have been taken all the same.
      this.#owe(charge);
      if (this.#store.isUp) this.#payBack();
      throw error;
    }
    if (answer?.type === "limited") return answer;
    this.#share.occupy(charge);
    return undefined;
  }

  #takeShare(charge: Charge): Limited | undefined {
    const awayMs = this.#awaySince === undefined ? 0 : this.#clock.now() - this.#awaySince;
    if (awayMs >= PATIENCE_MS) return this.#share.take(charge);
    const retryAfterMs = Math.ceil(PATIENCE_MS - awayMs);
    throw new GatewayError("STATE_UNAVAILABLE", { details: { retryAfterMs } });
  }

  #send(settlement: Settlement): void {
    this.#store.calls.settle(settlement).catch(() => this.#owe(settlement));
  }

  #owe({ call, session, member, slots }: Settlement): void {
    if (slots === undefined || slots.length === 0 || this.#owed.length >= MAX_OWED) return;
    this.#owed.push({
      call,
      slots,
      ...(session !== undefined && { session }),
      ...(member !== undefined && { member }),
    });
  }

  #payBack(): void {
    const owed = this.#owed;
    this.#owed = [];
    for (const settlement of owed) this.#send(settlement);
  }
}
