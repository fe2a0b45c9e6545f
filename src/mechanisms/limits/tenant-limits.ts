/** The lists of limits that tenants have, as they are kept: one row of the policy for each, replaced as a whole. */
import {
  DEFAULT_TENANT,
  type GatewayError,
  type Log,
  type PolicyEntry,
  type Principal,
  tenantOf,
} from "../../contract/index.ts";
import { unreadableRow } from "../access/index.ts";
import type { LimitEntry } from "./limit-entry.ts";
import { rateOf, type TenantLimit, tenantLimits } from "./limit-schema.ts";

const LIST_KEY = "list";
/** What the platform's operators have set for a tenant, beside what that one has set itself. */
const PLATFORM_KEY = "platform";

/** Of the list of a tenant that this caller replaces. */
export function listKeyOf(principal: Principal, tenant: string): string {
  return tenantOf(principal) === undefined && tenant !== DEFAULT_TENANT ? PLATFORM_KEY : LIST_KEY;
}

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
    this.#inForce = new Map(rows.map((row) => [placeOf(row), this.#readRow(row)]));
    return [...this.#inForce.values()].flat();
  }

  #readRow(row: PolicyEntry): readonly LimitEntry[] {
    const { tenant, key } = row;
    const isOwn = key === LIST_KEY && tenant !== DEFAULT_TENANT;
    try {
      return readList(row).map((limit) => ({ ...entryOf(tenant, limit), isOwn }));
    } catch (cause) {
      this.#fault = unreadableRow(row, cause);
      this.#log.error("limits of a tenant cannot be read: those before stay in force", { tenant, cause });
      return this.#inForce.get(placeOf(row)) ?? [];
    }
  }
}

function placeOf({ tenant, key }: PolicyEntry): string {
  return JSON.stringify([tenant, key]);
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
