import type { Change, UpstreamTokenFilter, UpstreamTokenRow, UpstreamTokenRows } from "../../contract/index.ts";

/** For a gateway that remembers nothing: bounded, and gone with the process. */
export class MemoryTokenRows implements UpstreamTokenRows {
  readonly #rows = new Map<string, UpstreamTokenRow>();
  readonly #max: number;

  constructor(max = 10_000) {
    this.#max = max;
  }

  async get(id: string): Promise<UpstreamTokenRow | undefined> {
    return this.#rows.get(id);
  }

  async find(
    filter: UpstreamTokenFilter,
    now: number,
    limit: number,
    after = "",
  ): Promise<readonly UpstreamTokenRow[]> {
    const wanted = Object.entries(filter) as [keyof UpstreamTokenFilter, string][];
    const matches = (row: UpstreamTokenRow) => wanted.every(([name, value]) => row[name] === value);
    return [...this.#rows.values()]
      .filter((row) => row.expiresAt > now && row.id > after && matches(row))
      .sort((one, other) => (one.id < other.id ? -1 : 1))
      .slice(0, limit);
  }

  async expire(now: number): Promise<number> {
    const gone = [...this.#rows.values()].filter(({ expiresAt }) => expiresAt <= now);
    for (const { id } of gone) this.#rows.delete(id);
    return gone.length;
  }

  /** As `Records.write`, for changes of this one table. */
  readonly write = async (changes: readonly Change[]): Promise<boolean> => {
    return changes.every((change) => change.table !== "upstreamTokens" || this.#apply(change));
  };

  #apply(change: Extract<Change, { table: "upstreamTokens" }>): boolean {
    if (change.type === "remove") return this.#rows.delete(change.id) || true;
    const id = change.type === "put" ? change.token.id : change.id;
    const former = this.#rows.get(id);
    const { ifVersion } = change;
    if (ifVersion !== undefined && ifVersion !== (former?.version ?? 0)) return false;
    const version = (former?.version ?? 0) + 1;
    if (change.type === "put") this.#set({ ...change.token, version, leasedUntil: 0 });
    else if (former) this.#set({ ...former, version, leasedUntil: change.until });
    return true;
  }

  #set(row: UpstreamTokenRow): void {
    this.#rows.delete(row.id);
    this.#rows.set(row.id, row);
    const [oldest] = this.#rows.keys();
    if (this.#rows.size > this.#max && oldest !== undefined) this.#rows.delete(oldest);
  }
}
