import type { Clock, Entries, OwnedEntry } from "../../contract/index.ts";
import { ExpiringMap } from "./expiring-map.ts";
import type { MemoryMembers } from "./memory-members.ts";

type Kept = { readonly value: string; readonly owner: string; readonly fence: number };

export class MemoryEntries implements Entries {
  readonly #kept: ExpiringMap<Kept>;
  readonly #members: MemoryMembers;

  constructor(clock: Clock, members: MemoryMembers) {
    this.#kept = new ExpiringMap(clock);
    this.#members = members;
  }

  async get(key: string): Promise<OwnedEntry | undefined> {
    return this.#seen(key);
  }

  async claim(
    key: string,
    by: string,
    created?: { readonly value: string; readonly ttlMs: number },
  ): Promise<OwnedEntry | undefined> {
    const kept = this.#kept.get(key);
    if (kept === undefined) {
      if (created !== undefined) this.#kept.set(key, { value: created.value, owner: by, fence: 1 }, created.ttlMs);
    } else if (kept.owner !== by && this.#members.alive(kept.owner) === undefined) {
      this.#kept.replace(key, { value: kept.value, owner: by, fence: kept.fence + 1 });
    }
    return this.#seen(key);
  }

  async put(key: string, by: string, value: string, ttlMs: number): Promise<boolean> {
    return this.#change(key, by, (kept) => this.#kept.set(key, { ...kept, value }, ttlMs));
  }

  async touch(key: string, by: string, ttlMs: number): Promise<boolean> {
    return this.#change(key, by, (kept) => this.#kept.set(key, kept, ttlMs));
  }

  async release(key: string, by: string): Promise<boolean> {
    return this.#change(key, by, (kept) => this.#kept.replace(key, { ...kept, owner: "" }));
  }

  async drop(key: string, by: string): Promise<boolean> {
    return this.#change(key, by, () => this.#kept.delete(key));
  }

  #change(key: string, by: string, change: (kept: Kept) => void): boolean {
    const kept = this.#kept.get(key);
    if (kept?.owner !== by) return false;
    change(kept);
    return true;
  }

  #seen(key: string): OwnedEntry | undefined {
    const kept = this.#kept.get(key);
    return kept && { ...kept, home: this.#members.alive(kept.owner) };
  }
}
