/**
 * A task that the server made of a call, for a caller that cannot ask about it: the gateway does, and the call goes on
 * until the task ends. What both eras have in common; how a task asks and ends is the business of its side.
 */
import { GatewayError, JsonFault, jsonText, payload, type Timer } from "../../../contract/index.ts";
import type { Message } from "../../../wire/jsonrpc/index.ts";
import { failureOf, isTrouble } from "../mcp-errors.ts";
import { quotedCode } from "../quoted-words.ts";
import type { RunningCall } from "../running-call.ts";
import type { UpstreamFailure } from "../transport.ts";
import type { UpstreamSession } from "../upstream-session.ts";
import { readTaskState, type TaskState, type TaskWords } from "./task-state.ts";

/** What differs between the eras. Both throw JsonFault. */
export interface TaskSide {
  readonly words: TaskWords;
  /** Goes on from what the server says. False: it need not be asked again for now. */
  advance(state: TaskState): boolean;
  /** Nothing more will be heard of the task. Safe to call twice. */
  stop(): void;
}

/** Failed requests in a row before the task is given up. */
const MAX_FAILURES = 5;
const UNKNOWN_TASK = "-32602";
/** Of one session: a server that makes tasks without end must not fill our memory. */
const MAX_DRIVEN = 10_000;

// Invariants:
//  1. Until `#isOver` the session knows of the task and is kept open for it.
//  2. At most one of `#timer` and `#isPolling` is set.
export class DrivenTask {
  /** The server's own id. */
  readonly id: string;
  readonly running: RunningCall;
  readonly session: UpstreamSession;
  readonly #side: TaskSide;
  #timer: Timer | undefined;
  #isPolling = false;
  #pollMs = 0;
  #failures = 0;
  #message: string | undefined;
  #isOver = false;

  constructor(running: RunningCall, session: UpstreamSession, id: string, side: (task: DrivenTask) => TaskSide) {
    this.running = running;
    this.session = session;
    this.id = id;
    this.#side = side(this);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** `first`: what the server said when it made the task. Throws JsonFault. */
  begin(first: TaskState): void {
    if (this.session.driven.size >= MAX_DRIVEN)
      return this.fail(new GatewayError("OVERLOADED", { message: "The server runs as many tasks as it may." }));
    this.running.driven = this;
    this.session.hold(this);
    this.#message = first.message;
    if (this.running.call.mayDefer)
      this.running.write({
        type: "status",
        state: "working",
        keepMs: first.keepMs,
        retryMs: first.pollMs,
        ...(first.message !== undefined && { message: first.message }),
      });
    this.#take(first);
  }

  /** The server said by itself how the task is. Throws JsonFault. */
  onStatus({ members }: Message): void {
    const state = this.#isOver ? undefined : readTaskState(members, this.#side.words);
    if (state) this.#take(state);
  }

  #take(state: TaskState): void {
    this.#pollMs = state.pollMs;
    this.#tell(state.message);
    if (state.status === "cancelled") this.endCancelled();
    else if (this.#side.advance(state)) this.pollLater();
    else this.#timer?.cancel();
  }

  #tell(message: string | undefined): void {
    if (message === undefined || message === this.#message) return;
    this.#message = message;
    if (this.running.call.mayDefer) this.running.write({ type: "status", state: "working", message });
  }

  /** Asks the server again after its pause. */
  pollLater(): void {
    if (this.#isOver || this.#isPolling) return;
    this.#timer?.cancel();
    this.#timer = this.session.context.timers.after(this.#pollMs, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    const answer = await this.request("tasks/get");
    this.#isPolling = false;
    if (!answer) return this.pollLater();
    if (this.#isOver) return;
    try {
      this.#onPolled(answer);
    } catch (error) {
      this.fail(error);
    }
  }

  #onPolled({ outcome, members }: Message): void {
    const code = members?.textOf("code") ?? "";
    const state = outcome === "fault" ? undefined : readTaskState(members, this.#side.words);
    if (state) this.#take(state);
    else if (outcome === "result") this.giveUp("The server's task has no status that is known.");
    else if (code === UNKNOWN_TASK) this.#endForgotten();
    else this.giveUp(`The server does not say how its task is (code ${quotedCode(members)}).`);
  }

  /** A request about the task; `more`: further members of its params. Undefined when it failed and may be tried again. */
  async request(method: string, more = ""): Promise<Message | undefined> {
    try {
      const params = payload(`{"taskId":${jsonText(this.id)}${more}}`);
      const answer = await this.session.request(method, params);
      this.#failures = 0;
      return answer;
    } catch (error) {
      const failure = failureOf(error);
      if (failure.kind === "expired" || ++this.#failures >= MAX_FAILURES) this.onFailure(failure);
      return undefined;
    }
  }

  /** The server cannot be asked any more: nobody knows what becomes of the task. */
  onFailure(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    const { session } = this;
    this.running.fail(
      new GatewayError(failure.kind === "invalid" ? "PROVIDER_FAILED" : "OUTCOME_UNKNOWN", {
        message: failure.error?.message ?? failure.message,
        cause: failure.cause,
      }),
    );
    if (isTrouble(failure)) session.context.onTrouble(session, failure);
  }

  #endForgotten(): void {
    this.running.fail(new GatewayError("PROVIDER_FAILED", { message: "The server does not know its task any more." }));
  }

  /** The server itself has ended it. */
  endCancelled(): void {
    this.running.fail(new GatewayError("CANCELLED", { message: "The server cancelled its task." }));
  }

  /** The task cannot go on: ends the call, and the task. */
  giveUp(message: string): void {
    this.fail(new GatewayError("PROVIDER_FAILED", { message }));
  }

  fail(thrown: unknown): void {
    void this.cancel();
    this.running.fail(
      thrown instanceof JsonFault
        ? new GatewayError("PROVIDER_FAILED", { message: "The server's answer is not a valid message.", cause: thrown })
        : GatewayError.from(thrown),
    );
  }

  /**
   * Tells the server that nobody waits for the task any more: once, and only of a task that may still run. Resolves when the
   * server has said something to that, or cannot.
   */
  async cancel(): Promise<void> {
    if (this.#isOver) return;
    const cancelled = cancelTask(this.session, this.id);
    this.stop();
    await cancelled;
  }

  /** The call has its end. Safe to call twice. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.cancel();
    this.#side.stop();
    this.session.letGo(this);
  }
}

/** Whatever the server says to this. Never rejects. */
export async function cancelTask(session: UpstreamSession, id: string): Promise<void> {
  try {
    await session.request("tasks/cancel", payload(`{"taskId":${jsonText(id)}}`));
  } catch (error) {
    session.context.log.debug("task not cancelled", { cause: failureOf(error).message });
  }
}
