/** The one trail of everything: what is noted is in the spool at once and in the chain soon, what is decided is in the chain first. */
import { randomBytes, randomUUID } from "node:crypto";
import {
  type AuditBlock,
  type AuditEvent,
  type AuditTrail,
  type Change,
  DEFAULT_TENANT,
  GatewayError,
  type Log,
  type Meter,
  type Records,
  type Timers,
} from "../../contract/index.ts";
import type { AuditSink } from "./audit-sink.ts";
import type { Entry } from "./block.ts";
import { ChainWriter } from "./chain-writer.ts";
import { Checkpoints } from "./checkpoints.ts";
import { boundName, eventLine } from "./event-line.ts";
import { indexRuns } from "./index-runs.ts";
import { KeptCheckpoint } from "./kept-checkpoint.ts";
import { plainEvent } from "./plain-event.ts";
import { RecentBlocks } from "./recent-blocks.ts";
import { recoverSpools } from "./recover-spools.ts";
import { wholeLine, wholeLines } from "./short-lines.ts";
import type { Signer } from "./signing.ts";
import { facetTerms, traceTerm } from "./terms.ts";
import { type Held, TurnNotes } from "./turn-notes.ts";

export type TrailOptions = {
  /** Unset: events are kept in memory, the last ones only. */
  readonly records?: Pick<Records, "audit" | "write" | "sync" | "onHealth"> | undefined;
  /** Without `records`: writes what is decided. */
  readonly write?: (changes: readonly Change[]) => Promise<boolean>;
  readonly signer: Signer;
  /** Of spools; unset: there is none. */
  readonly folder?: string | undefined;
  /** Beside the keys: where the newest checkpoint is kept outside the store; unset: it is not. */
  readonly keptIn?: string | undefined;
  /** Other processes write to the same trail. */
  readonly isShared?: boolean;
  /** Of events that wait for the store. */
  readonly maxBytes: number;
  readonly sinks: readonly AuditSink[];
  readonly beside?: (block: AuditBlock) => readonly Change[];
  readonly timers: Timers;
  readonly log: Log;
  readonly meter: Meter;
  /** Everybody's time, in ms. */
  readonly now: () => number;
  /** How long events are kept; unset: for good. */
  readonly keepMs?: number | undefined;
};

/** From here on nothing new is begun that would have to be noted; what runs still has room for its end. */
const FULL = 0.9;

export class Trail implements AuditTrail {
  readonly #options: TrailOptions;
  readonly #chain: ChainWriter | undefined;
  readonly #checkpoints: Checkpoints | undefined;
  /** What the trail must have; unset: it is in memory, or there is no folder beside the keys. */
  readonly kept: KeptCheckpoint | undefined;
  readonly #recent = new RecentBlocks();
  readonly #turn = new TurnNotes((entries) => this.#noteAll(entries));
  readonly #life = randomBytes(5).toString("hex");
  #count = 0;
  #lost = 0;

