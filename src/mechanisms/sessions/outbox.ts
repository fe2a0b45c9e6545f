/**
 * Messages for one client outside any call, for the one stream it listens on. Bounded in number and bytes.
 *
 * Invariants:
 *  1. Sequence numbers only grow; `#items` stands in their order.
 *  2. Items up to `#sent` were written to a stream and stay only so that a client that lost it can have them again.
 *  3. No text of more than MAX_KEPT_TEXT stays, but for questions: the `brief` of its item does.
 *  4. Of items with the same `key` that were not sent yet, only the last stays.
 */
import type { Meter, Principal } from "../../contract/index.ts";

/** `droppable`: may be lost when nobody listens for long. `key`: a later one makes an earlier one pointless. */
export type OutboxItem = {
  readonly text: string;
  readonly type: "log" | "updated" | "list_changed" | "ask" | "notice";
  readonly key?: string;
  /** What is kept in the place of a text that is too long to be kept for whoever is away. */
  readonly brief?: string;
};

/** What is longer is said to whoever listens, and not kept; but for questions, of which there are few. */
export const MAX_KEPT_TEXT = 16 * 1024;

/** What the outboxes of all sessions hold together. */
export class OutboxTotal {
  readonly #most: number;
  #bytes = 0;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  opened(): void {
    this.#count++;
  }

  ended(): void {
    this.#count--;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Whether one that holds so much has to let go of some: not as long as it holds no more than its part. */
  isOver(bytes: number): boolean {
    return this.#bytes > this.#most && bytes > this.#most / this.#count;
  }
}

/** A stream to the client. `write` answers false when it is full; `Outbox.resume` goes on. */
export interface OutboxWriter {
  write(text: string, sequence: number): boolean;
  end(): void;
  /** What was written may be asked for again. */
  readonly canReplay: boolean;
  /** Who listens, as proved when the stream was opened: messages that come later may have other tokens. */
  readonly listener: Principal;
}

export type OutboxLimits = { readonly maxItems: number; readonly maxBytes: number; readonly total?: OutboxTotal };

type Queued = OutboxItem & { readonly sequence: number };

/** Hears what happens to an outbox, so that it can be had again elsewhere. */
export interface OutboxFollower {
  /** Told after the item was sent, if it could be. */
  pushed(item: OutboxItem, sequence: number): void;
  /** Taken back before it was sent. */
  removed(sequence: number): void;
  /** More of what was pushed before has been sent. */
  moved(): void;
}

/** How an outbox stood in another process. */
export type OutboxState = {
  readonly items: readonly Queued[];
  readonly sent: number;
  readonly lost: number;
  readonly next: number;
};

export class Outbox {
  readonly #limits: OutboxLimits;
  readonly #meter: Meter;
  #items: Queued[] = [];
  #bytes = 0;
  #next = 1;
  #sent = 0;
  #lost = 0;
  #follower: OutboxFollower | undefined;
  #writer: OutboxWriter | undefined;
  #isFull = false;
  #hasEnded = false;

  constructor(limits: OutboxLimits, meter: Meter) {
    this.#limits = limits;
    this.#meter = meter;
    limits.total?.opened();
  }

  get isOpen(): boolean {
    return this.#writer !== undefined;
  }

  /** Who listens; undefined: nobody. */
  get listener(): Principal | undefined {
    return this.#writer?.listener;
  }

  /** The number of the last message that was put here. */
  get last(): number {
    return this.#next - 1;
  }

  /** Where the present stream stands: what comes after it has not been sent. */
  get sent(): number {
    return this.#sent;
  }

  /** Up to this number, some of what the client should have had was dropped. */
  get lost(): number {
    return this.#lost;
  }

