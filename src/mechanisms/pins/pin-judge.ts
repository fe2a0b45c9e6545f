/**
 * Compares what a server lists with its pins. What differs from client to client is learned while a tool is new: of each
 * kind of client the first definition it is shown, until the server ends or somebody accepts a change. After that every
 * other definition is a change, whoever is shown it.
 */
import { createHash } from "node:crypto";
import { mapSteps, type Offer, type Steps } from "../../contract/index.ts";
import { isTelling, membersDigest, type PinKind, type Print, printOf } from "./fingerprint.ts";
import {
  formerOf,
  keyOf,
  MAX_PINS,
  MAX_PRINTS,
  type PendingPrint,
  type PinBook,
  type PinChange,
  type PinTarget,
} from "./pin-book.ts";

/** How long a pin is kept after its server stopped listing it. */
const KEEP_GONE_MS = 30 * 24 * 3_600_000;

export type Judgement = {
  /** What has changed and is not accepted, by name. */
  readonly suspects: ReadonlyMap<string, PendingPrint>;
  /** Changes to the book, in order. They have been made. */
  readonly changes: readonly PinChange[];
  /** Those that were pinned now. */
  readonly fresh: readonly string[];
  /** Those that could not be pinned, because the server has too many. */
  readonly unpinned: ReadonlySet<string>;
  /** Since when there are any. */
  readonly fullSince: string;
};

/** Without its texts, which the book has as far as anybody is shown them. */
type Remembered = { readonly raw: string; readonly print: Print };

/** What is known of one server only while it runs. */
class ServerMemory {
  /** By target: what each profile was shown first. Only of what was pinned in this run. */
  readonly shown = new Map<string, Map<string, string>>();
  /** By target: spares working out the print of a text that has not changed. */
  readonly prints = new Map<string, Remembered>();
  /** What was listed at least once: it is not taken for gone when some clients do not see it. */
  readonly seen = new Set<string>();
  fullSince: string | undefined;

  printOf(target: PinTarget, text: string, book: PinBook): Print {
    const key = keyOf(target);
    const raw = createHash("sha256").update(text, "latin1").digest("base64");
    const known = this.prints.get(key);
    if (known?.raw === raw && book.has(target, known.print)) return known.print;
    const print = printOf(target.kind, text);
    if (known || this.prints.size < MAX_PINS) this.prints.set(key, { raw, print: { ...print, texts: undefined } });
    return print;
  }
}

export class PinJudge {
  readonly #memory = new Map<string, ServerMemory>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The server has ended: what comes in its place is not taken for the same. */
  forget(server: string): void {
    this.#memory.get(server)?.shown.clear();
  }

  /**
   * The prints are worked out in steps, and what is to be said of them in one: the book may change in the meantime.
   * `book`: as it is then.
   */
  *judge(
    book: () => PinBook,
    server: string,
    profile: string,
    offer: Offer & { readonly kind: PinKind },
  ): Steps<Judgement> {
    const memory = this.#memoryOf(server);
    const { kind } = offer;
    const prints = yield* mapSteps(offer.primitives, ({ name, definition }) =>
      memory.printOf({ server, kind, name }, definition.text, book()),
    );
    const work = new OfferWork({ book: book(), server, profile, kind, memory, at: this.#now() });
    for (const [place, { name }] of offer.primitives.entries()) work.judge(name, prints[place] as Print);
    work.judgeMissing();
    return work;
  }

  #memoryOf(server: string): ServerMemory {
    const memory = this.#memory.get(server) ?? new ServerMemory();
    this.#memory.set(server, memory);
    return memory;
  }
}

type WorkOptions = {
  readonly book: PinBook;
  readonly server: string;
  readonly profile: string;
  readonly kind: PinKind;
  readonly memory: ServerMemory;
  readonly at: number;
};

class OfferWork implements Judgement {
  readonly suspects = new Map<string, PendingPrint>();
  readonly changes: PinChange[] = [];
  readonly fresh: string[] = [];
  readonly unpinned = new Set<string>();
  readonly #options: WorkOptions;
  readonly #at: string;
  readonly #here = new Set<string>();
  /** Names by digest, of what was pinned before this offer. */
  #known: ReadonlyMap<string, string> | undefined;

