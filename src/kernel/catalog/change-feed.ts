import { type ListedKind, payload, type Sessions, type Timers } from "../../contract/index.ts";
import type { CatalogChange } from "./catalog.ts";

const WINDOW_MS = 20;

type Pending = { readonly from: string; readonly session: string | undefined; readonly kinds: Set<ListedKind> };

/** Tells sessions what changed in the catalog, once per burst. */
export class ChangeFeed {
  readonly #timers: Timers;
  readonly #sessions: Sessions;
  readonly #pending = new Map<string, Pending>();

  constructor(timers: Timers, sessions: Sessions) {
    this.#timers = timers;
    this.#sessions = sessions;
  }

  add({ provider, kinds, session }: CatalogChange): void {
    if (this.#pending.size === 0) this.#timers.after(WINDOW_MS, () => this.#flush());
    const key = `${provider} ${session ?? ""}`;
    const pending = this.#pending.get(key) ?? { from: provider, session, kinds: new Set() };
    for (const kind of kinds) pending.kinds.add(kind);
    this.#pending.set(key, pending);
  }

  #flush(): void {
    const changes = [...this.#pending.values()];
    this.#pending.clear();
    for (const { from, session, kinds } of changes) {
      const to = { catalog: [...kinds], ...(session !== undefined && { session }) };
      this.#sessions.notice({ from, to, method: "catalog/changed", payload: payload("{}") });
    }
  }

  close(): void {
    this.#pending.clear();
  }
}
