/** The outbox of a session in shared state: what its client has not got outlives the process that wanted to send it. */
import type { LogItem } from "../../contract/index.ts";
import type { LogWriter } from "./log-writer.ts";
import type { Outbox, OutboxFollower, OutboxItem } from "./outbox.ts";

/** `sent`, `lost`: how the outbox stood then. */
type Written = OutboxItem & { readonly sent: number; readonly lost: number };

/** Writes down what happens to an outbox; what it holds up to `after` is written already. `onMoved`: more of it was sent. */
export function followOutbox(outbox: Outbox, writer: LogWriter, after: number, onMoved: () => void): void {
  const follower: OutboxFollower = {
    pushed({ type, text, key }, sequence) {
      const { sent, lost } = outbox;
      const written: Written = { type, text, ...(key !== undefined && { key }), sent, lost };
      writer.append({ sequence, text: JSON.stringify(written) });
    },
    removed: (sequence) => writer.remove(sequence),
    moved: onMoved,
  };
  outbox.follow(follower, after);
}

/** Numbers of one home never meet those of another: an event that nobody wrote down may have reached the client. */
const NUMBERS_PER_HOME = 1_000_000_000;

export type Restoring = {
  readonly outbox: Outbox;
  readonly items: readonly LogItem[];
  /** As the session's record has it. */
  readonly sent: number;
  /** Which home of the session this is. */
  readonly fence: number;
};

/** Questions whose askers are gone: their numbers in the log, and the ids of those that the client may have seen. */
export type Orphans = { readonly sequences: readonly number[]; readonly seen: readonly string[] };

/** Puts what another process had for the client into its new outbox, but for questions. */
export function restoreOutbox({ outbox, items, sent, fence }: Restoring): Orphans {
  const kept: (OutboxItem & { sequence: number })[] = [];
  const asked: { id: string; sequence: number }[] = [];
  let [last, seen, lost] = [0, sent, 0];
  for (const { sequence, text } of items) {
    // A batch may have been written twice.
    if (sequence <= last) continue;
    last = sequence;
    const written = JSON.parse(text) as Written;
    seen = Math.max(seen, written.sent);
    lost = Math.max(lost, written.lost);
    const { type, key } = written;
    if (type === "ask") asked.push({ id: (key ?? "").replace(/^ask /, ""), sequence });
    else kept.push({ type, text: written.text, sequence, ...(key !== undefined && { key }) });
  }
  const next = Math.max(last, seen, fence * NUMBERS_PER_HOME) + 1;
  outbox.restore({ items: kept, sent: seen, lost, next });
  return {
    sequences: asked.map(({ sequence }) => sequence),
    seen: asked.filter(({ sequence }) => sequence <= seen).map(({ id }) => id),
  };
}
