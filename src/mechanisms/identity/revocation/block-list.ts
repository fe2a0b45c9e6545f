/**
 * Who may not any more. The tables hold it, every process has all of it in memory: it looks again when another says that
 * something has changed, and every few seconds, because that word may be lost. While the tables do not answer, what was
 * known last goes on to hold.
 */
import type {
  AuditEvent,
  AuditTrail,
  Block,
  BlockChange,
  BlockRows,
  Blocks,
  Channel,
  Log,
  Principal,
  Timer,
  Timers,
} from "../../../contract/index.ts";
import { BlockIndex } from "./block-index.ts";
import { BlockRoom, MOST_BLOCKS } from "./block-room.ts";
import { isPlatformsBlock } from "./make-block.ts";

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
const EXPIRE_EVERY = 1_800;

export class BlockList implements Blocks {
  readonly #options: BlockListOptions;
  readonly #index = new BlockIndex();
  readonly #room = new BlockRoom();
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
    this.#take(await rows.load(this.#options.now(), MOST_BLOCKS), false);
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

  /** By a block that is about this caller in particular, and that no tenant's operator may remove. */
  isHeldByPlatform(principal: Principal): boolean {
    return this.of(principal).some((block) => block.subject !== "everybody" && isPlatformsBlock(block));
  }

  isUpstreamRevoked(hash: string): boolean {
    const now = this.#options.now();
    return this.#index.upstream(hash).some(({ until }) => until > now);
  }

  /** Those that are not over, oldest first. */
  list(): Block[] {
    const now = this.#options.now();
    return [...this.#index.values()].filter(({ until }) => until > now);
  }

  find(id: string): Block | undefined {
    const block = this.#index.get(id);
    return block && block.until > this.#options.now() ? block : undefined;
  }

  /**
   * Resolves when it is on record and holds here; elsewhere it does within a second, or at the next look. Rejects with
   * OVERLOADED where its tenant has too many; those that are there hold.
   */
  async put(block: Block, event: AuditEvent): Promise<void> {
    const put = { table: "blocks", type: "put", block } as const;
    const leaving = this.#room.madeBy(block, this.#options.now());
    if (leaving && (await this.#change([put, { table: "blocks", type: "remove", id: leaving.id }], event))) return;
    // It has left the tables already.
    if (leaving) this.#update([], [leaving.id], false);
    await this.#change([put], event);
  }

  /** False: there is none of that id. */
  async remove(id: string, event: AuditEvent): Promise<boolean> {
    return this.#index.get(id) !== undefined && (await this.#change([{ table: "blocks", type: "remove", id }], event));
  }

  async #change(changes: readonly BlockChange[], event: AuditEvent): Promise<boolean> {
    const { rows, channel, trail } = this.#options;
    const isWritten = await trail().commit(event, changes);
    if (!isWritten) return false;
    // At once, also where the tables cannot be read now: what was just written holds.
    const put = changes.flatMap((change) => (change.type === "put" ? [change.block] : []));
    const gone = changes.flatMap((change) => (change.type === "remove" ? [change.id] : []));
    this.#update(put, gone, true);
    channel?.publish(TOPIC, "");
    if (rows) await this.#lookAfterOwn(rows, changes.length);
    return true;
  }

  /** What was just written is known here: only where others wrote, too, is there anything to read. */
  async #lookAfterOwn(rows: BlockRows, written: number): Promise<void> {
    // A look that is under way may have read before it was written: another one comes after it.
    if (this.#looking !== undefined) return await this.#look();
    const version = await rows.version().catch(() => undefined);
    if (version === this.#known + written) this.#known = version;
    else await this.#look();
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
    const { rows, log } = this.#options;
    while (rows && this.#isWanted && !this.#isClosed) {
      this.#isWanted = false;
      try {
        if (++this.#looks % EXPIRE_EVERY === 0) await this.#forgetOver(rows);
        if ((await rows.version()) !== this.#known) await this.#catchUp(rows);
      } catch (cause) {
        log.debug("block list could not be read", { cause });
      }
    }
  }

  async #forgetOver(rows: BlockRows): Promise<void> {
    const now = this.#options.now();
    await rows.expire(now);
    const over = [...this.#index.values()].filter(({ until }) => until <= now);
    if (over.length > 0)
      this.#update(
        [],
        over.map(({ id }) => id),
        false,
      );
  }

  async #catchUp(rows: BlockRows): Promise<void> {
    const changed = await rows.changes(this.#known);
    if (!changed) return this.#take(await rows.load(this.#options.now(), MOST_BLOCKS), true);
    this.#known = changed.version;
    this.#update(changed.blocks, changed.gone, true);
  }

  #lookLater(): void {
    if (this.#isClosed) return;
    this.#timer = this.#options.timers.after(LOOK_MS, () => {
      void this.#look().then(() => this.#lookLater());
    });
  }

  #take({ version, blocks }: { readonly version: number; readonly blocks: readonly Block[] }, isNews: boolean): void {
    this.#known = version;
    const there = new Set(blocks.map(({ id }) => id));
    const gone = [...this.#index.values()].map(({ id }) => id).filter((id) => !there.has(id));
    this.#update(blocks, gone, isNews);
  }

  #update(put: readonly Block[], gone: readonly string[], isNews: boolean): void {
    // Put again: somebody may have come back since the first one was over.
    const fresh = put.filter(({ id, createdAt }) => this.#index.get(id)?.createdAt !== createdAt);
    for (const part of [this.#index, this.#room]) {
      for (const id of gone) part.remove(id);
      for (const block of put) part.put(block);
    }
    this.version++;
    this.#options.onChange();
    if (isNews && fresh.length > 0) this.#options.onBlocked(fresh);
  }
}
