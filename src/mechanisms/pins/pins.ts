/**
 * Tool pins: what a server lists is compared with what it listed when it was first seen. Judging is done here and in
 * memory; the file behind it is read when it is named and whenever somebody else has written it.
 */
import type { Log, Meter, Offer, PinRemark, Steps, Timer, Timers } from "../../contract/index.ts";
import { isPinned, type PinKind } from "./fingerprint.ts";
import { PinBook, type PinChange } from "./pin-book.ts";
import { type PinFile, PinFileFault } from "./pin-file.ts";
import { type Judgement, PinJudge } from "./pin-judge.ts";

/** report: a change is told. block: what has changed is held back, too. off: nobody looks. */
export type PinMode = "report" | "block" | "off";

export type PinsOptions = {
  readonly log: Log;
  readonly meter: Meter;
  readonly timers: Timers;
  readonly modeOf: (server: string) => PinMode;
  /** Other verdicts are to be expected: somebody has written the file. */
  readonly onChange: () => void;
  /** Everybody's clock, in ms. */
  readonly now?: () => number;
};

const SAVE_MS = 500;
const RETRY_MS = 30_000;
/** Lines about single tools in one go; the rest is counted. */
const MAX_LINES = 20;
const MAX_UNSAVED = 200_000;

// Invariants:
//  1. `#book` is what the file holds with `#unsaved` made to it, as far as we know the file.
//  2. At most one save runs; `#timer` is set only while none does.
export class Pins {
  readonly #options: PinsOptions;
  readonly #judge: PinJudge;
  /** Unset: pins live as long as the process. */
  #file: PinFile | undefined;
  #book = new PinBook();
  #unsaved: PinChange[] = [];
  #saving: Promise<void> | undefined;
  #timer: Timer | undefined;
  #lastFault = "";
  /** Kinds and servers of which it was told that not everything is pinned. */
  readonly #full = new Set<string>();
  readonly #told = new Set<string>();

  constructor(options: PinsOptions) {
    this.#options = options;
    this.#judge = new PinJudge(options.now ?? Date.now);
  }

  /** How many tools and prompts have changed and are not accepted. */
  get pendingCount(): number {
    return this.#book.pending.length;
  }

  /** Keeps them there from now on. What is there already counts; an empty place gets what is known. */
  keepIn(file: PinFile | undefined): void {
    void this.flush();
    this.#file = file;
    if (!this.#load() && !this.#book.isEmpty) this.#keep([() => undefined]);
  }

  /** Reads the file, if it is not as we know it; says whether there was anything to read. */
  #load(): boolean {
    const file = this.#file;
    if (!file?.hasChanged) return false;
    try {
      const book = file.read();
      this.#lastFault = "";
      // A file that is gone is no word about any tool: what we know is written with the next change.
      if (!book) return false;
      this.#take(book);
      return true;
    } catch (error) {
      this.#warn(error);
      return false;
    }
  }

