/**
 * The chain of this process: events become blocks, one after the other, and each block is in the store before the next is made.
 * While the store is away events wait in the spool, within a bound.
 */
import {
  type AuditBlock,
  type AuditChange,
  type AuditHead,
  type Change,
  faultPoint,
  GatewayError,
  type Log,
  type Records,
} from "../../contract/index.ts";
import { type Entry, headOf, MAX_BLOCK_EVENTS, makeBlock, nextOf } from "./block.ts";
import type { Signer } from "./signing.ts";
import { Spool } from "./spool.ts";
import { WaitingEvents } from "./waiting-events.ts";
import { newWriter } from "./writer-name.ts";

export type ChainOptions = {
  readonly records: Pick<Records, "audit" | "write" | "onHealth">;
  readonly signer: Signer;
  /** Where the spool is; unset: what waits for the store is lost with the process. */
  readonly folder: string | undefined;
  /** Of events that wait: of what is written of them, and of what is held. */
  readonly maxBytes: number;
  readonly log: Log;
  /** A block is in the store. */
  readonly onBlock: (block: AuditBlock) => void;
  /** Something that is to be written together with a block. */
  readonly beside?: (block: AuditBlock) => readonly Change[];
};

type Decision = {
  readonly entry: Entry;
  readonly changes: readonly Change[];
  readonly resolve: (isWritten: boolean) => void;
  readonly reject: (error: unknown) => void;
};

/** What waits is safe in the spool: this is how late it may be found. Decision 0008. */
const WINDOW_MS = 25;
const RETRY_MS = 1_000;
/** Blocks in one transaction, where many events wait. */
const MAX_BLOCKS = 16;
const MAX_DECISIONS = 1_000;

// Invariants:
//  1. `#head` is the last block that is known to be in the store; `#waiting` are the events of the spool after `#head.spooled`.
//  2. At most one write is under way, in `#working`.
//  3. `#sent` is set while it is not known whether the last write was made; nothing is written before that is known.
export class ChainWriter {
  readonly #options: ChainOptions;
  readonly #endHealth: () => void;
  readonly #decisions: Decision[] = [];
  readonly #waiting = new WaitingEvents();
  #head: AuditHead;
  #spool: Spool | undefined;
  #sent: readonly AuditBlock[] | undefined;
  #working: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isAway = false;
  #isClosed = false;

  constructor(options: ChainOptions) {
    this.#options = options;
    this.#head = emptyHead();
    this.#spool = this.#newSpool();
    this.#endHealth = options.records.onHealth((isUp) => isUp && this.#wake());
  }

  get writer(): string {
    return this.#head.writer;
  }

