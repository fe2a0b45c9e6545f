/**
 * A call whose caller was sent away: reads its run, and knows what has become of it until its time is over.
 *
 * Invariants:
 *  1. `#run` is there from `begin` to the end of the task; what the run says before it is known waits in `#early`.
 *  2. Once the task is over nothing about it changes, and nothing is pending.
 *  3. `ttlMs` never gets shorter: whoever was told how long the task is kept can rely on it.
 *  4. Where tasks outlive the process, nobody hears that this one is over before its row says so; `#outcome` waits for it.
 */
import {
  type Answer,
  type Ask,
  type CallEvent,
  GatewayError,
  type Principal,
  payload,
  type Reader,
  type Run,
  type Target,
  type Timer,
  type Timers,
} from "../../contract/index.ts";
import { saysFailed, type TaskEnd, type TaskFacts, type TaskOutcome, type TaskStatus } from "./task-facts.ts";
import { boundPoll, boundTtl, type TaskTerms } from "./task-terms.ts";

const MAX_PENDING = 64;
const MAX_WATCHERS = 64;

/** What a task needs from the registry that keeps it. `now` is everybody's time, in ms. */
export interface TaskOwner {
  readonly timers: Timers;
  now(): number;
  /**
   * Writes down how the task is over, and tells `done`, with what others had decided before where they had. Undefined:
   * tasks do not outlive the process. The promise is of the first attempt; others follow where it rejects.
   */
  settle(task: KeptTask, outcome: TaskOutcome, done: (decided?: TaskOutcome) => void): Promise<void> | undefined;
  /** It is kept longer than its row says. */
  prolonged(task: KeptTask): void;
  ended(task: KeptTask): void;
  /** Its time is over. */
  expired(task: KeptTask): void;
}

export class KeptTask implements Reader, TaskFacts {
  readonly keeps = false;
  readonly principal: Principal;
  readonly #owner: TaskOwner;
  /** There as long as its run: they may hold the whole request alive. */
  #terms: TaskTerms | undefined;
  readonly #since: number;
  readonly #pending = new Map<string, Ask>();
  readonly #watchers = new Set<() => void>();
  #run: Run | undefined;
  #early: CallEvent[] = [];
  #timer: Timer | undefined;
  #updated: number;
  #outcome: TaskOutcome | undefined;
  /** Resolves when its caller may be told of it; rejects with STATE_UNAVAILABLE. Undefined: at once. */
  stored: Promise<void> | undefined;
  /** Of one that is about to be over: resolves when that may be told; rejects when the store did not take it at once. */
  ending: Promise<void> | undefined;
  id = "";
  target: Target | undefined;
  args: string | undefined;
  status: TaskStatus = "working";
  message: string | undefined;
  ttlMs: number;
  pollMs: number;
  /** Set when the task is completed or failed. */
  end: TaskEnd | undefined;
  /** It is not kept any more. */
  isForgotten = false;

  constructor(owner: TaskOwner, principal: Principal, terms: TaskTerms) {
    this.#owner = owner;
    this.principal = principal;
    this.#terms = terms;
    this.#since = owner.now();
    this.#updated = this.#since;
    this.ttlMs = boundTtl(terms.ttlMs);
    this.pollMs = boundPoll(terms.pollMs);
    this.message = terms.message;
  }

