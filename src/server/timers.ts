/**
 * The one wheel of the process: 512 slots of 50 ms. Setting and cancelling cost a few pointer writes, so that every
 * call can have a deadline. The interval behind it runs only while something is set and never holds the process.
 */
import type { Clock, Timer, Timers } from "../contract/index.ts";

const TICK_MS = 50;
const SLOTS = 512;

class TimerNode implements Timer {
  next: TimerNode = this;
  previous: TimerNode = this;
  readonly tick: number;
  readonly fire: () => void;
  readonly #wheel: { count: number } | undefined;

  constructor(tick: number, fire: () => void, wheel?: { count: number }) {
    this.tick = tick;
    this.fire = fire;
    this.#wheel = wheel;
  }

  /** Puts this node at the end of the ring that `head` stands for. */
  join(head: TimerNode): void {
    this.previous = head.previous;
    this.next = head;
    head.previous.next = this;
    head.previous = this;
  }

  leave(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.next = this;
    this.previous = this;
  }

  cancel(): void {
    if (this.next === this) return;
    this.leave();
    if (this.#wheel) this.#wheel.count--;
  }
}

const newRing = (): TimerNode => new TimerNode(0, () => {});

// Invariants:
//  1. `count` is the number of nodes in a slot or waiting to fire; the interval runs whenever it is above 0.
//  2. A node's tick lies after `current` when it is set, so no node waits in a slot that was passed.
//  3. A node fires at or after `tick * TICK_MS` on the clock: up to one tick late, never early.
export class TimerWheel implements Timers {
  count = 0;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #slots: readonly TimerNode[] = Array.from({ length: SLOTS }, newRing);
  #current = 0;
  #interval: NodeJS.Timeout | undefined;

  /** `onError` hears what a fired function throws; the others fire all the same. */
  constructor(options: { clock: Clock; onError: (error: unknown) => void }) {
    this.#clock = options.clock;
    this.#onError = options.onError;
  }

  after(ms: number, fire: () => void): Timer {
    const now = this.#clock.now();
    if (!this.#interval) this.#start(now);
    const tick = Math.max(Math.ceil((now + ms) / TICK_MS), this.#current + 1);
    const node = new TimerNode(tick, fire, this);
    node.join(this.#slots[tick % SLOTS] as TimerNode);
    this.count++;
    return node;
  }

  /** Forgets everything that is set. */
  close(): void {
    for (const slot of this.#slots) while (slot.next !== slot) slot.next.cancel();
    this.#stop();
  }

  #start(now: number): void {
    this.#current = Math.floor(now / TICK_MS);
    this.#interval = setInterval(() => this.#advance(), TICK_MS);
    this.#interval.unref();
  }

  #stop(): void {
    clearInterval(this.#interval);
    this.#interval = undefined;
  }

  #advance(): void {
    // Stopped here rather than by the last cancel: calls come and go faster than ticks.
    if (this.count === 0) {
      this.#stop();
      return;
    }
    const target = Math.floor(this.#clock.now() / TICK_MS);
    // After a suspended process every slot was passed more than once: then one look at each is enough.
    if (target - this.#current >= SLOTS) this.#catchUp(target);
    else while (this.#current < target) this.#turn();
  }

  #turn(): void {
    this.#current++;
    const due = newRing();
    this.#collect(this.#slots[this.#current % SLOTS] as TimerNode, this.#current, (node) => node.join(due));
    this.#fireAll(due);
  }

  #catchUp(target: number): void {
    const late: TimerNode[] = [];
    for (const slot of this.#slots) this.#collect(slot, target, (node) => late.push(node));
    this.#current = target;
    const due = newRing();
    for (const node of late.sort((a, b) => a.tick - b.tick)) node.join(due);
    this.#fireAll(due);
  }

  #collect(slot: TimerNode, tick: number, take: (node: TimerNode) => void): void {
    let node = slot.next;
    while (node !== slot) {
      const { next } = node;
      if (node.tick <= tick) {
        node.leave();
        take(node);
      }
      node = next;
    }
  }

  // One fired function may cancel the next: nodes stay in the ring until their turn, where cancel finds them.
  #fireAll(due: TimerNode): void {
    while (due.next !== due) {
      const node = due.next;
      node.cancel();
      try {
        node.fire();
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
