/** Runs without a kernel: each call goes to a function of the test, which writes events and hears replies. */
import { randomUUID } from "node:crypto";
import type {
  Attachment,
  Call,
  CallEvent,
  CallOrder,
  CallReply,
  Principal,
  Reader,
  Run,
  Runs,
  TaskRecord,
} from "../../src/contract/index.ts";
import { GatewayError } from "../../src/contract/index.ts";

export class FakeRun implements Run {
  readonly id = randomUUID();
  readonly call: Call;
  readonly order: CallOrder;
  readonly replies: CallReply[] = [];
  readonly #events: CallEvent[] = [];
  #reader: Reader | undefined;
  #next = 0;
  #isFull = false;
  isEnded = false;
  cancelled: string | undefined;
  extendedTo: number | undefined;

  constructor(order: CallOrder) {
    this.order = order;
    this.call = {
      ...order,
      id: this.id,
      target: order.entry.target,
      session: order.session,
      deadline: 0,
      signal: new AbortController().signal,
    };
  }

  /** Whether a reader is attached. */
  get isRead(): boolean {
    return this.#reader !== undefined;
  }

  extend(ms: number): void {
    this.extendedTo = ms;
  }

  write(event: CallEvent): void {
    if (this.isEnded) return;
    this.isEnded = event.type === "end" || event.type === "error";
    this.#events.push(event);
    this.#pump();
  }

  #pump(): void {
    while (this.#reader && !this.#isFull && this.#next < this.#events.length) {
      const cursor = this.#next++;
      if (!this.#reader.take(this.#events[cursor] as CallEvent, cursor)) this.#isFull = true;
    }
  }

  /** Events that wait for the reader. */
  get waiting(): number {
    return this.#events.length - this.#next;
  }

  attach(reader: Reader, cursor: number): Attachment {
    this.#reader = reader;
    this.#next = cursor + 1;
    this.#isFull = false;
    this.#pump();
    return {
      missed: 0,
      resume: () => {
        this.#isFull = false;
        this.#pump();
      },
      detach: () => {
        if (this.#reader === reader) this.#reader = undefined;
      },
    };
  }

  reply(reply: CallReply): void {
    this.replies.push(reply);
    this.onReply?.(reply);
  }

  onReply: ((reply: CallReply) => void) | undefined;

  lose(reason: string): void {
    this.cancel(reason);
  }

  cancel(reason?: string): void {
    this.cancelled = reason ?? "";
    this.write({ type: "error", error: new GatewayError("CANCELLED") });
  }
}

export class FakeRuns implements Runs {
  readonly started: FakeRun[] = [];
  readonly tasks: TaskRecord[] = [];
  /** What a provider would do. Called before `start` returns. */
  onStart: (run: FakeRun) => void = () => {};

  start(order: CallOrder, reader: Reader): Run {
    const run = new FakeRun(order);
    this.started.push(run);
    run.attach(reader, -1);
    this.onStart(run);
    return run;
  }

  get last(): FakeRun {
    return this.started.at(-1) as FakeRun;
  }

  find(id: string): Run | undefined {
    return this.started.find((run) => run.id === id);
  }

  async task(id: string): Promise<TaskRecord | undefined> {
    return this.tasks.find((task) => task.id === id);
  }

  async tasksOf(principal: Principal): Promise<readonly TaskRecord[]> {
    return this.tasks.filter((task) => task.principal.id === principal.id).reverse();
  }
}
