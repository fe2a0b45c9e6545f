/** One open subscriptions/listen: what it wants to hear, and its stream. */
import { jsonText, type Notice, type Payload, payload, type Timer } from "../../../contract/index.ts";
import type { RunningCall, Session } from "../../../mechanisms/sessions/index.ts";
import { answerText, notificationText } from "../../../wire/jsonrpc/index.ts";
import { SUBSCRIPTION_ID } from "../../../wire/mcp/2026-07-28/index.ts";
import type { FrontContext } from "../front-context.ts";
import type { ModernOutlet, OutletOwner } from "./exchange.ts";
import type { Listeners, Wanted } from "./listeners.ts";
import { ownResult } from "./results.ts";

/** Several sessions of a server tell the same change one after the other; the client hears of it once. */
const TOGETHER_MS = 50;
/** What may wait for a client that does not read. */
const MAX_UNSENT = 256;

export class Listener implements OutletOwner, RunningCall {
  readonly run = undefined;
  readonly session: Session;
  /** The id of the request, as the client spelled it: every message bears it. */
  readonly #id: string;
  readonly #front: FrontContext;
  readonly #all: Listeners;
  readonly #outlet: ModernOutlet;
  readonly #key: string;
  #methods: ReadonlySet<string> = new Set();
  #wanted: readonly Wanted[] = [];
  #changed = new Set<string>();
  #timer: Timer | undefined;
  #unsent = new Map<string, string>();
  #isFull = false;
  #isOver = false;

  constructor(front: FrontContext, all: Listeners, session: Session, id: string, outlet: ModernOutlet) {
    this.#front = front;
    this.#all = all;
    this.session = session;
    this.#id = id;
    this.#outlet = outlet;
    this.#key = `listen ${++lastKey}`;
    session.addRunning(this.#key, this);
    outlet.bind(this);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What it has subscribed to; given back when it ends, or at once if it has ended already. */
  holds(wanted: readonly Wanted[]): void {
    this.#wanted = wanted;
    if (this.#isOver) this.#giveBack();
  }

  /** Tells what it will hear, and begins. `notifications` is JSON text. */
  acknowledge(notifications: string, methods: ReadonlySet<string>): void {
    if (this.#isOver) return;
    this.#methods = methods;
    this.#send("ack", "notifications/subscriptions/acknowledged", payload(`{"notifications":${notifications}}`));
    this.#all.add(this);
  }

  listChanged(methods: ReadonlySet<string>): void {
    for (const method of methods) if (this.#methods.has(method)) this.#changed.add(method);
    if (this.#changed.size === 0 || this.#timer) return;
    this.#timer = this.#front.timers.after(TOGETHER_MS, () => {
      this.#timer = undefined;
      for (const method of this.#changed) this.#send(method, method, payload("{}"));
      this.#changed.clear();
    });
  }

  /** The resource under the name this client knows it by. An update of a part counts for the whole. */
  updated(notice: Notice, uri: string): void {
    const found = this.#wanted.find(
      ({ subscription: { provider, own } }) => provider === notice.from && (uri === own || uri.startsWith(`${own}/`)),
    );
    if (!found) return;
    const shown = found.subscription.shown + uri.slice(found.subscription.own.length);
    this.#send(`updated ${shown}`, notice.method, notice.payload.splice(["uri"], jsonText(shown)));
  }

  /** Of messages with the same key that wait for room, the last one stays. */
  #send(key: string, method: string, params: Payload): void {
    const text = notificationText(method, params.splice(["_meta", SUBSCRIPTION_ID], this.#id));
    if (!this.#isFull) {
      this.#isFull = !this.#outlet.send(text);
      return;
    }
    this.#unsent.delete(key);
    this.#unsent.set(key, text);
    const [oldest] = this.#unsent.keys();
    if (this.#unsent.size <= MAX_UNSENT || oldest === undefined) return;
    this.#unsent.delete(oldest);
    this.#front.meter.count("isthmus_events_dropped_total", "updated");
  }

  resume(): void {
    this.#isFull = false;
    for (const [key, text] of this.#unsent) {
      if (this.#isFull) return;
      this.#unsent.delete(key);
      this.#isFull = !this.#outlet.send(text);
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
    this.#all.remove(this);
    this.session.dropRunning(this.#key, this);
    this.#giveBack();
    return true;
  }

  #giveBack(): void {
    for (const wanted of this.#wanted) this.#all.unsubscribe(this.session, wanted);
    this.#wanted = [];
  }
}

let lastKey = 0;
