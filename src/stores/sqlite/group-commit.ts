import type { Database, Statement } from "better-sqlite3";
import { faultPoint } from "../../contract/index.ts";
import { isStorageError, stateUnavailable } from "./sqlite-errors.ts";

/** Something that gathers writes by itself and hands over only what is left of them when a group is committed. */
export interface Gatherer {
  readonly hasWrites: boolean;
  /** Runs inside the transaction. */
  write(): void;
  /** They are on disk. Without this call they must be written again with the next group. */
  written(): void;
}

type Work = { run: () => unknown; resolve: (value: unknown) => void; reject: (error: unknown) => void };
type Group = {
  readonly works: Work[];
  readonly end: PromiseWithResolvers<undefined>;
  cancel: () => void;
  isUrgent: boolean;
};

/** Time within which a group is committed. */
const WINDOW_MS = 5;
/** So many commits may follow each other at once after a quiet time, as when a first client comes; then one in a window. */
const BURST = 4;
/** So many writes go into one transaction: others have a turn before the rest is written. */
const MOST_WORKS = 256;
/** After a failure, how often it is tried whether the disk takes writes again, and with how many bytes. */
const PROBE_MS = 1_000;
const PROBE_BYTES = 65_536;

/**
 * Writes that come close together share a transaction, and each promise resolves when it is committed. Everything runs in
 * one piece between two turns of the event loop, so no transaction is ever open while somebody else runs.
 */
export class GroupCommit {
  readonly #database: Database;
  readonly #statements: Record<"begin" | "commit" | "rollback" | "mark" | "release" | "back", Statement>;
  readonly #gatherers: Gatherer[] = [];
  readonly #listeners = new Set<(isUp: boolean) => void>();
  #group: Group | undefined;
  /** When the next commit is due that somebody waits for. */
  #dueAt = Number.NEGATIVE_INFINITY;
  #probe: NodeJS.Timeout | undefined;
  #isUp = true;
  #isClosed = false;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = {
      begin: database.prepare("BEGIN IMMEDIATE"),
      commit: database.prepare("COMMIT"),
      rollback: database.prepare("ROLLBACK"),
      mark: database.prepare("SAVEPOINT work"),
      release: database.prepare("RELEASE work"),
      back: database.prepare("ROLLBACK TO work"),
    };
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  onHealth(listener: (isUp: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  gather(gatherer: Gatherer): void {
    this.#gatherers.push(gatherer);
  }

  /** Resolves, once it is on disk, to what `work` returned. What `work` did is undone when it throws. */
  write<T>(work: () => T): Promise<T> {
    const group = this.#open(true);
    return new Promise<T>((resolve, reject) => {
      group.works.push({ run: work, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  /** Sees what was written before it, even what is not committed yet: it waits for that. */
  read<T>(work: () => T): Promise<T> {
    if (this.#group !== undefined) return this.write(work);
    try {
      return Promise.resolve(work());
    } catch (error) {
      return Promise.reject(isStorageError(error) ? stateUnavailable(error) : error);
    }
  }

  /** When the present group is on disk. The same promise for everybody in it; not to have awaited it is no mistake. */
  get end(): Promise<undefined> {
    return this.#open(false).end.promise;
  }

  /** Commits what waits. */
  close(): void {
    while (this.#group !== undefined) this.#commit();
    clearTimeout(this.#probe);
    this.#isClosed = true;
  }

  /** Urgent: a caller waits for it. It goes with the end of this turn, or within a window where there were many just now. */
  #open(isUrgent: boolean): Group {
    let group = this.#group;
    if (group === undefined) {
      group = { works: [], end: Promise.withResolvers(), cancel: () => undefined, isUrgent: false };
      group.end.promise.catch(() => undefined);
      this.#group = group;
      this.#commitAfter(group, WINDOW_MS);
    }
    if (isUrgent && !group.isUrgent) {
      group.isUrgent = true;
      this.#commitAfter(group, this.#dueAt - performance.now());
    }
    return group;
  }

  #commitAfter(group: Group, ms: number): void {
    group.cancel();
    const commit = () => this.#commit();
    if (ms <= 0) {
      const immediate = setImmediate(commit);
      group.cancel = () => clearImmediate(immediate);
    } else {
      const timer = setTimeout(commit, Math.min(ms, WINDOW_MS));
      group.cancel = () => clearTimeout(timer);
    }
  }

  #spend(): void {
    this.#dueAt = Math.max(this.#dueAt, performance.now() - (BURST - 1) * WINDOW_MS) + WINDOW_MS;
  }

  #commit(): void {
    const group = this.#group;
    if (group === undefined) return;
    this.#group = undefined;
    group.cancel();
    const rest = group.works.splice(MOST_WORKS);
    // Whoever reads what they write waits for them, and what comes now stands behind them.
    if (rest.length > 0) this.#open(true).works.push(...rest);
    const gatherers = this.#gatherers.filter((gatherer) => gatherer.hasWrites);
    if (group.works.length === 0 && gatherers.length === 0) return group.end.resolve(undefined);
    let endings: (() => void)[];
    try {
      endings = this.#transact(group.works, gatherers);
    } catch (error) {
      return this.#fail(group, error);
    }
    for (const gatherer of gatherers) gatherer.written();
    for (const end of endings) end();
    group.end.resolve(undefined);
    this.#tell(true);
  }

  #transact(works: readonly Work[], gatherers: readonly Gatherer[]): (() => void)[] {
    if (this.#isClosed) throw new Error("the database is closed");
    this.#statements.begin.run();
    for (const gatherer of gatherers) gatherer.write();
    const endings = works.map((work) => this.#attempt(work));
    faultPoint("sqlite.group.writing");
    this.#statements.commit.run();
    faultPoint("sqlite.group.written");
    this.#spend();
    return endings;
  }

  #attempt(work: Work): () => void {
    this.#statements.mark.run();
    try {
      const value = work.run();
      this.#statements.release.run();
      return () => work.resolve(value);
    } catch (error) {
      // After some failures SQLite has ended the transaction by itself; then all of the group is lost.
      if (isStorageError(error) || !this.#database.inTransaction) throw error;
      this.#statements.back.run();
      this.#statements.release.run();
      return () => work.reject(error);
    }
  }

  #fail(group: Group, error: unknown): void {
    if (this.#database.open && this.#database.inTransaction) this.#statements.rollback.run();
    this.#spend();
    this.#tell(false);
    if (!this.#isClosed) this.#probeLater();
    const unavailable = stateUnavailable(error);
    for (const work of group.works) work.reject(unavailable);
    group.end.reject(unavailable);
  }

  #probeLater(): void {
    clearTimeout(this.#probe);
    const fill = () => this.#database.prepare("INSERT INTO probe (filler) VALUES (zeroblob(?))").run(PROBE_BYTES);
    const empty = () => this.#database.prepare("DELETE FROM probe").run();
    // A failure of the probe is one of a group, and sets the next.
    const probe = () =>
      void this.write(fill)
        .then(() => this.write(empty))
        .catch(() => undefined);
    this.#probe = setTimeout(probe, PROBE_MS).unref();
  }

  #tell(isUp: boolean): void {
    if (this.#isUp === isUp) return;
    this.#isUp = isUp;
    for (const listener of this.#listeners) listener(isUp);
  }
}
