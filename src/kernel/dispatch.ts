/**
 * The last step of every pipeline: runs the provider in one of its slots, under the call's deadline. A call that is broken
 * off is over for its caller at once, but it holds what it has taken until the provider is through with it, or until its
 * time would have been over, and for `LEAST_HOLD_MS` at least: else whoever cancels could have any number of calls run. From
 * others it keeps its slot for `LEAST_HOLD_MS` only: most servers never say that they have stopped. What the provider says of
 * it is counted and dropped.
 */
import {
  type Call,
  type CallEvent,
  type Clock,
  GatewayError,
  type Next,
  type Out,
  type Provider,
  sharingCallerOf,
  type Timer,
  type Timers,
} from "../contract/index.ts";
import type { Breaker } from "./breaker.ts";
import type { LiveCall } from "./runs/live-call.ts";
import type { LiveRun, RunControl } from "./runs/run.ts";
import type { SlotShare } from "./slot-share.ts";
import type { Slots } from "./slots.ts";

const LEAST_HOLD_MS = 5_000;
const NO_ROOM = "The gateway holds as much of messages as it has memory for; the call was not sent.";
/** A call that is older than this when it comes here is judged again: a stage has kept it waiting. */
const JUDGED_MS = 100;
/** A front may give up a question before we do: it knows how to tell whoever asked. */
const GRACE_MS = 1_000;

export type DispatchOptions = {
  /** No more messages fit in memory. */
  readonly isFull: () => boolean;
  /** Why a call that was let in may not be sent any more; undefined: it may. */
  readonly refusal: (call: Call) => GatewayError | undefined;
  readonly clock: Clock;
  readonly timers: Timers;
  /** How long a question may wait for its answer. */
  readonly inputMs: number;
  readonly find: (provider: string) => DispatchTarget | undefined;
  /** A promise: the end may go out only when it has resolved. */
  readonly onTask: (call: Call, end: CallEvent & { type: "end" }) => Promise<void> | undefined;
  readonly onTaskOver: (task: string) => void;
  readonly onLate: (call: Call) => void;
};

function refusalNow({ refusal }: Pick<DispatchOptions, "refusal">, call: Call): GatewayError | undefined {
  try {
    return refusal(call);
  } catch (error) {
    return GatewayError.from(error);
  }
}

/** As `refusalNow`, of a call whose stages have a word in it, too. Never rejects. */
async function refusalOfAll(options: DispatchOptions, call: Call, run: LiveRun): Promise<GatewayError | undefined> {
  const ask = async () => await run.beforeSending?.();
  const denial = (await ask().catch(GatewayError.from)) ?? refusalNow(options, call);
  return run.isEnded ? endOf(run) : denial;
}

type DispatchTarget = { readonly provider: Provider; readonly slots: Slots; readonly breaker: Breaker };

export function createDispatch(options: DispatchOptions): (isRepeatable: boolean) => Next {
  return (isRepeatable) =>
    function dispatch(call, out) {
      const found = options.find(call.target.provider);
      if (!found) return Promise.reject(new GatewayError("NO_SUCH_TARGET"));
      const { run } = call as LiveCall;
      if (!run) return Promise.resolve();
      // Cancelled while a stage waited: its caller has been told, and the stages before this one must hear of it, too.
      if (run.isEnded) return Promise.reject(endOf(run));
      if (options.isFull()) return Promise.reject(new GatewayError("OVERLOADED", { message: NO_ROOM }));
      const [since = 0] = call.timing?.entered ?? [];
      const isLate = options.clock.now() - since > JUDGED_MS;
      const attempt: AttemptParts = { call, out, run, target: found, options, tries: isRepeatable ? 2 : 1 };
      if (isLate && run.beforeSending) return judgeFirst(attempt);
      const denial = isLate ? refusalNow(options, call) : undefined;
      return denial ? Promise.reject(denial) : send(attempt);
    };
}

async function judgeFirst(attempt: AttemptParts): Promise<void> {
  const denial = await refusalOfAll(attempt.options, attempt.call, attempt.run);
  if (denial) throw denial;
  await send(attempt);
}

/** Now, or as soon as there is a slot. */
function send(parts: AttemptParts): Promise<void> {
  const { call, options } = parts;
  const { breaker, slots } = parts.target;
  const refusal = breaker.strain === 0 ? undefined : breaker.refuse(call, options.clock.now());
  if (refusal) return Promise.reject(refusal);
  const attempt = new Attempt(parts);
  const slot = slots.tryTake(sharingCallerOf(call));
  return slot ? attempt.go(slot) : attempt.queue();
}

function endOf({ call }: LiveRun): GatewayError {
  return GatewayError.from(call.signal.reason ?? new GatewayError("CANCELLED"));
}

type AttemptParts = {
  readonly call: Call;
  readonly out: Out;
  readonly run: LiveRun;
  readonly target: DispatchTarget;
  readonly options: DispatchOptions;
  readonly tries: number;
};

