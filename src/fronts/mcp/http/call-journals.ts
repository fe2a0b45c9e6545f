/**
 * What left on the streams of calls, in shared state: a client whose stream died with a process gets the rest of it from
 * another. Each event stands there under its place in the run, plus one; nought says what was asked.
 */
import {
  type LogBounds,
  type MadeCall,
  madeCallOf,
  type Run,
  type SharedState,
  type Target,
} from "../../../contract/index.ts";
import { traceIdOf } from "../../../mechanisms/audit/index.ts";
import { LogWriter, type Session } from "../../../mechanisms/sessions/index.ts";
import type { OutletOwner } from "../outlet.ts";

const BOUNDS: LogBounds = { maxItems: 1000, maxBytes: 4 * 1024 * 1024, ttlMs: 5 * 60_000, isFleeting: true };

type Journal = { readonly writer: LogWriter; readonly trace: string; readonly made: MadeCall; last: number };

/** An event of a call whose process may be gone. `isFinal`: it is the answer. */
export type JournalEvent = {
  readonly session: string;
  readonly requestId: string;
  readonly method: string;
  /** See `MadeCall`. Unset: a process of an older version wrote it. */
  readonly target?: Target;
  /** In the first event of a call alone. */
  readonly args?: string | undefined;
  /** That the call belongs to, as a UUID. */
  readonly trace?: string | undefined;
  readonly text: string;
  readonly isFinal: boolean;
  readonly cursor: number;
};

export class CallJournals {
  readonly #state: SharedState;
  readonly #journals = new WeakMap<Run, Journal>();

  constructor(state: SharedState) {
    this.#state = state;
  }

  begin(owner: OutletOwner | undefined): void {
    this.#write(owner, "", -1, false);
  }

  sent(owner: OutletOwner | undefined, text: string, cursor: number): void {
    this.#write(owner, text, cursor, false);
  }

  answered(owner: OutletOwner | undefined, text: string, cursor: number): void {
    this.#write(owner, text, cursor, true);
  }

  #write(owner: OutletOwner | undefined, text: string, cursor: number, isFinal: boolean): void {
    const run = owner?.run;
    if (!run) return;
    const journal = this.#journals.get(run) ?? this.#open(run);
    // A client that comes back here gets again what stands in the journal already.
    if (cursor + 1 <= journal.last) return;
    const { target, args } = journal.made;
    const made = journal.last < 0 ? { target, args } : { target };
    journal.last = cursor + 1;
    const { method, origin } = run.call;
    const asked = { session: owner.session.id, requestId: origin.requestId, method, ...made, trace: journal.trace };
    const event: JournalEvent = { ...asked, text, isFinal, cursor };
    journal.writer.append({ sequence: journal.last, text: JSON.stringify(event) });
  }

  #open(run: Run): Journal {
    const { logs } = this.#state;
    const writer = new LogWriter({ logs, log: logOf(run.id), bounds: () => BOUNDS, point: "front.journal" });
    const journal = { writer, trace: traceIdOf(run.call), made: madeCallOf(run.call), last: -1 };
    this.#journals.set(run, journal);
    return journal;
  }

  /** What is known of a call's stream, in order; the first may say only what was asked. */
  async read(call: string, session: Session): Promise<readonly JournalEvent[]> {
    const items = await this.#state.logs.read(logOf(call), -1);
    const events = items.map(({ text }) => JSON.parse(text) as JournalEvent);
    return events.filter((event) => event.session === session.id);
  }

  /** Gives a call that nobody runs any more its answer: whoever comes back for it later gets the same. */
  async close(call: string, answer: JournalEvent): Promise<void> {
    const item = { sequence: answer.cursor + 1, text: JSON.stringify(answer) };
    await this.#state.logs.append(logOf(call), [item], BOUNDS);
  }
}

function logOf(call: string): string {
  return `journal:${call}`;
}
