/**
 * Sessions as entries of shared state. A session's home owns its entry `session:<id>`, and writes it before the client is
 * told of what it says. Whatever the client has not got is in the log `outbox:<id>`.
 */
import {
  type Clock,
  faultPoint,
  GatewayError,
  type LogItem,
  type Member,
  type OwnedEntry,
  type Principal,
  type SharedState,
} from "../../contract/index.ts";
import { followOutbox, type Orphans } from "./kept-outbox.ts";
import { LogWriter } from "./log-writer.ts";
import type { Outbox, OutboxLimits } from "./outbox.ts";
import type { Kept, Session } from "./session.ts";
import { readRecord, recordText, type SessionRecord } from "./session-record.ts";

/** Characters of its subscriptions from which on a record is long. */
const LONG_RECORD = 16 * 1024;

export type KeeperOptions = {
  readonly state: SharedState;
  /** The id of this process; it changes when the process had to join anew. */
  readonly member: () => string;
  /** No other process can take a session: nobody is listened for. */
  readonly isAlone?: boolean;
  readonly clock: Clock;
  readonly idleMs: number;
  readonly maxAgeMs: number;
  /** How long an entry may go without being written while its session is used. */
  readonly lagMs: number;
  readonly outbox: OutboxLimits;
  /** Another process has the session. */
  readonly onTaken: (session: Session) => void;
};

export type Wanted = { readonly id: string; readonly principal: Principal; readonly catalog: string };

/** A session that is ours now, and was another process's before. */
export type Claimed = {
  readonly record: SessionRecord;
  readonly member: string;
  readonly fence: number;
  readonly items: readonly LogItem[];
};

