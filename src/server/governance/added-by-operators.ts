/** Servers and catalogs that stand in the policy and not in the config: every process adds them to its own. */
import { DEFAULT_TENANT, type Log } from "../../contract/index.ts";
import type { LivePolicy } from "../../mechanisms/access/index.ts";
import type { AddedTables } from "../config/index.ts";
import type { LiveParts } from "./live-parts.ts";

type Kind = "server" | "catalog";

export class AddedByOperators {
  readonly #policy: LivePolicy;
  readonly #live: Pick<LiveParts, "following">;
  readonly #log: Log;
  #taken = "";

  constructor(policy: LivePolicy, live: Pick<LiveParts, "following">, log: Log) {
    this.#policy = policy;
    this.#live = live;
    this.#log = log;
    policy.onChange(() => void this.takeOver());
  }

  get version(): number {
    return this.#policy.version;
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
    return this.#policy
      .entries(kind)
      .filter(({ tenant }) => tenant === DEFAULT_TENANT)
      .flatMap(({ key, value }) => {
        try {
          return [{ id: key, table: JSON.parse(value) as object }];
        } catch (cause) {
          this.#log.error("a table in the policy cannot be read", { kind, key, cause });
          return [];
        }
      });
  }
}