  /** How much of the bound is taken, from 0 to 1. */
  get fullness(): number {
    return Math.max(this.#waiting.size, this.#spool?.bytes ?? 0) / this.#options.maxBytes;
  }

  /** When it returns the events outlive this process. Throws where they do not fit, or the disk does not take them. */
  add(entries: readonly Entry[]): void {
    const { maxBytes } = this.#options;
    this.#waiting.add(entries);
    try {
      if (this.#waiting.size > maxBytes) throw new Error("too many events wait for the store");
      this.#spool?.append(entries, maxBytes - this.#spool.bytes);
    } catch (error) {
      this.#waiting.takeBack(entries.length);
      throw error;
    }
    if (this.#waiting.count >= MAX_BLOCK_EVENTS) this.#wake();
    else this.#wakeAfter(WINDOW_MS);
  }

  /** As `AuditTrail.commit`. */
  decide(entry: Entry, changes: readonly Change[]): Promise<boolean> {
    if (this.#isClosed || this.#decisions.length >= MAX_DECISIONS) {
      const message = this.#isClosed ? "The gateway is ending." : "Too many decisions wait to be written.";
      return Promise.reject(new GatewayError("STATE_UNAVAILABLE", { message }));
    }
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    this.#decisions.push({ entry, changes, resolve, reject });
    this.#wake();
    return promise;
  }

  touch(): void {
    this.#spool?.touch();
  }

  /** Tries once to write everything that waits. */
  async flush(): Promise<void> {
    this.#wake();
    await this.#working;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#working;
    await this.flush();
    this.#endHealth();
    clearTimeout(this.#timer);
    this.#spool?.close(this.#waiting.count === 0);
  }

  #newSpool(): Spool | undefined {
    const { folder } = this.#options;
    return folder === undefined ? undefined : new Spool(folder, this.#head.writer);
  }

  #wakeAfter(ms: number): void {
    this.#timer ??= setTimeout(() => this.#wake(), ms).unref();
  }

  #wake(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
      if (this.#decisions.length > 0) this.#wake();
      else if (this.#waiting.count > 0) this.#wakeAfter(this.#isAway ? RETRY_MS : WINDOW_MS);
    });
  }

  async #work(): Promise<void> {
    try {
      do {
        if (this.#sent) await this.#findOut(this.#sent);
        await this.#writeWaiting();
        await this.#writeDecision();
      } while (this.#decisions.length > 0 || this.#waiting.count >= MAX_BLOCK_EVENTS);
      if (this.#isAway) this.#options.log.info("audit events are kept again");
      this.#isAway = false;
    } catch (error) {
      for (const { reject } of this.#decisions.splice(0)) reject(error);
      if (!this.#isAway)
        this.#options.log.warn("audit events wait for the store", { waiting: this.#waiting.count, cause: error });
      this.#isAway = true;
    }
  }

  async #writeWaiting(): Promise<void> {
    if (this.#waiting.count === 0) return;
    const blocks: AuditBlock[] = [];
    const changes: Change[] = [];
    let head = this.#head;
    for (let from = 0; from < this.#waiting.count && blocks.length < MAX_BLOCKS; ) {
      const entries = nextOf(this.#waiting.list, from);
      const { block, change } = this.#blockOf(head, entries, true);
      blocks.push(block);
      changes.push(...change);
      head = headOf(block);
      from += entries.length;
    }
    // What comes first must find our head as we know it; nothing else in the list can miss.
    if (await this.#write(blocks, changes)) this.#written(blocks);
    else this.#sent = blocks;
  }

  async #writeDecision(): Promise<void> {
    const decision = this.#sent ? undefined : this.#decisions.shift();
    if (!decision) return;
    const { entry, changes, resolve, reject } = decision;
    try {
      const { block, change } = this.#blockOf(this.#head, [entry], false);
      const isWritten = await this.#write([block], [...changes, ...change]);
      if (isWritten) this.#written([block]);
      // Either the caller's change was missed, or our head is not what we know.
      else await this.#findOut([block]);
      resolve(isWritten);
    } catch (error) {
      reject(error);
      throw error;
    }
  }

  #blockOf(head: AuditHead, entries: readonly Entry[], fromSpool: boolean) {
    const { block, terms } = makeBlock(head, entries, { signer: this.#options.signer, fromSpool });
    const kept: AuditChange = { table: "audit", type: "block", block, terms };
    return { block, change: [kept, ...(this.#options.beside?.(block) ?? [])] };
  }

  async #write(blocks: readonly AuditBlock[], changes: readonly Change[]): Promise<boolean> {
    this.#sent = blocks;
    faultPoint("audit.block.writing");
    const isWritten = await this.#options.records.write(changes);
    faultPoint("audit.block.written");
    this.#sent = undefined;
    return isWritten;
  }

  #written(blocks: readonly AuditBlock[]): void {
    const last = blocks.at(-1);
    if (!last) return;
    this.#advance(headOf(last));
    for (const block of blocks) this.#options.onBlock(block);
  }

  #advance(head: AuditHead): void {
    this.#waiting.drop(head.spooled - this.#head.spooled);
    this.#head = head;
    this.#spool?.settle(head.spooled);
  }

  /** The store says where our chain ends: before what was sent, behind it, or where we did not leave it. */
  async #findOut(sent: readonly AuditBlock[]): Promise<void> {
    this.#sent = sent;
    const found = await this.#options.records.audit.head(this.#head.writer);
    this.#sent = undefined;
    if ((found?.hash ?? "") === this.#head.hash) return;
    if (found && found.hash === sent.at(-1)?.hash) return this.#written(sent);
    this.#beginAgain(found);
  }

  /** Somebody took us for dead and went on with our chain, or changed it: this process has a new one from here on. */
  #beginAgain(found: AuditHead | undefined): void {
    const { log } = this.#options;
    log.error("audit chain was continued by somebody else", { writer: this.#head.writer, block: found?.number ?? -1 });
    if (found && found.spooled > this.#head.spooled) this.#advance(found);
    const former = this.#spool;
    this.#head = emptyHead();
    this.#spool = this.#newSpool();
    for (const entry of this.#waiting.list) this.#spool?.append([entry]);
    former?.close(true);
  }
}

function emptyHead(): AuditHead {
  return { writer: newWriter(), number: -1, hash: "", spooled: 0 };
}
