/**
 * The last step of every pipeline: runs the provider in one of its slots, under the call's deadline.
 * A provider that ignores cancel for `CUT_OFF_MS` loses its slot; what it says later is counted and dropped.
 */
import {
  type Call,
  type CallEvent,
  type Clock,
  GatewayError,
  type Next,
  type Out,
  type Provider,
  type Timer,
  type Timers,
} from "../contract/index.ts";
import type { LiveCall } from "./runs/live-call.ts";
import type { LiveRun } from "./runs/run.ts";
import type { Slots } from "./slots.ts";

export const CUT_OFF_MS = 5_000;

export type DispatchOptions = {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly find: (provider: string) => { provider: Provider; slots: Slots } | undefined;
  readonly onTask: (call: Call, ttlMs: number) => void;
  readonly onLate: (call: Call) => void;
};

export function createDispatch(options: DispatchOptions): (isRepeatable: boolean) => Next {
  return (isRepeatable) =>
    async function dispatch(call, out) {
      const found = options.find(call.target.provider);
      if (!found) throw new GatewayError("NO_SUCH_TARGET");
      const { run } = call as LiveCall;
      if (!run || run.isEnded) return;
      const { slots, provider } = found;
      if (!slots.tryTake()) await waitForSlot(slots, call, run);
      try {
        await new Attempt(call, out, provider, run, options, isRepeatable).go();
      } finally {
        slots.free();
      }
    };
}

/** A call that waits in line can still be cancelled: its signal leaves the line. */
async function waitForSlot(slots: Slots, call: Call, run: LiveRun): Promise<void> {
  run.abort = (error) => (run.call as LiveCall).abortSignal(error);
  try {
    await slots.take(call.signal);
  } finally {
    run.abort = undefined;
  }
  if (run.isEnded) {
    slots.free();
    throw new GatewayError("CANCELLED");
  }
}

class Attempt implements Out {
  readonly #call: Call;
  readonly #out: Out;
  readonly #provider: Provider;
  readonly #run: LiveRun;
  readonly #options: DispatchOptions;
  readonly #isRepeatable: boolean;
  #isEnded = false;
  #hasWritten = false;
  #timer: Timer | undefined;
  #timeLeft: number;
  #armedAt = 0;
  #done: () => void = () => undefined;

  constructor(call: Call, out: Out, provider: Provider, run: LiveRun, options: DispatchOptions, isRepeatable: boolean) {
    this.#call = call;
    this.#out = out;
    this.#provider = provider;
    this.#run = run;
    this.#options = options;
    this.#isRepeatable = isRepeatable;
    this.#timeLeft = call.deadline - options.clock.now();
  }

  async go(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#done = resolve;
    this.#run.abort = (error) => this.#abort(error);
    this.#run.onAsking = (isAsking) => (isAsking ? this.#disarm() : this.#arm());
    this.#arm();
    this.#try(this.#isRepeatable ? 2 : 1);
    try {
      await promise;
    } finally {
      this.#disarm();
      this.#run.abort = undefined;
      this.#run.onAsking = undefined;
    }
  }

  #try(attempts: number): void {
    this.#provider.run(this.#call, this).then(
      () => {
        if (!this.#isEnded)
          this.#fail(
            new GatewayError("PROVIDER_FAILED", { message: "The provider ended the call without an answer." }),
          );
        this.#done();
      },
      (thrown) => {
        const error = GatewayError.from(thrown);
        const isRetried = error.code === "OUTCOME_UNKNOWN" && attempts > 1 && !this.#hasWritten && !this.#isEnded;
        if (isRetried) return this.#try(attempts - 1);
        this.#fail(error);
        this.#done();
      },
    );
  }

  write(event: CallEvent): boolean {
    if (this.#isEnded) {
      this.#options.onLate(this.#call);
      return true;
    }
    this.#hasWritten = true;
    if (event.type === "end") {
      this.#isEnded = true;
      if (event.outcome === "task") this.#options.onTask(this.#call, event.ttlMs ?? 0);
    } else if (event.type === "error") this.#isEnded = true;
    const hasRoom = this.#out.write(event);
    // The end lets go of the slot even if the provider's promise never settles.
    if (this.#isEnded) this.#done();
    return hasRoom;
  }

  ready(): Promise<void> {
    return this.#out.ready();
  }

  #fail(error: GatewayError): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#out.write({ type: "error", error });
  }

  /** Ends the call now; the provider gets `CUT_OFF_MS` to let go. */
  #abort(error: GatewayError): void {
    if (this.#isEnded) return;
    this.#disarm();
    this.#fail(error);
    (this.#run.call as LiveCall).abortSignal(error);
    this.#timer = this.#options.timers.after(CUT_OFF_MS, this.#done);
    const reason = typeof error.details.reason === "string" ? error.details.reason : error.message;
    const payload = this.#run.lastWords;
    this.#provider.reply(this.#call.id, { type: "cancel", reason, ...(payload && { payload }) });
  }

  #arm(): void {
    if (this.#isEnded || this.#timer) return;
    this.#armedAt = this.#options.clock.now();
    this.#timer = this.#options.timers.after(Math.max(0, this.#timeLeft), () =>
      this.#abort(new GatewayError("DEADLINE_PASSED")),
    );
  }

  /** Stops the clock of the deadline: the call is over, or waits for a person. */
  #disarm(): void {
    if (this.#timer && !this.#isEnded) this.#timeLeft -= this.#options.clock.now() - this.#armedAt;
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
