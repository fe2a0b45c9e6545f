/**
 * A server of 2025 may end a call with -32042: a page must be visited first, and then the call made again. Clients of
 * this era ask their user and come back at once, so they are held here until the server says that the visit is over.
 */
import { jsonText, type Payload, payload, stringOf, type Timers } from "../../../contract/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import type { ModernOutlet } from "./exchange.ts";
import { inputRequestsText } from "./questions.ts";

const URL_NEEDED = "-32042";
/** Well under the time after which clients give up a request. */
const HOLD_MS = 20_000;
const MAX_COMPLETED = 1000;
const MAX_PAGES = 16;

export type UrlQuestions = { readonly ids: readonly string[]; readonly inputRequests: string };

/** The pages that a server's error names; undefined for any other error. */
export function urlQuestions(error: Payload): UrlQuestions | undefined {
  if (error.at(["code"]) !== URL_NEEDED) return undefined;
  const pages: unknown = JSON.parse(stringOf(error.at(["data", "elicitations"]) ?? "[]"));
  const asked = (Array.isArray(pages) ? pages : []).filter(isPage).slice(0, MAX_PAGES);
  if (asked.length === 0) return undefined;
  const asks = asked.map((page, at) => {
    return { key: `u${at + 1}`, kind: "elicit", method: "elicitation/create", input: payload(jsonText(page)) } as const;
  });
  return { ids: asked.map((page) => String(page.elicitationId)), inputRequests: inputRequestsText(asks) };
}

function isPage(page: unknown): page is { elicitationId: unknown } {
  return typeof page === "object" && page !== null && (page as { mode?: unknown }).mode === "url";
}

type Hold = { readonly keys: Set<string>; readonly end: (isOver: boolean) => void };

export class UrlWaits {
  readonly #timers: Timers;
  readonly #completed = new Set<string>();
  readonly #held = new Set<Hold>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** The server says that this visit is over. */
  completed(session: Session, id: string): void {
    const key = keyOf(session, id);
    const [oldest] = this.#completed;
    if (this.#completed.size >= MAX_COMPLETED && oldest !== undefined) this.#completed.delete(oldest);
    this.#completed.add(key);
    for (const hold of [...this.#held]) if (hold.keys.delete(key) && hold.keys.size === 0) hold.end(true);
  }

  /** Goes on when every visit is over, or has taken long enough; not when the client leaves first. */
  hold(session: Session, ids: readonly string[], outlet: ModernOutlet, go: () => void): void {
    const keys = new Set(ids.map((id) => keyOf(session, id)).filter((key) => !this.#completed.has(key)));
    if (keys.size === 0) return go();
    const end = (isOver: boolean) => {
      if (!this.#held.delete(hold)) return;
      timer.cancel();
      if (isOver) go();
    };
    const hold: Hold = { keys, end };
    const timer = this.#timers.after(HOLD_MS, () => end(true));
    this.#held.add(hold);
    const leave = () => end(false);
    const cancel = () => {
      leave();
      outlet.drop();
    };
    outlet.bind({ resume: () => undefined, left: leave, cancel });
  }

  /** Lets go of everybody who waits. Safe to call twice. */
  close(): void {
    for (const hold of [...this.#held]) hold.end(false);
  }
}

function keyOf(session: Session, id: string): string {
  return `${session.id} ${id}`;
}