  /** Somebody may have written the file. */
  async reload(): Promise<void> {
    while (this.#saving !== undefined) await this.#saving;
    if (this.#load()) this.#options.onChange();
  }

  #take(book: PinBook): void {
    for (const change of this.#unsaved) change(book);
    this.#book = book;
  }

  /** What there is to say goes into the offers. `profile`: equal for clients that declare the same. */
  *screen(server: string, profile: string, offers: readonly Offer[]): Steps<readonly Offer[]> {
    const mode = this.#options.modeOf(server);
    const screened: Offer[] = [];
    for (const { pins: _former, ...offer } of offers) {
      const { kind } = offer;
      const pins =
        mode !== "off" && isPinned(kind)
          ? yield* this.#screenKind(server, profile, { ...offer, kind }, mode)
          : undefined;
      screened.push(pins && pins.size > 0 ? { ...offer, pins } : offer);
    }
    return screened;
  }

  *#screenKind(
    server: string,
    profile: string,
    offer: Offer & { readonly kind: PinKind },
    mode: "report" | "block",
  ): Steps<ReadonlyMap<string, PinRemark>> {
    const judgement = yield* this.#judge.judge(() => this.#book, server, profile, offer);
    this.#keep(judgement.changes);
    this.#tell(server, offer.kind, judgement, mode);
    const status = mode === "block" ? "held" : "changed";
    const remarks = new Map<string, PinRemark>();
    for (const [name, { since, what, was }] of judgement.suspects) {
      remarks.set(name, { status, since, what, ...(was !== undefined && { was }) });
    }
    // What nobody can compare with anything could change every day.
    if (mode === "block" && judgement.unpinned.size > 0) {
      const remark: PinRemark = { status: "held", since: judgement.fullSince, what: ["not pinned"] };
      for (const name of judgement.unpinned) remarks.set(name, remark);
    }
    return remarks;
  }

  #tell(server: string, kind: PinKind, { suspects, fresh, unpinned }: Judgement, mode: "report" | "block"): void {
    const { log, meter } = this.#options;
    if (fresh.length > 0) {
      const names = fresh.length <= MAX_LINES ? fresh : undefined;
      log.info("pinned what is new", { provider: server, kind, count: fresh.length, ...(names && { names }) });
    }
    const place = `${kind} ${server}`;
    if (unpinned.size > 0 && !this.#full.has(place)) {
      this.#full.add(place);
      const held = mode === "block";
      const reason = "it lists too much";
      log.warn("not everything is pinned", { provider: server, kind, count: unpinned.size, held, reason });
    }
    let lines = 0;
    for (const [name, { digest, what, was }] of suspects) {
      const key = JSON.stringify([server, mode, digest, name.slice(0, 256)]);
      if (this.#told.has(key)) continue;
      if (this.#told.size < MAX_UNSAVED) this.#told.add(key);
      meter.count("isthmus_pin_changes_total", server);
      const fields = { provider: server, [kind]: name, what, ...(was !== undefined && { was }) };
      if (lines++ < MAX_LINES) log.warn(`${kind} ${mode === "block" ? "held back" : "changed"}`, fields);
    }
    if (lines > MAX_LINES) log.warn("more has changed", { provider: server, kind, count: lines - MAX_LINES });
  }

  /** The server has ended: what comes in its place is not taken for the same. */
  lost(server: string): void {
    this.#judge.forget(server);
  }

  #keep(changes: readonly PinChange[]): void {
    if (!this.#file || changes.length === 0) return;
    if (this.#unsaved.length < MAX_UNSAVED) for (const change of changes) this.#unsaved.push(change);
    this.#saveIn(SAVE_MS);
  }

  #saveIn(ms: number): void {
    if (this.#saving || this.#timer) return;
    this.#timer = this.#options.timers.after(ms, () => void this.flush());
  }

  /** Resolves when what has changed so far is on disk, or could not be written. */
  async flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    while (this.#saving !== undefined) await this.#saving;
    const file = this.#file;
    if (!file || this.#unsaved.length === 0) return;
    this.#saving = this.#save(file).finally(() => {
      this.#saving = undefined;
    });
    await this.#saving;
    if (this.#unsaved.length > 0) this.#saveIn(this.#lastFault === "" ? SAVE_MS : RETRY_MS);
  }

  async #save(file: PinFile): Promise<void> {
    const changes = this.#unsaved;
    this.#unsaved = [];
    try {
      const { book, isForeign } = await file.update(changes, this.#book);
      this.#lastFault = "";
      this.#take(book);
      if (isForeign) this.#options.onChange();
    } catch (error) {
      // They have been made in memory; on disk they are made with the next attempt.
      this.#unsaved = [...changes, ...this.#unsaved];
      this.#warn(error);
    }
  }

  /** Says what is wrong with the file, once. */
  #warn(error: unknown): void {
    const reason = error instanceof PinFileFault ? error.message : String(error);
    if (reason === this.#lastFault) return;
    this.#lastFault = reason;
    this.#options.log.warn("pins are kept in memory only", { reason });
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    await this.flush();
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
