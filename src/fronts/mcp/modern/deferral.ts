/** Sends a client away with a task: when the server makes one of its call, or when a call takes longer than anybody waits. */
import {
  type Answer,
  type Ask,
  type CallEvent,
  madeCallOf,
  type Payload,
  payload,
  type Run,
  type Timer,
} from "../../../contract/index.ts";
import type { KeptTask } from "../../../mechanisms/runs/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import type { FrontContext } from "../front-context.ts";
import { holdSession } from "../kept-session.ts";
import { taskMembers } from "../task-text.ts";
import { mayHear } from "../told-tasks.ts";
import { hasForm, missingFor, negative, undeclared } from "./questions.ts";

const PATIENCE_MS = 2000;

type Status = CallEvent & { type: "status" };

/** Of one call whose client takes tasks. */
export class Deferral {
  /** What has become of the call: reads its run from then on. */
  task: KeptTask | undefined;
  readonly #front: FrontContext;
  readonly #session: Session;
  readonly #isSlow: boolean;
  #said: Status | undefined;
  #timer: Timer | undefined;

  /** `isSlow`: the operator lets calls become tasks that merely take long. */
  constructor(front: FrontContext, session: Session, isSlow: boolean) {
    this.#front = front;
    this.#session = session;
    this.#isSlow = isSlow;
  }

  /** The provider has made a task of the call. */
  get isDue(): boolean {
    return this.#said !== undefined;
  }

  /** Whether this says that the provider has made a task of the call. */
  hears(status: Status): boolean {
    if (status.keepMs === undefined) return false;
    this.#said = status;
    return true;
  }

  /** A client waits from now on. */
  wait(onLong: () => void): void {
    this.stop();
    if (this.#isSlow) this.#timer = this.#front.timers.after(PATIENCE_MS, onLong);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Makes a task of the run. Undefined: there is no room for it, or it could not be told of, and the client has to wait. */
  keep(run: Run, handover: { cursor: number; asks: Iterable<Ask> }): KeptTask | undefined {
    // A call that merely takes long can go on without a task.
    if (!this.#said && !this.#front.tasks.isUp) return undefined;
    const { keepMs, retryMs, message } = this.#said ?? {};
    const { capabilities, catalog } = this.#session;
    if (!mayHear(this.#front, { catalog, principal: run.call.principal }, madeCallOf(run.call))) return undefined;
    this.task = this.#front.tasks.keep(run, handover, {
      ...(keepMs !== undefined && { ttlMs: keepMs }),
      ...(retryMs !== undefined && { pollMs: retryMs }),
      ...(message !== undefined && { message }),
      mayAsk: (ask) => hasForm(ask) && missingFor(ask, capabilities) === undefined,
      refusal: (ask) => refusalOf(ask, capabilities),
    });
    if (this.task) holdSession(this.#session, this.task);
    return this.task;
  }
}

function refusalOf(ask: Ask, capabilities: Payload): Answer {
  return missingFor(ask, capabilities) ? undeclared(ask) : negative(ask);
}

/** What the client is sent away with. */
export function deferredResult(task: KeptTask): Payload {
  return payload(`{"resultType":"task",${taskMembers(task, "2026", task.status)}}`);
}