  get createdAt(): string {
    return new Date(this.#since).toISOString();
  }

  /** When its time is over, on everybody's clock in ms. */
  get expiresAt(): number {
    return this.#since + this.ttlMs;
  }

  get lastUpdatedAt(): string {
    return new Date(this.#updated).toISOString();
  }

  get isOver(): boolean {
    return this.status !== "working" && this.status !== "input_required";
  }

  get isError(): boolean {
    return saysFailed(this.end);
  }

  /** Questions that wait for an answer. */
  get pending(): Iterable<Ask> {
    return this.#pending.values();
  }

  isPending(key: string): boolean {
    return this.#pending.has(key);
  }

  /** What keeping it costs once it is over. */
  get bytes(): number {
    return (this.args?.length ?? 0) + (this.end?.type === "end" ? this.end.payload.text.length : 0);
  }

  /** Takes its run, and gives it as long as the task may live. `asks`: what a former reader had not settled. */
  begin(run: Run, asks: Iterable<Ask> = []): void {
    this.#run = run;
    this.id = run.id;
    this.#arm(this.ttlMs);
    run.extend(this.ttlMs);
    this.#ask(asks);
    const early = this.#early;
    this.#early = [];
    for (const event of early) this.take(event);
  }

  take(event: CallEvent): boolean {
    if (this.isOver || this.#outcome) return true;
    if (!this.#run) {
      this.#early.push(event);
      return true;
    }
    switch (event.type) {
      case "end":
      case "error":
        this.#finish(endOf(event));
        break;
      case "ask":
        if (this.#ask(event.asks)) this.#changed();
        break;
      case "status":
        this.#hear(event);
        break;
      case "notice":
        // Whoever asked does not want to know any more.
        if (event.method === "notifications/cancelled" && this.#pending.delete(event.key ?? "")) this.#changed();
        break;
      default:
        this.#terms?.overhear?.(event);
    }
    return true;
  }

  #ask(asks: Iterable<Ask>): boolean {
    const before = this.#pending.size;
    for (const ask of asks) {
      if (this.#pending.size < MAX_PENDING && this.#terms?.mayAsk(ask)) this.#pending.set(ask.key, ask);
      else this.#refuse(ask);
    }
    this.#judge();
    return this.#pending.size > before;
  }

  /** Not at once: whoever asks is still in the middle of writing the question. */
  #refuse(ask: Ask): void {
    queueMicrotask(() => {
      if (this.#terms) this.#run?.reply({ type: "answer", answers: [this.#terms.refusal(ask)] });
    });
  }

  #hear({ message, retryMs, keepMs }: CallEvent & { type: "status" }): void {
    const [formerMessage, formerTtl, formerPoll] = [this.message, this.ttlMs, this.pollMs];
    if (message !== undefined) this.message = message;
    if (retryMs !== undefined) this.pollMs = boundPoll(retryMs);
    if (keepMs !== undefined) this.#prolong(keepMs);
    if (this.message !== formerMessage || this.ttlMs !== formerTtl || this.pollMs !== formerPoll) this.#changed();
  }

  #prolong(keepMs: number): void {
    const age = this.#owner.now() - this.#since;
    const ttlMs = boundTtl(age + keepMs);
    if (ttlMs <= this.ttlMs) return;
    this.ttlMs = ttlMs;
    this.#owner.prolonged(this);
    this.#arm(ttlMs - age);
    this.#run?.extend(ttlMs - age);
  }

  #arm(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#owner.timers.after(ms, () => this.#owner.expired(this));
  }

  #judge(): void {
    this.status = this.#pending.size > 0 ? "input_required" : "working";
  }

  #finish(end: TaskEnd): void {
    const message = end.type === "error" ? end.error.message : this.message;
    if (end.type === "error" && end.error.code === "CANCELLED")
      return this.#conclude({ status: "cancelled", message, end: undefined });
    const isResult = end.type === "end" && end.outcome === "result";
    this.#conclude({ status: isResult ? "completed" : "failed", message, end });
  }

  #conclude(outcome: TaskOutcome): void {
    this.#outcome = outcome;
    this.#letGo();
    this.ending = this.#owner.settle(this, outcome, (decided) => this.#over(decided ?? outcome));
    // Whoever asks for it hears of it; it is tried again anyway.
    this.ending?.catch(() => undefined);
  }

  /** Its run is over, or nobody's any more. */
  #letGo(): void {
    this.#pending.clear();
    this.#run = undefined;
    this.#terms = undefined;
    this.status = "working";
  }

  #over({ status, message, end }: TaskOutcome): void {
    if (this.isOver) return;
    this.status = status;
    this.message = message;
    this.end = end;
    this.#changed();
    this.#watchers.clear();
    this.#owner.ended(this);
  }

  #changed(): void {
    if (!this.isOver) this.#judge();
    this.#updated = this.#owner.now();
    for (const watcher of [...this.#watchers]) watcher();
  }

  /** Passes on the answers to what is pending; others are not looked at. */
  answer(answers: readonly Answer[]): void {
    const given = answers.filter(({ key }) => this.#pending.delete(key));
    if (given.length === 0) return;
    this.#changed();
    this.#run?.reply({ type: "answer", answers: given });
  }

  /** Ends the task. One that is over, or about to be, stays as it is. */
  cancel(reason: string): void {
    if (this.isOver || this.#outcome) return;
    const run = this.#run;
    this.#conclude({ status: "cancelled", message: this.message, end: undefined });
    run?.cancel(reason);
  }

  /** Ends the task here, whatever its row says. */
  lapse(reason: string): void {
    if (this.isOver) return;
    const run = this.#run;
    this.#letGo();
    this.#over({ status: "cancelled", message: this.message, end: undefined });
    run?.cancel(reason);
  }

  /** Tells of every change until it is stopped. Undefined: as many watch this task as may. */
  watch(watcher: () => void): (() => void) | undefined {
    if (this.#watchers.size >= MAX_WATCHERS) return undefined;
    if (!this.isOver) this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** Lets go of everything. */
  forget(): void {
    this.isForgotten = true;
    this.#timer?.cancel();
    this.#watchers.clear();
    this.end = undefined;
  }
}

/** The end without the message it came in. A task cannot end with another task, nor with a question. */
function endOf(event: CallEvent & { type: "end" | "error" }): TaskEnd {
  if (event.type === "error") return event;
  const { outcome } = event;
  if (outcome === "result" || outcome === "fault")
    return { type: "end", outcome, payload: payload(event.payload.text) };
  const message = "The provider's answer to a task was not its result.";
  return { type: "error", error: new GatewayError("PROVIDER_FAILED", { message }) };
}
