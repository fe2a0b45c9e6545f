/**
 * The lines that wait for a pipe: callers take turns by how much they have written, so that what is small goes before what is
 * large of somebody else. Where too much waits, whoever has most of it gives up what came last.
 *
 * Invariant: `bytes` is the sum over what waits within; a share of which nothing waits is forgotten.
 */
import type { SharingCaller } from "../../../contract/index.ts";

export type WaitingLine = {
  readonly text: string;
  readonly tag?: string;
  /** There is no room for it any more. */
  readonly refuse: () => void;
};

/** Whose first line goes in no time: a hundred thousand may stand behind it, which are not moved each time. */
class LineQueue {
  readonly #lines: WaitingLine[] = [];
  #gone = 0;

  get first(): WaitingLine | undefined {
    return this.#lines[this.#gone];
  }

  get last(): WaitingLine | undefined {
    return this.#gone < this.#lines.length ? this.#lines.at(-1) : undefined;
  }

  add(line: WaitingLine): void {
    this.#lines.push(line);
  }

  remove(line: WaitingLine): void {
    if (line === this.first) this.#gone++;
    else this.#lines.splice(this.#lines.lastIndexOf(line), 1);
    if (this.#gone < MAX_GONE || 2 * this.#gone < this.#lines.length) return;
    this.#lines.splice(0, this.#gone);
    this.#gone = 0;
  }
}

/** So many places of lines that are gone are kept in any case. */
const MAX_GONE = 32;

class Share {
  readonly within = new Map<string, Share>();
  readonly lines = new LineQueue();
  readonly parent: Share | undefined;
  readonly key: string;
  bytes = 0;
  /** How much it has written, counted from where those were that wrote when it came. */
  written = 0;
  /** Where whoever wrote last of those within began. */
  now = 0;

  constructor(parent: Share | undefined, key: string) {
    this.parent = parent;
    this.key = key;
    this.written = parent?.now ?? 0;
  }

  count(bytes: number): void {
    for (let share: Share | undefined = this; share; share = share.parent) {
      share.bytes += bytes;
      if (share.bytes === 0) share.parent?.within.delete(share.key);
    }
  }

  /** Whose next line would end first. */
  next(): Share | undefined {
    if (this.lines.first) return this;
    let least = Number.POSITIVE_INFINITY;
    let found: Share | undefined;
    for (const share of this.within.values()) {
      const first = share.next();
      const end = share.written + (first?.lines.first?.text.length ?? 0);
      if (end < least) [least, found] = [end, first];
    }
    return found;
  }

  /** Who has most that waits. */
  fattest(): Share {
    let fattest: Share | undefined;
    for (const share of this.within.values()) if (share.bytes > (fattest?.bytes ?? 0)) fattest = share;
    return fattest?.fattest() ?? this;
  }
}

export class WaitingLines {
  readonly #root = new Share(undefined, "");
  readonly #shares = new Map<WaitingLine, Share>();
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get tags(): readonly string[] {
    return [...this.#shares.keys()].flatMap(({ tag }) => tag ?? []);
  }

  /** `caller`: unset for what we have to say ourselves. May refuse any line, also this one; never one that waits alone. */
  add(line: WaitingLine, caller: SharingCaller | undefined): void {
    const share = this.#shareOf(caller);
    share.lines.add(line);
    share.count(line.text.length);
    this.#shares.set(line, share);
    while (this.#root.bytes > this.#maxBytes && this.#shares.size > 1) {
      const last = this.#root.fattest().lines.last;
      if (!last || !this.remove(last)) return;
      last.refuse();
    }
  }

  /** Takes out the line that goes next. */
  take(): WaitingLine | undefined {
    const from = this.#root.next();
    const line = from?.lines.first;
    if (!from || !line) return undefined;
    for (let share = from; share.parent; share = share.parent) {
      share.parent.now = share.written;
      share.written += line.text.length;
    }
    this.remove(line);
    return line;
  }

  /** False: it does not wait any more. */
  remove(line: WaitingLine): boolean {
    const share = this.#shares.get(line);
    if (!share) return false;
    this.#shares.delete(line);
    share.lines.remove(line);
    share.count(-line.text.length);
    return true;
  }

  /** A user is one, by however many tokens they come, and those of a tenant share what one of it has. */
  #shareOf(caller: SharingCaller | undefined): Share {
    if (!caller) return within(this.#root, "");
    const { tenant, user, id } = caller;
    return within(within(this.#root, `tenant ${tenant}`), user === "" ? `id ${id}` : `user ${user}`);
  }
}

function within(parent: Share, key: string): Share {
  let share = parent.within.get(key);
  if (!share) {
    share = new Share(parent, key);
    parent.within.set(key, share);
  }
  return share;
}
