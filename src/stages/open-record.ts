/** A call as the other processes see it while it runs, and what it holds of what they count together. */
import {
  type Admission,
  type Call,
  type Debit,
  type IsHeld,
  limitedError,
  onceLetGo,
  type Settlement,
  type SlotClaim,
} from "../contract/index.ts";
import { traceIdOf } from "../mechanisms/audit/index.ts";
import type { HeldChargeBook, LimitCharges, SharedDesk } from "../mechanisms/limits/index.ts";

/** A call may go on as a task for a day. */
export const LONGEST_MS = 25 * 60 * 60_000;

/** A call in the table of open ones. The facts are written down only if the store comes to need them. */
export class OpenRecord implements Admission {
  readonly call: string;
  readonly member: string;
  declare readonly session?: string;
  readonly ttlMs = LONGEST_MS;
  readonly #call: Call;
  readonly #startedAt: number;

  constructor(call: Call, member: string, startedAt: number) {
    this.call = call.id;
    this.member = member;
    // A call that ends with its connection has nobody who comes back and asks.
    if (call.session && !call.session.isEphemeral && call.life !== "bound") this.session = call.session.id;
    this.#call = call;
    this.#startedAt = startedAt;
  }

  get facts(): string {
    const { origin, method, target, input } = this.#call;
    const hasToken = input.text.includes('"progressToken"');
    const progressToken = hasToken ? input.at(["_meta", "progressToken"]) : undefined;
    const { requestId } = origin;
    const trace = traceIdOf(this.#call);
    return JSON.stringify({ requestId, method, target, trace, startedAt: this.#startedAt, progressToken });
  }
}

export type SharedLimits = {
  readonly desk: SharedDesk;
  readonly held: HeldChargeBook;
  readonly isHeld?: IsHeld | undefined;
};

/** One that takes something. While it is held, it takes only rates. */
export class ChargedRecord extends OpenRecord implements Settlement {
  readonly debits: readonly Debit[];
  slots: readonly SlotClaim[] | undefined;
  readonly #call: Call;
  readonly #limits: SharedLimits;
  readonly #later: LimitCharges | undefined;

  constructor(
    call: Call,
    member: string,
    startedAt: number,
    { limits, charges }: { readonly limits: SharedLimits; readonly charges: LimitCharges },
  ) {
    super(call, member, startedAt);
    const isHeld = limits.isHeld?.(call) === true;
    this.debits = isHeld ? charges.rates : charges.debits;
    this.slots = isHeld ? undefined : charges.slots;
    this.#call = call;
    this.#limits = limits;
    this.#later = isHeld ? charges : undefined;
  }

  /** Rejects with LIMITED. */
  async admit(): Promise<void> {
    await this.#limits.desk.admit(this);
    this.#hold();
  }

  /** A call that was broken off, or is a task now, is over for everybody else, but not what it takes. */
  settle(): void {
    const { call, session } = this;
    this.#limits.held.forget(this.#call);
    if (!this.slots?.length || !this.isLingering) return this.#limits.desk.settle(this);
    this.#limits.desk.settle({ call, ...(session !== undefined && { session }) });
    this.#freeLater();
  }

  /** Its provider may still work on it. */
  get isLingering(): boolean {
    return this.#call.run?.lingering !== undefined;
  }

  #freeLater(): void {
    const { call, member, slots } = this;
    const { desk } = this.#limits;
    onceLetGo(this.#call, () => desk.settle({ call, member, slots }));
  }

  /** Somebody else has admitted it, and settles it; its places only where it does not linger. */
  begin(): void {
    this.#limits.desk.occupy(this);
    this.#hold();
  }

  end(): void {
    this.#limits.held.forget(this.#call);
    if (this.slots?.length && this.isLingering) this.#freeLater();
    else this.#limits.desk.free(this);
  }

  #hold(): void {
    const later = this.#later;
    if (later !== undefined) this.#limits.held.hold(this.#call, () => this.#take(later));
  }

  async #take({ budgets, slots }: LimitCharges): Promise<void> {
    // Whether they were taken is not known until somebody says that they were not.
    this.slots = slots;
    const limited = await this.#limits.desk.charge({ call: this.call, member: this.member, debits: budgets, slots });
    if (limited === undefined) return;
    this.slots = undefined;
    throw limitedError(limited);
  }
}