  constructor(options: WorkOptions) {
    this.#options = options;
    this.#at = new Date(options.at).toISOString();
  }

  judge(name: string, print: Print): void {
    const { book, server, kind, memory } = this.#options;
    const target: PinTarget = { server, kind, name };
    const key = keyOf(target);
    this.#known ??= this.#knownDigests();
    this.#here.add(key);
    let pin = book.find(target);
    if (pin && formerOf(pin, print)) {
      this.#change((one) => one.renew(target, print));
      pin = book.find(target);
    }
    if (pin) memory.seen.add(key);
    if (pin?.goneAt !== undefined) this.#change((one) => one.setGone(target, undefined));
    const isAccepted = pin?.prints.some(({ digest }) => digest === print.digest) ?? false;
    if (isAccepted) this.#noteShown(key, print);
    else if (!pin) this.#first(target, key, print);
    else if (this.#isVariant(key, pin.prints.length)) this.#learn(target, key, print);
    else this.#suspect(target, print);
  }

  get fullSince(): string {
    const { memory } = this.#options;
    memory.fullSince ??= this.#at;
    return memory.fullSince;
  }

  #first(target: PinTarget, key: string, print: Print): void {
    const was = isTelling(print) ? this.#known?.get(membersDigest(target.kind, print)) : undefined;
    if (this.#options.book.isFull(target.server)) this.unpinned.add(target.name);
    else if (was !== undefined) this.#suspect(target, print, was);
    else {
      this.#change((book) => book.pin(target, print, this.#at));
      this.#options.memory.shown.set(key, new Map([[this.#options.profile, print.digest]]));
      this.fresh.push(target.name);
    }
  }

  /** What this kind of client was not shown before may be its own from the beginning. */
  #isVariant(key: string, count: number): boolean {
    const shown = this.#options.memory.shown.get(key);
    return shown !== undefined && !shown.has(this.#options.profile) && count < MAX_PRINTS;
  }

  #learn(target: PinTarget, key: string, print: Print): void {
    this.#change((book) => book.learn(target, print));
    const isLearned = this.#options.book.find(target)?.prints.some(({ digest }) => digest === print.digest);
    if (isLearned) this.#noteShown(key, print);
    else this.#suspect(target, print);
  }

  #noteShown(key: string, { digest }: Print): void {
    const shown = this.#options.memory.shown.get(key);
    if (shown && shown.size < MAX_PRINTS && !shown.has(this.#options.profile)) shown.set(this.#options.profile, digest);
  }

  #suspect(target: PinTarget, print: Print, was?: string): void {
    const find = () => this.#options.book.find(target)?.pending.find(({ digest }) => digest === print.digest);
    if (!find()) this.#change((book) => book.suspect(target, print, { at: this.#at, was }));
    const pending = find();
    if (pending) this.suspects.set(target.name, pending);
  }

  /** What the server does not list any more: remembered for a while, lest it comes back as something else. */
  judgeMissing(): void {
    const { book, server, kind, memory, at } = this.#options;
    for (const pin of [...book.pinsOf(server)]) {
      if (pin.kind !== kind || this.#here.has(keyOf(pin))) continue;
      const { goneAt } = pin;
      const isSeen = memory.seen.has(keyOf(pin));
      if (goneAt === undefined && !isSeen) this.#change((one) => one.setGone(pin, this.#at));
      else if (goneAt !== undefined && at - Date.parse(goneAt) > KEEP_GONE_MS) this.#change((one) => one.drop(pin));
    }
  }

  #change(change: PinChange): void {
    change(this.#options.book);
    this.changes.push(change);
  }

  #knownDigests(): ReadonlyMap<string, string> {
    const known = new Map<string, string>();
    for (const { kind, name, prints } of this.#options.book.pinsOf(this.#options.server)) {
      if (kind === this.#options.kind) for (const print of prints) known.set(membersDigest(kind, print), name);
    }
    return known;
  }
}
