/** One open subscriptions/listen: what it wants to hear, and its stream. */
import {
  copyString,
  identityOf,
  type Notice,
  type Payload,
  type Principal,
  payload,
  type Timer,
} from "../../../contract/index.ts";
import type { KeptTask } from "../../../mechanisms/runs/index.ts";
import {
  MAX_KEPT_TEXT,
  type RunningCall,
  type Session,
  type Subscription,
} from "../../../mechanisms/sessions/index.ts";
import { answerText, notificationText } from "../../../wire/jsonrpc/index.ts";
import { SUBSCRIPTION_ID } from "../../../wire/mcp/2026-07-28/index.ts";
import type { FrontContext } from "../front-context.ts";
import { mayHear } from "../told-tasks.ts";
import { toldUpdate } from "../told-updates.ts";
import type { ModernExchange, ModernOutlet, OutletOwner } from "./exchange.ts";
import type { Listeners } from "./listeners.ts";
import { ownResult } from "./results.ts";
import { taskDetails } from "./task-details.ts";

/** Several sessions of a server tell the same change one after the other; the client hears of it once. */
const TOGETHER_MS = 50;
/** What may wait for a client that does not read. */
const MAX_UNSENT = 256;

export class Listener implements OutletOwner, RunningCall {
  readonly run = undefined;
  readonly session: Session;
  /** Who listens, as proved with the request: others who share the session may have other tokens. */
  readonly principal: Principal;
  /** The id of the request, as the client spelled it: every message bears it. */
  readonly #id: string;
  readonly #front: FrontContext;
  readonly #all: Listeners;
  readonly #outlet: ModernOutlet;
  readonly #key: string;
  #methods: ReadonlySet<string> = new Set();
  readonly #wanted = new Set<Subscription>();
  #changed = new Set<string>();
  #timer: Timer | undefined;
  #expiry: Timer | undefined;
  #watching: (() => void)[] = [];
  /** What waits for room, written when there is. */
  #unsent = new Map<string, () => string | undefined>();
  #isFull = false;
  #isOver = false;

  constructor(front: FrontContext, all: Listeners, session: Session, exchange: ModernExchange) {
    const { principal, message, outlet } = exchange;
    this.#front = front;
    this.#all = all;
    this.session = session;
    this.principal = principal;
    // A slice would keep the whole message alive that it was cut from.
    this.#id = copyString(message.id);
    this.#outlet = outlet;
    this.#key = `listen ${++lastKey}`;
    all.open(this);
    session.addRunning(this.#key, this);
    this.#endWith(identityOf(principal).expiresAt);
    outlet.bind(this);
  }

  /** It lasts no longer than the token it was opened with; its client comes back with another one. */
  #endWith(expiresAt: number | undefined): void {
    if (expiresAt === undefined) return;
    this.#expiry = this.#front.timers.after(expiresAt - Date.now(), () => this.end());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The server was asked for it; given back when the listener ends. */
  wants(subscription: Subscription): void {
    this.#wanted.add(subscription);
  }

  /** Hears no more of it. */
  gives(subscription: Subscription): void {
    if (this.#wanted.delete(subscription)) this.#all.unsubscribe(this, subscription);
  }

  /** Hears of these tasks from now on. Gives those that it will hear of. */
  watch(tasks: readonly KeptTask[]): readonly KeptTask[] {
    if (this.#isOver) return [];
    return tasks.filter((task) => {
      const stop = task.watch(() => this.#send(`task ${task.id}`, () => this.#taskText(task)));
      if (stop) this.#watching.push(stop);
      return stop !== undefined;
    });
  }

  /** As it is now; undefined when it is not kept any more, or nothing for this client any more. */
  #taskText(task: KeptTask): string | undefined {
    const place = { catalog: this.session.catalog, principal: this.principal };
    if (task.isForgotten || !mayHear(this.#front, place, task)) return undefined;
    return this.#notification("notifications/tasks", taskDetails(this.#front, task));
  }

  /** Tells what it will hear, and begins. `notifications` is JSON text. */
  acknowledge(notifications: string, methods: ReadonlySet<string>): void {
    if (this.#isOver) return;
    this.#methods = methods;
    this.#tell("ack", "notifications/subscriptions/acknowledged", payload(`{"notifications":${notifications}}`));
    this.#all.add(this);
  }

  listChanged(methods: ReadonlySet<string>): void {
    for (const method of methods) if (this.#methods.has(method)) this.#changed.add(method);
    if (this.#changed.size === 0 || this.#timer) return;
    this.#timer = this.#front.timers.after(TOGETHER_MS, () => {
      this.#timer = undefined;
      for (const method of this.#changed) this.#tell(method, method, payload("{}"));
      this.#changed.clear();
    });
  }

  /** The resource under the name this client knows it by. An update of a part counts for the whole. */
  updated(notice: Notice, uri: string, found: Subscription): void {
    const shown = found.shown + uri.slice(found.own.length);
    const { params, brief } = toldUpdate(notice, uri, shown);
    // Nothing long waits for a client that does not read.
    const told = this.#isFull && params.text.length > MAX_KEPT_TEXT ? brief : params;
    this.#send(`updated ${shown}`, () => this.#notification(notice.method, told));
  }

  /** What it hears of, if nothing keeps it from that. */
  get wanted(): readonly Subscription[] {
    return [...this.#wanted];
  }

  #tell(key: string, method: string, params: Payload): void {
    const text = this.#notification(method, params);
    this.#send(key, () => text);
  }

  #notification(method: string, params: Payload): string {
    return notificationText(method, params.splice(["_meta", SUBSCRIPTION_ID], this.#id));
  }

  /** Of messages with the same key that wait for room, the last one stays. */
  #send(key: string, textOf: () => string | undefined): void {
    if (!this.#isFull) return this.#write(textOf);
    this.#unsent.delete(key);
    this.#unsent.set(key, textOf);
    const [oldest] = this.#unsent.keys();
    // What is said of tasks is not written yet, and so takes no room.
    if (this.#unsent.size <= MAX_UNSENT + this.#watching.length || oldest === undefined) return;
    this.#unsent.delete(oldest);
    this.#front.meter.count("isthmus_events_dropped_total", "updated");
  }

  #write(textOf: () => string | undefined): void {
    const text = textOf();
    if (text !== undefined) this.#isFull = !this.#outlet.send(text);
  }

  resume(): void {
    this.#isFull = false;
    for (const [key, textOf] of this.#unsent) {
      if (this.#isFull) return;
      this.#unsent.delete(key);
      this.#write(textOf);
    }
  }

  /** Ends the stream in good order, with its last word. Safe to call twice. */
  end(): void {
    if (!this.#leave()) return;
    const result = payload("{}").splice(["_meta", SUBSCRIPTION_ID], this.#id);
    this.#outlet.answer(answerText(this.#id, "result", ownResult(this.#front, result, "plain")));
  }

  cancel(): void {
    if (this.#leave()) this.#outlet.drop();
  }

  left(): void {
    this.#leave();
  }

  abandon(): void {
    this.end();
  }

  #leave(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#timer?.cancel();
    this.#expiry?.cancel();
    this.#all.remove(this);
    this.session.dropRunning(this.#key, this);
    this.#giveBack();
    return true;
  }

  #giveBack(): void {
    for (const stop of this.#watching) stop();
    this.#watching = [];
    for (const subscription of this.#wanted) this.gives(subscription);
  }
}

let lastKey = 0;