class Attempt implements Out, RunControl {
  readonly #parts: AttemptParts;
  #tries: number;
  #isEnded = false;
  #isDone = false;
  /** Its end waits to become durable. */
  #isHeld = false;
  #slot: SlotShare | undefined;
  #isSlotLent = false;
  #isUnanswered = false;
  #hasWritten = false;
  #timer: Timer | undefined;
  /** Of the call's time, which runs while it waits in line, too: else each round of the line would add to it. */
  #timeLeft: number;
  /** Since when the time of the deadline runs; unset while it stands still. */
  #armedAt: number | undefined;
  #resolve: () => void = () => undefined;
  /** Of a call that was broken off: the provider is through with it. */
  #letGo: (() => void) | undefined;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
    this.#tries = parts.tries;
    this.#timeLeft = parts.run.extensionMs ?? parts.call.deadline - parts.options.clock.now();
  }

  /** Waits in line for a slot. A call that waits can still be cancelled, and its time can end: its signal leaves the line. */
  async queue(): Promise<void> {
    const { call, run, target, options } = this.#parts;
    run.control = {
      abort: (error) => (run.call as LiveCall).abortSignal(error),
      asking: () => undefined,
      extend: (ms) => {
        this.#disarm();
        this.#timeLeft = ms;
        this.#arm();
      },
    };
    this.#arm();
    const { clock } = options;
    let slot: SlotShare;
    try {
      slot = await target.slots.take(sharingCallerOf(call), call.signal);
    } catch (thrown) {
      this.#disarm();
      // It was never sent: that says nothing about the provider.
      target.breaker.failed(call, "CANCELLED", clock.now());
      throw thrown;
    }
    const refusal = await this.#whyUnsent();
    if (!refusal) return await this.go(slot);
    this.#disarm();
    target.breaker.failed(call, "CANCELLED", clock.now());
    target.slots.free(slot);
    throw refusal;
  }

  /** What was true when it came into the line may not be any more. */
  async #whyUnsent(): Promise<GatewayError | undefined> {
    const { call, run, target, options } = this.#parts;
    if (run.isEnded) return endOf(run);
    const denial = run.beforeSending ? await refusalOfAll(options, call, run) : refusalNow(options, call);
    // Those before it in the line may have found that the provider does not answer.
    return denial ?? target.breaker.refuse(call, options.clock.now());
  }

  /** Resolves when the provider is through with the call, or when that was broken off. */
  go(slot: SlotShare): Promise<void> {
    const { run, options } = this.#parts;
    run.control = this;
    this.#slot = slot;
    (run.call as LiveCall).timing.sentAt = options.clock.now();
    this.#arm();
    const promise = new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
    this.#try();
    return promise;
  }

  #try(): void {
    this.#parts.target.provider.run(this.#parts.call, this).then(this.#onSettled, this.#onThrown);
  }

  readonly #onSettled = (): void => {
    const message = "The provider ended the call without an answer.";
    if (!this.#isEnded) this.#fail(new GatewayError("PROVIDER_FAILED", { message }));
    this.#done();
  };

  readonly #onThrown = (thrown: unknown): void => {
    const error = GatewayError.from(thrown);
    const mayRepeat = error.code === "OUTCOME_UNKNOWN" && !this.#hasWritten && !this.#isEnded;
    if (!mayRepeat || --this.#tries <= 0) return this.#endBy(error);
    const { call, run, options } = this.#parts;
    if (run.beforeSending) void refusalOfAll(options, call, run).then(this.#repeat);
    else this.#repeat(refusalNow(options, call));
  };

  readonly #repeat = (denial: GatewayError | undefined): void => {
    // It may have been broken off while a stage was asked.
    if (denial || this.#isEnded) return this.#endBy(denial ?? new GatewayError("CANCELLED"));
    (this.#parts.run.call as LiveCall).timing.repeats++;
    this.#try();
  };

  #endBy(error: GatewayError): void {
    this.#fail(error);
    this.#done();
  }

  /** Lets go of the slot, once. */
  #done(): void {
    if (this.#isDone || this.#isHeld) return;
    this.#isDone = true;
    this.#disarm();
    const { run } = this.#parts;
    if (run.control === this) run.control = undefined;
    this.#freeSlot();
    this.#resolve();
    this.#letGo?.();
  }

  #freeSlot(): void {
    const slot = this.#slot;
    if (!slot) return;
    this.#slot = undefined;
    const { slots } = this.#parts.target;
    if (this.#isSlotLent) slots.freeLent(slot);
    else slots.free(slot);
  }

  write(event: CallEvent): boolean {
    const { call, out, target, options } = this.#parts;
    if (this.#isEnded) {
      options.onLate(call);
      return true;
    }
    if (event.type === "error") target.breaker.failed(call, event.error.code, options.clock.now());
    else if (target.breaker.strain !== 0) target.breaker.heard();
    if (!this.#hasWritten) (this.#parts.run.call as LiveCall).timing.firstAt = options.clock.now();
    this.#hasWritten = true;
    if (event.type === "end") {
      this.#isEnded = true;
      if (event.endsTask !== undefined && call.resumes !== undefined) options.onTaskOver(call.resumes);
      const recorded = event.outcome === "task" ? this.#goOnAsTask(event) : undefined;
      if (recorded !== undefined) return this.#endAfter(recorded, event);
    } else if (event.type === "error") this.#isEnded = true;
    else if (event.type === "status" && event.keepMs !== undefined) this.#freeSlot();
    const hasRoom = out.write(event);
    // The end lets go of the slot even if the provider's promise never settles.
    if (this.#isEnded) this.#done();
    return hasRoom;
  }

  /** It holds what it has taken for the time of the call at least: a task that nobody may ask about may run all the same. */
  #goOnAsTask(end: CallEvent & { type: "end" }): Promise<void> | undefined {
    const { call, run, options } = this.#parts;
    run.taskMs = Math.max(end.ttlMs ?? 0, call.deadline - options.clock.now());
    return options.onTask(call, end);
  }

  /** What must outlive us is written down before anybody hears of it. */
  #endAfter(recorded: Promise<void>, event: CallEvent): boolean {
    this.#isHeld = true;
    this.#disarm();
    this.#freeSlot();
    const { out } = this.#parts;
    recorded
      .then(
        () => out.write(event),
        (cause) => out.write({ type: "error", error: GatewayError.from(cause) }),
      )
      .finally(() => {
        this.#isHeld = false;
        this.#done();
      });
    return true;
  }

  ready(): Promise<void> {
    return this.#parts.out.ready();
  }

  #fail(error: GatewayError): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { call, out, target, options } = this.#parts;
    // That nobody answered its question, or that we let go of the call, says nothing about the provider.
    const isOurs = this.#isUnanswered || error.details.by === "gateway";
    target.breaker.failed(call, isOurs ? "CANCELLED" : error.code, options.clock.now());
    out.write({ type: "error", error });
  }

  /** Ends the call now; until the provider lets go, or is waited for no longer, the call holds what it has taken. */
  abort(error: GatewayError): void {
    if (this.#isEnded) return;
    const { call, run, target, options } = this.#parts;
    this.#disarm();
    run.lingering = new Promise((resolve) => {
      this.#letGo = resolve;
    });
    this.#fail(error);
    (run.call as LiveCall).abortSignal(error);
    const holdMs = Math.max(LEAST_HOLD_MS, this.#timeLeft);
    this.#timer = options.timers.after(LEAST_HOLD_MS, () => this.#lend(holdMs - LEAST_HOLD_MS));
    const reason = typeof error.details.reason === "string" ? error.details.reason : error.message;
    const payload = run.lastWords;
    target.provider.reply(call.id, { type: "cancel", reason, holdMs, ...(payload && { payload }) });
    this.#resolve();
  }

  /** The provider has said nothing: others need not wait for it, its caller has to. */
  #lend(restMs: number): void {
    if (restMs <= 0) return this.#done();
    this.#timer = this.#parts.options.timers.after(restMs, () => this.#done());
    if (!this.#slot) return;
    this.#isSlotLent = true;
    this.#parts.target.slots.lend();
  }

  asking(isAsking: boolean): void {
    if (this.#isEnded) return;
    this.#disarm();
    if (isAsking) this.#awaitAnswer();
    else this.#arm();
  }

  extend(ms: number): void {
    if (this.#isEnded) return;
    const isAsking = this.#armedAt === undefined;
    this.#disarm();
    this.#timeLeft = ms;
    if (isAsking) this.#awaitAnswer();
    else this.#arm();
  }

  /** Whoever was asked may be gone for good. The questions of a task may wait as long as the task. */
  #awaitAnswer(): void {
    const { call, options } = this.#parts;
    const least = options.inputMs + GRACE_MS;
    const mayOutlast = call.life === "detached" || call.mayDefer === true;
    const message = "The server's question was not answered in time.";
    const giveUp = () => {
      this.#isUnanswered = true;
      this.abort(new GatewayError("DEADLINE_PASSED", { message }));
    };
    this.#timer = options.timers.after(mayOutlast ? Math.max(least, this.#timeLeft) : least, giveUp);
  }

  #arm(): void {
    if (this.#isEnded || this.#timer) return;
    const { clock, timers } = this.#parts.options;
    this.#armedAt = clock.now();
    this.#timer = timers.after(Math.max(0, this.#timeLeft), () => {
      const { control } = this.#parts.run;
      const unsent = { message: "The call's time was over before its server had a free slot for it: it was not sent." };
      control?.abort(new GatewayError("DEADLINE_PASSED", control === this ? {} : unsent));
    });
  }

  /** Stops the clock of the deadline: the call is over, or waits for a person. */
  #disarm(): void {
    if (!this.#timer) return;
    if (this.#armedAt !== undefined && !this.#isEnded)
      this.#timeLeft -= this.#parts.options.clock.now() - this.#armedAt;
    this.#armedAt = undefined;
    this.#timer.cancel();
    this.#timer = undefined;
  }
}
