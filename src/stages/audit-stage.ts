/** Puts every call on the trail when it ends, however it ends, before anybody hears of the end. */
import {
  type Call,
  type CallEvent,
  type Clock,
  callError,
  type Entry,
  GatewayError,
  type Out,
  type Stage,
  type Target,
} from "../contract/index.ts";
import {
  argumentFacts,
  type CallLines,
  type CallOutcome,
  type CaptureRule,
  type Held,
  type LiveCallFeed,
  type Trail,
  traceIdOf,
  verdictOf,
} from "../mechanisms/audit/index.ts";
import { failureOf } from "./failure-of.ts";

export type AuditStageOptions = {
  readonly trail: Pick<Trail, "noteEntry" | "noteThen" | "flushTurn" | "nextId" | "isFull">;
  readonly lines: CallLines;
  readonly feed: LiveCallFeed;
  readonly clock: Clock;
  /** What to add to the clock for everybody's time. */
  readonly epoch: number;
  /** Whether calls that nobody refused are put on it, too. */
  readonly hasPlain: boolean;
  /** Whether the arguments of such calls are digested. */
  readonly hasDigest: boolean;
  readonly capture: readonly CaptureRule[];
  /** The name that rules have for it. */
  readonly dottedOf: (target: Target) => string;
  /** Whether a call is refused that could not be put on the trail. */
  readonly refusesWhenFull: boolean;
};

export type AuditStage = {
  /** Knows what is called, and is the same for everything. */
  readonly of: (entry: Entry) => Stage;
};

export function auditStage(options: AuditStageOptions): AuditStage {
  const { trail, lines, feed, clock, epoch, refusesWhenFull } = options;

  const stage: Stage = async function audit(call, out, next) {
    // It speaks about another call, which is on the trail by itself: the task stage notes what it changes.
    if (call.resumes !== undefined) return await next(call, out);
    if (refusesWhenFull && trail.isFull) throw new GatewayError("STATE_UNAVAILABLE", { message: FULL });
    const audited = new AuditedCall(call, out, options);
    if (call.run) call.run.witness = audited;
    try {
      if (feed.isWatched) feed.started(call, epoch + clock.now());
      await next(call, audited);
      if (audited.isHeld) await audited.released;
      audited.settled();
    } catch (error) {
      audited.threw(error);
      throw error;
    }
  };

  return {
    of(entry) {
      lines.know(entry.target, entry.primitive);
      return stage;
    },
  };
}

const FULL = "The audit trail is full, and no call is made that cannot be recorded.";

/** Watches a call for its end. */
class AuditedCall implements Out, Held {
  readonly #call: Call;
  readonly #out: Out;
  readonly #options: AuditStageOptions;
  readonly #startedAt: number;
  #bytesOut = 0;
  #isOver = false;
  #end: CallEvent | undefined;
  /** What was thrown when its end was given on. */
  #thrown: { readonly cause: unknown } | undefined;
  /** Resolves when its end is out. */
  released: Promise<void> | undefined;

  constructor(call: Call, out: Out, options: AuditStageOptions) {
    this.#call = call;
    this.#out = out;
    this.#options = options;
    this.#startedAt = options.clock.now();
  }

  write(event: CallEvent): boolean {
    if (event.type === "end") {
      this.#bytesOut += event.payload.text.length;
      if (this.#over(failureOf(event, this.#call.verb) ?? "ok", event, undefined, event.outcome === "task"))
        return true;
    } else if (event.type === "error") {
      if (this.#over(event.error.code, event, event.error)) return true;
    } else if (event.type === "chunk" || event.type === "artifact") this.#bytesOut += event.payload.text.length;
    return this.#out.write(event);
  }

  get isHeld(): boolean {
    return this.#end !== undefined;
  }

  /** Its event is safe: whoever waits for the end may hear of it. */
  release(): void {
    const end = this.#end;
    this.#end = undefined;
    if (!end) return;
    try {
      this.#out.write(end);
    } catch (cause) {
      // The ends of other calls go out with this one.
      this.#thrown = { cause };
    }
  }

  /** All stages behind this one are through. */
  settled(): void {
    if (this.#thrown) throw this.#thrown.cause;
    // As the kernel tells its caller.
    if (!this.#isOver) this.threw(new GatewayError("INTERNAL"));
  }

  ready(): Promise<void> {
    return this.#out.ready();
  }

  /** The run ends without the stages: what is known of the call is on the trail first. */
  ending(error: GatewayError): void {
    if (this.isHeld) this.#options.trail.flushTurn();
    else this.threw(error);
  }

  /** A stage, or the kernel, did not let it through. */
  threw(thrown: unknown): void {
    const error = callError(thrown);
    this.#over(error.code, undefined, error);
  }

  /**
   * `end`: what its caller hears of it; unset: that comes from elsewhere. True: it is given on as soon as the call is on the
   * trail, which may be now.
   */
  #over(code: string, end: CallEvent | undefined, error?: GatewayError, isTask = false): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    const { hasPlain, feed, clock, epoch } = this.#options;
    const isNoted = hasPlain || verdictOf(code).type === "TOOL_BLOCKED";
    if (!isNoted && !feed.isWatched) return false;
    const { timing } = this.#call;
    const repeats = timing?.repeats ?? 0;
    const now = clock.now();
    const plain: CallOutcome = {
      code,
      durationMs: now - this.#startedAt,
      bytesOut: this.#bytesOut,
      attempt: repeats + 1,
      isCached: code === "ok" && timing?.sentAt === 0,
    };
    const outcome = error || isTask ? { ...plain, ...(error && aboutError(error)), ...(isTask && { isTask }) } : plain;
    const at = Math.floor(epoch + now);
    const traceId = traceIdOf(this.#call);
    if (isNoted) this.#note(outcome, end, { at, traceId, repeats });
    if (feed.isWatched) feed.finished(this.#call, at, traceId, outcome);
    return isNoted && end !== undefined;
  }

  /** One event for each try; all but the last were lost with their provider. */
  #note(outcome: CallOutcome, end: CallEvent | undefined, { at, traceId, repeats }: Noting): void {
    const { trail, lines, hasDigest, capture, dottedOf } = this.#options;
    const call = this.#call;
    let first: string | undefined;
    for (let attempt = 1; attempt <= repeats; attempt++) {
      const id = trail.nextId();
      const retryOf = first !== undefined && { retryOf: first };
      const lost = { ...outcome, code: "OUTCOME_UNKNOWN", attempt, bytesOut: 0, ...retryOf };
      trail.noteEntry(lines.entry(call, lost, { at, id, traceId }));
      first ??= id;
    }
    const isWanted = hasDigest || capture.length > 0 || verdictOf(outcome.code).type === "TOOL_BLOCKED";
    const facts = isWanted ? argumentFacts(call, capture, dottedOf) : undefined;
    const last = first === undefined ? outcome : { ...outcome, retryOf: first };
    const entry = lines.entry(call, last, { at, id: trail.nextId(), traceId }, facts);
    if (!end) return trail.noteEntry(entry);
    this.#end = end;
    this.released = trail.noteThen(entry, this);
  }
}

type Noting = { readonly at: number; readonly traceId: string; readonly repeats: number };

function aboutError({ details, cause }: GatewayError): Pick<CallOutcome, "limit" | "exception" | "source"> {
  return {
    ...(typeof details.level === "string" && { limit: details.level }),
    ...(typeof details.source === "string" && { source: details.source }),
    ...(cause instanceof Error && { exception: cause.name }),
  };
}