  constructor(options: TrailOptions) {
    this.#options = options;
    const { records } = options;
    if (!records) return;
    this.#chain = new ChainWriter({ ...options, records, folder: options.folder, onBlock: this.#onBlock });
    const { keptIn, log } = options;
    if (keptIn !== undefined) {
      this.kept = new KeptCheckpoint({
        folder: keptIn,
        records,
        log,
        note: (said) => this.note(said),
        isShared: options.isShared ?? false,
      });
    }
    this.#checkpoints = new Checkpoints({
      ...options,
      records,
      kept: this.kept,
      before: () => this.#tend(),
      after: () => indexRuns(records, options.now()),
    });
  }

  /** Where events are looked for. */
  get rows(): Pick<Records["audit"], "search"> {
    return this.#options.records?.audit ?? this.#recent;
  }

  /** There is no room for more: the store was away for so long, or the disk does not take what is noted. Asking tries again. */
  get isFull(): boolean {
    if (this.#lost > 0) this.#tellGapIfRoom();
    return this.#lost > 0 || !this.#hasRoom;
  }

  get #hasRoom(): boolean {
    return (this.#chain?.fullness ?? 0) <= FULL;
  }

  /** An id that no other event has, of any process. */
  nextId(): string {
    return `${this.#life}-${(this.#count++).toString(36)}`;
  }

  note(event: AuditEvent): void {
    this.noteEntry(this.#entryOf(event));
  }

  /** As `note`, for whoever writes lines itself. */
  noteEntry(entry: Entry): void {
    this.#noteAll([entry]);
  }

  #noteAll(entries: readonly Entry[]): void {
    try {
      if (this.#lost > 0) this.#tellGap();
      this.#add(entries);
    } catch (cause) {
      if (this.#lost === 0) this.#options.log.error("audit events are lost", { cause });
      this.#lost += entries.length;
      this.#options.meter.count("isthmus_audit_dropped_total", "spool", entries.length);
    }
  }

  /**
   * As `noteEntry`, for many at once: `held` is released when the event outlives this process, within a few turns of the
   * event loop. Resolves after that.
   */
  noteThen(entry: Entry, held: Held): Promise<void> {
    return this.#turn.add(entry, held);
  }

  /** Releases now what is held. */
  flushTurn(): void {
    this.#turn.flush();
  }

  async commit(event: AuditEvent, changes: readonly Change[]): Promise<boolean> {
    const entry = this.#entryOf(event);
    if (this.#chain) return await this.#chain.decide(entry, changes);
    if ((await this.#options.write?.(changes)) === false) return false;
    this.noteEntry(entry);
    return true;
  }

  /** What former processes have left is read back before anything else is done. */
  async open(): Promise<void> {
    const { keepMs, isShared } = this.#options;
    // What others write is looked at, too: whoever verifies it may ask this process.
    if (keepMs !== undefined || isShared) this.#checkpoints?.start();
    await this.#tend().catch((error: unknown) => {
      const { code } = GatewayError.from(error);
      this.#options.log.warn("audit events of former processes wait for the store", { code });
    });
    const isRead = await this.kept?.begin().catch((error: unknown) => {
      const { code } = GatewayError.from(error);
      this.#options.log.warn("the audit trail was not compared with its kept checkpoint", { code });
    });
    // It is looked at again, whether or not anything happens meanwhile.
    if (isRead === false) this.#checkpoints?.start();
  }

  async close(): Promise<void> {
    this.#turn.flush();
    await this.#chain?.close();
    await this.#checkpoints?.close();
    await Promise.all(this.#options.sinks.map((sink) => sink.close()));
  }

  async #tend(): Promise<void> {
    const { records, folder } = this.#options;
    if (!records || !this.#chain) return;
    this.#chain.touch();
    if (folder !== undefined) await this.#recover(folder, records, this.#chain.writer);
  }

  async #recover(folder: string, records: NonNullable<TrailOptions["records"]>, own: string): Promise<void> {
    const { signer, log, beside } = this.#options;
    const count = await recoverSpools({ folder, records, signer, own, beside, onBlock: this.#onBlock });
    if (count > 0) log.info("audit events of former processes are kept", { count });
  }

  readonly #onBlock = (block: AuditBlock): void => {
    this.#kept(() => wholeLines(block.lines).join("\n"));
    if (this.#lost > 0) this.#tellGapIfRoom();
    // Where nothing happens there is nothing to sign.
    this.#checkpoints?.start();
  };

  #add(entries: readonly Entry[]): void {
    if (this.#chain) return this.#chain.add(entries);
    for (const entry of entries) {
      this.#recent.add(entry);
      this.#kept(() => wholeLine(entry));
    }
  }

  #kept(makeLines: () => string): void {
    const sinks = this.#options.sinks.filter(({ isWanted }) => isWanted !== false);
    if (sinks.length === 0) return;
    const lines = makeLines();
    for (const sink of sinks) sink.take(lines);
  }

  /** What is lost is told as soon as it can be, whether or not there is anything else to note. */
  #tellGapIfRoom(): void {
    if (!this.#hasRoom) return;
    try {
      this.#tellGap();
    } catch {
      // The disk does not take it yet. That events are lost was logged with the first of them.
    }
  }

  /** The trail itself says that something is missing from it. */
  #tellGap(): void {
    this.#add([
      this.#entryOf({
        type: "dev.isthmus.audit.gap",
        tenant: DEFAULT_TENANT,
        actor: { type: "kernel", id: "isthmus" },
        target: { server: "", name: "" },
        result: "FAILURE",
        details: { lost: this.#lost },
      }),
    ]);
    this.#lost = 0;
  }

  #entryOf(given: AuditEvent): Entry {
    const event = plainEvent(given);
    const { type, tenant, actor, target, traceId = randomUUID() } = event;
    const at = Math.round(this.#options.now());
    const facets = { type, actor: actor.id, server: target.server, name: boundName(target.name), tenant };
    const line = eventLine(event, { at, id: this.nextId(), traceId });
    return { line, at, trace: traceTerm(traceId), terms: facetTerms(facets) };
  }
}
