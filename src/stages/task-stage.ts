/**
 * What is said about a task that a provider runs: bounded, since it takes nothing of any limit, and on the trail where it
 * changes something. Who got the result is noted by whoever hands it out.
 */
import {
  type AuditEvent,
  type AuditTrail,
  type Call,
  type CallEvent,
  type Counters,
  GatewayError,
  identityOf,
  type Out,
  type Stage,
  type TaskEnding,
  type TaskRecord,
} from "../contract/index.ts";

/** A caller may ask the same about one task so often at once, and so often in each second. */
const AT_ONCE = 60;
const PER_SECOND = 2;
const REMEMBER_MS = 60_000;
/** Ends that are known to be on the trail; of more the oldest is noted once more when it is told again. */
const MAX_ENDS = 10_000;

export type TaskStageOptions = {
  readonly counters: Pick<Counters, "take">;
  readonly trail: Pick<AuditTrail, "note">;
  /** Whether calls that nobody refused are on the trail. */
  readonly hasPlain: boolean;
};

export function taskStage({ counters, trail, hasPlain }: TaskStageOptions): Stage {
  const ends = new Set<string>();

  function ended(call: Call, task: TaskRecord, status: TaskEnding): void {
    const end = `${status} ${task.id}`;
    if (ends.has(end)) return;
    ends.add(end);
    const [oldest] = ends;
    if (ends.size > MAX_ENDS && oldest !== undefined) ends.delete(oldest);
    trail.note(eventOf(call, task, "dev.isthmus.task.ended", status === "completed", { status }));
  }

  return async function aboutTask(call, out, next) {
    const { task } = call;
    // What another process asks for its callers was counted and noted there.
    if (call.resumes === undefined || !task || call.session?.isPeer) return await next(call, out);
    refuseTooOften(counters, call, task);
    if (!hasPlain) return await next(call, out);
    const cancel = call.cancels ? new NotedCancel(call, task, trail) : undefined;
    const watched: Out = {
      ready: () => out.ready(),
      write(event) {
        cancel?.heard(event);
        if (event.type === "end" && event.endsTask !== undefined) ended(call, task, event.endsTask);
        return out.write(event);
      },
    };
    try {
      await next(call, watched);
    } catch (error) {
      cancel?.failed(GatewayError.from(error).code);
      throw error;
    }
  };
}

/** That somebody wanted a task to end, and whether its provider took it, once. */
class NotedCancel {
  readonly #call: Call;
  readonly #task: TaskRecord;
  readonly #trail: Pick<AuditTrail, "note">;
  #isNoted = false;

  constructor(call: Call, task: TaskRecord, trail: Pick<AuditTrail, "note">) {
    this.#call = call;
    this.#task = task;
    this.#trail = trail;
  }

  heard(event: CallEvent): void {
    if (event.type === "error") this.failed(event.error.code);
    else if (event.type === "end") this.#note(event.outcome === "fault" ? "fault" : undefined);
  }

  failed(code: string): void {
    this.#note(code);
  }

  #note(code: string | undefined): void {
    if (this.#isNoted) return;
    this.#isNoted = true;
    const details = code === undefined ? {} : { code };
    this.#trail.note(eventOf(this.#call, this.#task, "dev.isthmus.task.cancelled", code === undefined, details));
  }
}

function eventOf(
  { principal, method, origin: { address = "" } }: Call,
  { id, target }: TaskRecord,
  type: AuditEvent["type"],
  isSuccess: boolean,
  details: AuditEvent["details"],
): AuditEvent {
  const { tenant, user, client } = identityOf(principal);
  return {
    type,
    tenant,
    actor: { type: "agent", id: principal.id },
    target: { server: target.provider, name: target.name },
    result: isSuccess ? "SUCCESS" : "FAILURE",
    details: { user, client, method, task_id: id, address, ...details },
  };
}

/** Each method has a count of its own: who has asked too often how the task is can still cancel it, or wait for its result. */
function refuseTooOften(counters: Pick<Counters, "take">, call: Call, { id }: TaskRecord): void {
  const key = JSON.stringify(["task", id, call.principal.id, call.method]);
  const bucket = {
    key,
    level: "user",
    capacity: AT_ONCE,
    refill: PER_SECOND,
    periodMs: 1000,
    ttlMs: REMEMBER_MS,
  } as const;
  const limited = counters.take({ call: call.id, member: "", debits: [bucket] });
  if (limited === undefined) return;
  const { level, retryMs = 1000 } = limited;
  throw new GatewayError("LIMITED", {
    message: `This task is asked about too often. Try again in ${Math.ceil(retryMs / 100) / 10} s.`,
    details: { level, retryAfterMs: retryMs },
  });
}
