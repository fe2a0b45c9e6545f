/** The lists of limits that tenants have, as they are kept: one row of the policy for each, replaced as a whole. */
import type { Log, PolicyEntry } from "../../contract/index.ts";
import type { LimitEntry } from "./limit-entry.ts";
import { rateOf, type TenantLimit, tenantLimits } from "./limit-schema.ts";

export const LIST_KEY = "list";

export function writeList(limits: readonly TenantLimit[]): string {
  return JSON.stringify(limits);
}

export function readList({ value }: PolicyEntry): readonly TenantLimit[] {
  return tenantLimits.parse(JSON.parse(value));
}

/** All that tenants have set. A row that cannot be read was written by a newer version: it is left out, and said so. */
export function entriesOf(rows: readonly PolicyEntry[], log: Log): LimitEntry[] {
  return rows.flatMap((row) => {
    try {
      return readList(row).map((limit) => entryOf(row.tenant, limit));
    } catch (cause) {
      log.error("limits of a tenant cannot be read and are not in force", { tenant: row.tenant, cause });
      return [];
    }
  });
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
