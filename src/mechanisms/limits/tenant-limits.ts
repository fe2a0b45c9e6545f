/** The lists of limits that tenants have, as they are kept: one row of the policy for each, replaced as a whole. */
import type { GatewayError, Log, PolicyEntry } from "../../contract/index.ts";
import { unreadableRow } from "../access/index.ts";
import type { LimitEntry } from "./limit-entry.ts";
import { rateOf, type TenantLimit, tenantLimits } from "./limit-schema.ts";

export const LIST_KEY = "list";

export function writeList(limits: readonly TenantLimit[]): string {
  return JSON.stringify(limits);
}

export function readList({ value }: PolicyEntry): readonly TenantLimit[] {
  return tenantLimits.parse(JSON.parse(value));
}

/** All that tenants have set. A row that cannot be read, because a newer version wrote it, takes no limit away. */
export class TenantLimits {
  readonly #log: Log;
  #inForce = new Map<string, readonly LimitEntry[]>();
  #fault: GatewayError | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Throws where a row could not be read: at the start there is nothing that could stay in force. */
  requireAll(): void {
    if (this.#fault) throw this.#fault;
  }

  /** What is in force of these rows: those of a tenant whose row cannot be read stay as they were. */
  read(rows: readonly PolicyEntry[]): readonly LimitEntry[] {
    this.#fault = undefined;
    this.#inForce = new Map(rows.map((row) => [row.tenant, this.#readRow(row)]));
    return [...this.#inForce.values()].flat();
  }

  #readRow(row: PolicyEntry): readonly LimitEntry[] {
    const { tenant } = row;
    try {
      return readList(row).map((limit) => entryOf(tenant, limit));
    } catch (cause) {
      this.#fault = unreadableRow(row, cause);
      this.#log.error("limits of a tenant cannot be read: those before stay in force", { tenant, cause });
      return this.#inForce.get(tenant) ?? [];
    }
  }
}

function entryOf(owner: string, { selector, per = [], policy, concurrency, budget }: TenantLimit): LimitEntry {
  const { wcit, client = wcit, ...rest } = selector;
  return {
    owner,
    selector: { ...rest, client },
    per,
    rate: policy && rateOf(policy.capacity, policy.refill),
    concurrency,
    budget,
  };
}
