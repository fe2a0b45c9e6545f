/** Servers and catalogs that stand in the policy and not in the config: every process adds them to its own. */
import { DEFAULT_TENANT, type Log, type PolicyEntry } from "../../contract/index.ts";
import type { LivePolicy } from "../../mechanisms/access/index.ts";
import type { AddedTables, ConfigSource } from "../config/index.ts";
import { readTable } from "./own-operations/added-tables.ts";

type Kind = "server" | "catalog";

/** Where the config comes from, if it is followed. */
type Following = {
  readonly following: () => { readonly source: Pick<ConfigSource, "added">; reload(): Promise<void> } | undefined;
};

export class AddedByOperators {
  readonly #policy: LivePolicy;
  readonly #live: Following;
  readonly #log: Log;
  /** Each row is read, and complained about, once. */
  readonly #known = new WeakMap<PolicyEntry, { readonly table: object | undefined }>();
  #taken = "";

  constructor(policy: LivePolicy, live: Following, log: Log) {
    this.#policy = policy;
    this.#live = live;
    this.#log = log;
    policy.onChange(() => void this.takeOver());
  }

  get version(): number {
    return this.#policy.version;
  }

  /** Also where it cannot be read. Another process may have added it a moment ago. Rejects where the store is away. */
  async isThere(kind: Kind, id: string): Promise<boolean> {
    await this.#policy.catchUp();
    return this.#rows(kind).some(({ key }) => key === id);
  }

  find(kind: Kind, id: string): object | undefined {
    return this.#tables(kind).find((table) => table.id === id)?.table;
  }

  /** As it would be with that table; undefined: without it. */
  with(kind: Kind, id: string, table: object | undefined): AddedTables {
    const changed = (of: Kind) => {
      const others = this.#tables(of).filter((one) => of !== kind || one.id !== id);
      const all = of === kind && table !== undefined ? [...others, { id, table }] : others;
      return all.map((one) => ({ ...one.table, id: one.id }));
    };
    return { servers: changed("server"), catalogs: changed("catalog") };
  }

  change(edit: Parameters<LivePolicy["change"]>[0]): Promise<number> {
    return this.#policy.change(edit);
  }

  /** Resolves when the gateway has what is in the policy now. */
  async takeOver(): Promise<void> {
    const following = this.#live.following();
    if (!following) return;
    const servers = this.#tables("server").map(({ id, table }) => ({ ...table, id }));
    const catalogs = this.#tables("catalog").map(({ id, table }) => ({ ...table, id }));
    const text = JSON.stringify([servers, catalogs]);
    if (text === this.#taken || (this.#taken === "" && servers.length + catalogs.length === 0)) return;
    this.#taken = text;
    following.source.added = { servers, catalogs };
    await following.reload();
  }

  #tables(kind: Kind): { readonly id: string; readonly table: object }[] {
    return this.#rows(kind).flatMap((row) => {
      const table = this.#read(kind, row);
      return table ? [{ id: row.key, table }] : [];
    });
  }

  #rows(kind: Kind): readonly PolicyEntry[] {
    return this.#policy.entries(kind).filter(({ tenant }) => tenant === DEFAULT_TENANT);
  }

  /** Whoever can write the store must not be able to add more by it than by the API. */
  #read(kind: Kind, row: PolicyEntry): object | undefined {
    const known = this.#known.get(row);
    if (known) return known.table;
    const read = this.#parse(kind, row);
    this.#known.set(row, read);
    return read.table;
  }

  #parse(kind: Kind, { key, value }: PolicyEntry): { readonly table: object | undefined } {
    try {
      return { table: readTable(kind, key, value) };
    } catch (cause) {
      const advice = "it is left out; remove it over the API, or put it again";
      this.#log.error(`a table in the policy is none that can be added, ${advice}`, { kind, key, cause });
      return { table: undefined };
    }
  }
}
