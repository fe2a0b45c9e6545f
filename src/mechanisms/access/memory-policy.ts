import type { Change, Policy, PolicyChange, PolicyEntry, PolicyRows } from "../../contract/index.ts";

/** What operators set in a gateway that keeps nothing: it ends with the process. */
export class MemoryPolicy implements PolicyRows {
  #version = 0;
  #entries: ReadonlyMap<string, PolicyEntry> = new Map();

  async load(): Promise<Policy> {
    return { version: this.#version, entries: [...this.#entries.values()] };
  }

  async version(): Promise<number> {
    return this.#version;
  }

  /** As `Records.write`, of what belongs here; everything else is forgotten at once. */
  async write(changes: readonly Change[]): Promise<boolean> {
    const entries = new Map(this.#entries);
    let version = this.#version;
    for (const change of changes) {
      if (change.table !== "policy") continue;
      if (change.ifVersion !== undefined && change.ifVersion !== version) return false;
      if (!applied(entries, change)) return false;
      version++;
    }
    this.#version = version;
    this.#entries = entries;
    return true;
  }
}

function applied(entries: Map<string, PolicyEntry>, change: PolicyChange): boolean {
  if (change.type === "remove") return entries.delete(keyOf(change));
  entries.set(keyOf(change.entry), change.entry);
  return true;
}

function keyOf({ tenant, kind, key }: Pick<PolicyEntry, "tenant" | "kind" | "key">): string {
  return JSON.stringify([tenant, kind, key]);
}