export class SessionKeeper {
  readonly #options: KeeperOptions;
  /** Long records are written one at a time. */
  #longWrites: Promise<unknown> = Promise.resolve();
  /** From our clock to everybody's. */
  readonly epoch: number;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.epoch = Date.now() - options.clock.now();
  }

  get member(): string {
    return this.#options.member();
  }

  /** Resolves when other processes can find the session. Rejects with STATE_UNAVAILABLE. */
  async create(session: Session): Promise<void> {
    const { state, member } = this.#options;
    const by = member();
    faultPoint("sessions.create.before");
    const created = { value: recordText(session, this.epoch), ttlMs: this.#ttlMs(session) };
    const entry = await state.entries.claim(keyOf(session.id), by, created);
    faultPoint("sessions.create.after");
    if (entry?.owner !== by || session.isEnded) throw unavailable();
    this.#bind(session, by, entry.fence);
  }

  #bind(session: Session, member: string, fence: number, written = 0): void {
    const { clock } = this.#options;
    const kept: Kept = {
      member,
      fence,
      savedAt: clock.now(),
      saving: undefined,
      savingNext: undefined,
      releasing: undefined,
      writer: undefined,
      stopHearing: nobodyIsHeard,
    };
    session.kept = kept;
    if (!this.#options.isAlone) this.#hear(session, kept);
    if (session.outbox) this.follow(session, session.outbox, written);
  }

  /** A word that is missed is made up for by the next write, which is refused. */
  #hear(session: Session, kept: Kept): void {
    const { state } = this.#options;
    const { member } = kept;
    const hear = (text: string) => {
      if (text !== member && session.kept === kept) this.#options.onTaken(session);
    };
    const hearing = state.channel.subscribe(keyOf(session.id), hear);
    kept.stopHearing = () => void hearing.then((stop) => stop()).catch(() => undefined);
    hearing.catch(() => undefined);
  }

  /** A session whose outbox was rebuilt is at home here. Its questions are not asked again, and taken back where seen. */
  adopt(session: Session, outbox: Outbox, { member, fence }: Claimed, orphans: Orphans): void {
    this.#bind(session, member, fence, outbox.last);
    for (const sequence of orphans.sequences) session.kept?.writer?.remove(sequence);
    for (const id of orphans.seen) outbox.push({ type: "notice", text: session.voice.withdrawal(id) });
  }

  /** From now on what is put into the outbox goes to the log, too; what it holds up to `after` is there already. */
  follow(session: Session, outbox: Outbox, after = 0): void {
    const { kept } = session;
    if (!kept || kept.writer) return;
    const { state } = this.#options;
    const { maxItems, maxBytes } = this.#options.outbox;
    const bounds = () => ({ maxItems, maxBytes, ttlMs: this.#ttlMs(session) });
    kept.writer = new LogWriter({ logs: state.logs, log: logOf(session.id), bounds, point: "sessions.outbox" });
    let saved = outbox.sent;
    followOutbox(outbox, kept.writer, after, () => {
      if (outbox.sent === saved) return;
      saved = outbox.sent;
      this.save(session).catch(() => undefined);
    });
  }

  /**
   * Resolves when what the session is now is durable. Rejects with STATE_UNAVAILABLE, also when it is another's. `isLast`: the process
   * gives it up, and nobody else is kept waiting by that.
   */
  save(session: Session, isLast = false): Promise<void> {
    const { kept } = session;
    if (!kept) return Promise.reject(unavailable());
    if (kept.saving !== undefined) {
      kept.savingNext ??= kept.saving.then(
        () => this.#saveNow(session, kept, isLast),
        () => this.#saveNow(session, kept, isLast),
      );
      return kept.savingNext;
    }
    return this.#saveNow(session, kept, isLast);
  }

  #saveNow(session: Session, kept: Kept, isLast: boolean): Promise<void> {
    kept.savingNext = undefined;
    const saving = this.#inTurn(session, isLast, () => this.#put(session, kept)).finally(() => {
      if (kept.saving === saving) kept.saving = undefined;
    });
    kept.saving = saving;
    return saving;
  }

  /** A message of a few bytes may have a record of half a megabyte written: that must not keep everybody else waiting. */
  #inTurn(session: Session, isLast: boolean, write: () => Promise<void>): Promise<void> {
    if (isLast || session.subscribedText < LONG_RECORD) return write();
    const writing = this.#longWrites.then(write);
    this.#longWrites = writing.catch(() => undefined);
    return writing;
  }

  async #put(session: Session, kept: Kept): Promise<void> {
    const { state, clock } = this.#options;
    if (session.kept !== kept) throw unavailable();
    faultPoint("sessions.save.before");
    const savedAt = clock.now();
    const text = recordText(session, this.epoch);
    const isOurs = await state.entries.put(keyOf(session.id), kept.member, text, this.#ttlMs(session));
    faultPoint("sessions.save.after");
    kept.savedAt = savedAt;
    if (isOurs) return;
    if (session.kept === kept) this.#options.onTaken(session);
    throw unavailable();
  }

  /** Writes the entry of a session that was used since it was last written, when that is some time ago. */
  refresh(session: Session): void {
    const { kept } = session;
    const now = this.#options.clock.now();
    if (!kept || now - kept.savedAt < this.#options.lagMs || kept.saving !== undefined) return;
    if (session.isBusy) session.lastUsed = Math.max(session.lastUsed, now);
    if (session.lastUsed > kept.savedAt) this.save(session).catch(() => undefined);
  }

  /** Gives it up: whoever is asked for it next has it. Rejects with STATE_UNAVAILABLE: it is still ours then. */
  release(session: Session): Promise<void> {
    const { kept } = session;
    if (!kept) return Promise.resolve();
    kept.releasing ??= this.#release(session, kept).catch((error) => {
      kept.releasing = undefined;
      throw error;
    });
    return kept.releasing;
  }

  async #release(session: Session, kept: Kept): Promise<void> {
    const { state } = this.#options;
    await this.save(session, true);
    await kept.writer?.flush();
    faultPoint("sessions.release.before");
    await state.entries.release(keyOf(session.id), kept.member);
    faultPoint("sessions.release.after");
  }

  /** The session is over: nobody finds it any more. Rejects with STATE_UNAVAILABLE. */
  async drop(session: Session): Promise<void> {
    const { state } = this.#options;
    const { kept } = session;
    if (!kept) return;
    faultPoint("sessions.drop.before");
    await state.entries.drop(keyOf(session.id), kept.member);
    faultPoint("sessions.drop.after");
    await kept.writer?.stop();
    // It is nobody's now, and expires where it cannot be dropped.
    await state.logs.drop(logOf(session.id)).catch(() => undefined);
  }

  /** Where a session lives that is not known here. Takes it over when its home is gone. Undefined: there is none. */
  async claim(wanted: Wanted): Promise<Member | Claimed | undefined> {
    const { state } = this.#options;
    const key = keyOf(wanted.id);
    const member = this.member;
    const present = await state.entries.get(key);
    // Looked at before it is claimed: whoever may not have it must not move it, either.
    if (!isFor(wanted, present)) return undefined;
    if (present.home && present.home.id !== member) return present.home;
    faultPoint("sessions.claim.before");
    const entry = await state.entries.claim(key, member);
    faultPoint("sessions.claim.after");
    if (!isFor(wanted, entry)) return undefined;
    if (entry.owner !== member) return entry.home ?? { id: entry.owner, address: "" };
    if (present.owner !== member) state.channel.publish(key, member);
    const items = await state.logs.read(logOf(wanted.id), 0);
    const record = readRecord(entry.value) as SessionRecord;
    return { record, member, fence: entry.fence, items };
  }

  /** A session that is used may be written late, and must not expire meanwhile. Never beyond the session's age. */
  #ttlMs(session: Session): number {
    const { idleMs, maxAgeMs, lagMs, clock } = this.#options;
    return Math.max(1, Math.min(idleMs + 2 * lagMs, session.startedAt + maxAgeMs - clock.now()));
  }
}

function isFor({ principal, catalog }: Wanted, entry: OwnedEntry | undefined): entry is OwnedEntry {
  const record = entry && readRecord(entry.value);
  return record !== undefined && record.principal === principal.id && record.catalog === catalog;
}

function keyOf(id: string): string {
  return `session:${id}`;
}

function logOf(id: string): string {
  return `outbox:${id}`;
}

function nobodyIsHeard(): void {}

function unavailable(): GatewayError {
  return new GatewayError("STATE_UNAVAILABLE", { message: "The session is not this process's any more; try again." });
}
