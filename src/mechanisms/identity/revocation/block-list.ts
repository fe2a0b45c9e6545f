/**
 * Who may not any more. The tables hold it, every process has all of it in memory: it looks again when another says that
 * something has changed, and every few seconds, because that word may be lost. While the tables do not answer, what was
 * known last goes on to hold.
 */
import {
  type AuditEvent,
  type AuditTrail,
  type Block,
  type BlockChange,
  type BlockRows,
  type Blocks,
  type Channel,
  GatewayError,
  type Log,
  type Principal,
  type Timer,
  type Timers,
} from "../../../contract/index.ts";
import { BlockIndex } from "./block-index.ts";

export type BlockListOptions = {
  readonly timers: Timers;
  readonly log: Log;
  /** Everybody's clock, in ms. */
  readonly now: () => number;
  readonly trail: () => AuditTrail;
  /** Unset: in memory, until the process ends. */
  readonly rows?: BlockRows | undefined;
  readonly channel?: Channel | undefined;
  /** Hears that it may answer otherwise than before. */
  readonly onChange: () => void;
  /** Hears of blocks that were not there before. */
  readonly onBlocked: (blocks: readonly Block[]) => void;
};

/** A process that hears nothing knows of a block after this time, and the time of one look. */
const LOOK_MS = 2_000;
const TOPIC = "blocks";
/** More than that are no list any more: then a new one is refused, and those that are there hold. */
const MAX_BLOCKS = 100_000;
const EXPIRE_EVERY = 1_800;

export class BlockList implements Blocks {
  readonly #options: BlockListOptions;
  #blocks = new Map<string, Block>();
  #index = new BlockIndex([]);
  #known = -1;
  #looking: Promise<void> | undefined;
  #isWanted = false;
  #timer: Timer | undefined;
  #looks = 0;
  #stopHearing: (() => Promise<void>) | undefined;
  #isClosed = false;
  version = 0;

  constructor(options: BlockListOptions) {
    this.#options = options;
  }

  /** Resolves when it is known who is blocked. Rejects with STATE_UNAVAILABLE: nobody may be let in then. */
  async open(): Promise<void> {
    const { rows, channel } = this.#options;
    if (!rows) return;
    this.#take(await rows.load(this.#options.now(), MAX_BLOCKS), false);
    this.#lookLater();
    // A process that cannot hear looks all the same.
    const stop = await channel?.subscribe(TOPIC, () => void this.#look()).catch(() => undefined);
    if (this.#isClosed) await stop?.();
    else this.#stopHearing = stop;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#stopHearing?.().catch(() => undefined);
    this.#stopHearing = undefined;
  }

  isBlocked(principal: Principal, server: string, protocol: string, primitive: string): Block | undefined {
    if (this.#index.size === 0) return undefined;
    const now = this.#options.now();
    return this.#index.find(
      principal,
      (block) =>
        block.until > now &&
        (block.server === "" || block.server === server) &&
        (block.protocol === "" || block.protocol === protocol) &&
        (block.primitive === "" || block.primitive === primitive),
    );
  }

  get size(): number {
    return this.#index.size;
  }

  of(principal: Principal): readonly Block[] {
    if (this.#index.size === 0) return [];
    const now = this.#options.now();
    return this.#index.all(principal).filter(({ until }) => until > now);
  }

  isRevoked(principal: Principal): Block | undefined {
    return this.isBlocked(principal, "", "", "");
  }

  isUpstreamRevoked(hash: string): boolean {
    const now = this.#options.now();
    return this.#index.upstream(hash).some(({ until }) => until > now);
  }

  /** Those that are not over, oldest first. */
  list(): Block[] {
    const now = this.#options.now();
    return [...this.#blocks.values()].filter(({ until }) => until > now);
  }

  find(id: string): Block | undefined {
    const block = this.#blocks.get(id);
    return block && block.until > this.#options.now() ? block : undefined;
  }

  /** Resolves when it is on record and holds here; elsewhere it does within a second, or at the next look. */
  async put(block: Block, event: AuditEvent): Promise<void> {
    if (this.#blocks.size >= MAX_BLOCKS && !this.#blocks.has(block.id)) {
      throw new GatewayError("OVERLOADED", { message: `There are ${MAX_BLOCKS} blocks; remove some.` });
    }
    await this.#change({ table: "blocks", type: "put", block }, event);
  }

  /** False: there is none of that id. */
  async remove(id: string, event: AuditEvent): Promise<boolean> {
    return this.#blocks.has(id) && (await this.#change({ table: "blocks", type: "remove", id }, event));
  }

  async #change(change: BlockChange, event: AuditEvent): Promise<boolean> {
    const { rows, channel, trail } = this.#options;
    const isWritten = await trail().commit(event, [change]);
    if (!isWritten) return false;
    // At once, also where the tables cannot be read now: what was just written holds.
    this.#apply(change);
    channel?.publish(TOPIC, "");
    if (rows) await this.#lookAfterOwn(rows);
    return true;
  }

  /** What was just written is known here: only where others wrote, too, is there anything to read. */
  async #lookAfterOwn(rows: BlockRows): Promise<void> {
    // A look that is under way may have read before it was written: another one comes after it.
    if (this.#looking !== undefined) return await this.#look();
    const version = await rows.version().catch(() => undefined);
    if (version === this.#known + 1) this.#known = version;
    else await this.#look();
  }

  #apply(change: BlockChange): void {
    const blocks = new Map(this.#blocks);
    if (change.type === "put") blocks.set(change.block.id, change.block);
    else blocks.delete(change.id);
    this.#swap(blocks, true);
  }

  /** One at a time; whoever asks meanwhile gets another one after it. */
  #look(): Promise<void> {
    this.#isWanted = true;
    this.#looking ??= this.#lookUntilDone().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookUntilDone(): Promise<void> {
    const { rows, now, log } = this.#options;
    while (rows && this.#isWanted && !this.#isClosed) {
      this.#isWanted = false;
      try {
        if (++this.#looks % EXPIRE_EVERY === 0) await rows.expire(now());
        if ((await rows.version()) !== this.#known) this.#take(await rows.load(now(), MAX_BLOCKS), true);
      } catch (cause) {
        log.debug("block list could not be read", { cause });
      }
    }
  }

  #lookLater(): void {
    if (this.#isClosed) return;
    this.#timer = this.#options.timers.after(LOOK_MS, () => {
      void this.#look().then(() => this.#lookLater());
    });
  }

  #take({ version, blocks }: { readonly version: number; readonly blocks: readonly Block[] }, isNews: boolean): void {
    this.#known = version;
    this.#swap(new Map(blocks.map((block) => [block.id, block])), isNews);
  }

  #swap(blocks: Map<string, Block>, isNews: boolean): void {
    const before = this.#blocks;
    this.#blocks = blocks;
    this.#index = new BlockIndex([...blocks.values()]);
    this.version++;
    this.#options.onChange();
    if (!isNews) return;
    // Put again: somebody may have come back since the first one was over.
    const fresh = [...blocks.values()].filter((block) => before.get(block.id)?.createdAt !== block.createdAt);
    if (fresh.length > 0) this.#options.onBlocked(fresh);
  }
}