  /** From now on `follower` hears of everything, and at once of what is here after this number. */
  follow(follower: OutboxFollower, after: number): void {
    this.#follower = follower;
    for (const item of this.#items) if (item.sequence > after) follower.pushed(item, item.sequence);
  }

  /** Goes on where another process left off. Only before anything else happens here. */
  restore({ items, sent, lost, next }: OutboxState): void {
    this.#items = [...items];
    this.#grow(items.reduce((bytes, item) => bytes + item.text.length, 0));
    this.#sent = sent;
    this.#lost = lost;
    this.#next = next;
  }

  push(item: OutboxItem): void {
    if (this.#hasEnded) return;
    if (item.key !== undefined) this.remove(item.key);
    const sequence = this.#next++;
    this.#items.push({ ...item, sequence });
    this.#grow(item.text.length);
    this.#pump();
    const kept = this.#shorten(item, sequence);
    if (kept) this.#follower?.pushed(kept, sequence);
    while (this.#isOver()) this.#dropOne();
  }

  /** What stays of the item that came last, sent or not: a long text is not kept. */
  #shorten({ brief, ...item }: OutboxItem, sequence: number): OutboxItem | undefined {
    if (item.text.length <= MAX_KEPT_TEXT || item.type === "ask") return item;
    const isHere = this.#items.at(-1)?.sequence === sequence;
    if (isHere) this.#take(this.#items.length - 1);
    if (brief !== undefined && brief.length <= MAX_KEPT_TEXT) {
      const short = { ...item, text: brief };
      if (isHere) this.#items.push({ ...short, sequence });
      if (isHere) this.#grow(brief.length);
      return short;
    }
    if (sequence > this.#sent) this.#meter.count("isthmus_events_dropped_total", item.type);
    this.#lost = Math.max(this.#lost, sequence);
    return undefined;
  }

  #grow(bytes: number): void {
    this.#bytes += bytes;
    this.#limits.total?.add(bytes);
  }

  /** Takes back what was not sent yet. True when there was something. */
  remove(key: string): boolean {
    const index = this.#items.findIndex((item) => item.key === key && item.sequence > this.#sent);
    if (index < 0) return false;
    const { sequence } = this.#items[index] as Queued;
    this.#take(index);
    this.#follower?.removed(sequence);
    return true;
  }

  /** Makes `writer` the stream. The former one is ended. `after`: the client has seen everything up to this number. */
  open(writer: OutboxWriter, after?: number): void {
    this.#writer?.end();
    this.#writer = writer;
    this.#isFull = false;
    if (after !== undefined && after >= 0 && after < this.#next) this.#sent = after;
    this.#pump();
    this.#follower?.moved();
  }

  /** The stream was lost; a stream that was replaced says so in vain. */
  close(writer: OutboxWriter): void {
    if (this.#writer === writer) this.#writer = undefined;
  }

  /** Ends the stream. What is here stays, and the client may come back for it. */
  hangUp(): void {
    const writer = this.#writer;
    this.#writer = undefined;
    writer?.end();
  }

  /** The stream has room again. */
  resume(writer: OutboxWriter): void {
    if (this.#writer !== writer) return;
    this.#isFull = false;
    this.#pump();
    this.#follower?.moved();
  }

  end(): void {
    this.#writer?.end();
    this.#writer = undefined;
    this.#items = [];
    this.#grow(-this.#bytes);
    this.#follower = undefined;
    if (!this.#hasEnded) this.#limits.total?.ended();
    this.#hasEnded = true;
  }

  #pump(): void {
    const writer = this.#writer;
    if (!writer || this.#isFull) return;
    for (const item of this.#items) {
      if (item.sequence <= this.#sent) continue;
      this.#sent = item.sequence;
      if (!writer.write(item.text, item.sequence)) {
        this.#isFull = true;
        break;
      }
    }
    if (!writer.canReplay) while (this.#items[0] && this.#items[0].sequence <= this.#sent) this.#take(0);
  }

  #isOver(): boolean {
    const { maxItems, maxBytes, total } = this.#limits;
    return this.#items.length > maxItems || this.#bytes > maxBytes || total?.isOver(this.#bytes) === true;
  }

  /** What was sent once goes first, then logs and updates, then the oldest of the rest. */
  #dropOne(): void {
    const first = this.#items[0];
    if (!first || first.sequence <= this.#sent) {
      // A client that comes back from further away than this misses it.
      this.#lost = Math.max(this.#lost, first?.sequence ?? 0);
      return this.#take(0);
    }
    const index = this.#items.findIndex((item) => item.type === "log" || item.type === "updated");
    const dropped = this.#items[Math.max(index, 0)] as Queued;
    this.#meter.count("isthmus_events_dropped_total", dropped.type);
    this.#lost = Math.max(this.#lost, dropped.sequence);
    this.#take(Math.max(index, 0));
  }

  #take(index: number): void {
    const [item] = this.#items.splice(index, 1);
    this.#grow(-(item?.text.length ?? 0));
  }
}
