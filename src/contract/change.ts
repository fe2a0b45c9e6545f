import type { ApprovalChange } from "./approval.ts";
import type { AuditChange } from "./audit-rows.ts";
import type { BlockChange } from "./block.ts";
import type { Delivery } from "./records.ts";
import type { TokenChange } from "./token.ts";
import type { UpstreamTokenChange } from "./upstream-token.ts";

/**
 * What is to be written together with other things, as data: `Records.write` writes all of a list or nothing. Each table that
 * takes part adds its changes to the union. A change that must find its row as it was is missed where it does not, and then
 * nothing of the list is written.
 */
export type Change =
  | PolicyChange
  | BlockChange
  | UpstreamTokenChange
  | TokenChange
  | ApprovalChange
  | AuditChange
  | DeliveryChange;

/** A message that must reach somebody outside, kept together with what it tells of. It has no order. */
export type DeliveryChange = { readonly table: "deliveries"; readonly type: "add"; readonly delivery: Delivery };

/** One thing that an operator has set: a grant, a switch, a limit. `value` is JSON that only its mechanism reads. */
export type PolicyEntry = {
  readonly tenant: string;
  readonly kind: "grant" | "exposure" | "binding" | "limit" | "setting" | "server" | "catalog";
  /** Unique within tenant and kind. */
  readonly key: string;
  readonly value: string;
  /** In ms of everybody's clock. */
  readonly updatedAt: number;
  readonly updatedBy: string;
};

/** Each makes a new version of the whole policy. `ifVersion`: it is missed where the policy has another one. */
export type PolicyChange = { readonly table: "policy"; readonly ifVersion?: number } & (
  | { readonly type: "put"; readonly entry: PolicyEntry }
  | { readonly type: "remove"; readonly tenant: string; readonly kind: PolicyEntry["kind"]; readonly key: string }
);

export type Policy = { readonly version: number; readonly entries: readonly PolicyEntry[] };

/** What operators have set, as a whole: there is little of it, and every process has all of it in memory. */
export interface PolicyRows {
  load(): Promise<Policy>;
  /** Cheap: asked every few seconds by each process, because a message about a change may be lost. */
  version(): Promise<number>;
}
