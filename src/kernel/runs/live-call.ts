import { randomUUID } from "node:crypto";
import type { Call, CallOrder, Target, TaskRecord } from "../../contract/index.ts";
import { LiveTiming } from "./live-timing.ts";
import type { LiveRun } from "./run.ts";

/** A call as the kernel makes it. Its signal exists from the first time someone asks for it. */
export class LiveCall implements Call {
  id = "";
  /** The kernel's own way back to the run; a copy of the call that a stage makes keeps it. */
  run: LiveRun | undefined = undefined;
  readonly target: Call["target"];
  readonly verb: Call["verb"];
  readonly method: string;
  readonly input: Call["input"];
  readonly principal: Call["principal"];
  readonly session: Call["session"];
  readonly origin: Call["origin"];
  readonly deadline: number;
  readonly life: Call["life"];
  readonly timing = new LiveTiming();
  declare readonly template?: Target;
  declare readonly templates?: readonly Target[];
  declare readonly parent?: string;
  declare readonly resumes?: string;
  declare readonly cancels?: true;
  declare readonly task?: TaskRecord;
  declare readonly once?: string;
  declare readonly mayDefer?: boolean;
  #controller: AbortController | undefined;
  #reason: Error | undefined;

  constructor(order: CallOrder, deadline: number) {
    this.target = order.entry.target;
    this.verb = order.verb;
    this.method = order.method;
    this.input = order.input;
    this.principal = order.principal;
    this.session = order.session;
    this.origin = order.origin;
    this.deadline = deadline;
    this.life = order.life;
    if (order.entry.template !== undefined) this.template = order.entry.template;
    if (order.entry.templates !== undefined) this.templates = order.entry.templates;
    if (order.parent !== undefined) this.parent = order.parent;
    if (order.resumes !== undefined) this.resumes = order.resumes;
    if (order.cancels !== undefined) this.cancels = order.cancels;
    if (order.task !== undefined) this.task = order.task;
    if (order.once !== undefined) this.once = order.once;
    if (order.mayDefer !== undefined) this.mayDefer = order.mayDefer;
  }

  /** The id cannot be guessed, and says where the run stands in the table of open ones. */
  launch(run: LiveRun, key: number): void {
    this.run = run;
    this.id = `${randomUUID()}-${key.toString(36)}`;
  }

  static keyOf(id: string): number {
    return Number.parseInt(id.slice(UUID_LENGTH + 1), 36);
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abortSignal(reason: Error): void {
    this.#reason ??= reason;
    this.#controller?.abort(reason);
  }
}

const UUID_LENGTH = 36;
