import { createHash } from "node:crypto";
import type { Block } from "../../../contract/index.ts";

/** A block lives until what it is about is worth nothing any more, and at least this long. */
export const LEAST_LIFE_MS = 24 * 3_600_000;
/** What never ends by itself, as far as anybody knows, is blocked for this long, and can be blocked again. */
export const LONGEST_LIFE_MS = 10 * 365 * 24 * 3_600_000;

export type BlockOrder = Pick<Block, "subject" | "key" | "reason"> &
  Partial<Pick<Block, "tenant" | "server" | "protocol" | "primitive">> & { readonly until?: number | undefined };

/** `until` unset: nobody knows when what it is about ends, so it lives as long as a block can. */
export function makeBlock(order: BlockOrder, by: string, now: number): Block {
  const { subject, key, tenant = "", server = "", protocol = "", primitive = "", reason } = order;
  const longest = now + LONGEST_LIFE_MS;
  const same = { subject, key, tenant, server, protocol, primitive };
  return {
    id: idOf(same),
    ...same,
    reason,
    createdAt: now,
    createdBy: by,
    until: Math.min(Math.max(order.until ?? longest, now + LEAST_LIFE_MS), longest),
  };
}

function idOf(same: Readonly<Record<string, string>>): string {
  return createHash("sha256")
    .update(JSON.stringify(Object.values(same)))
    .digest("base64url")
    .slice(0, ID_LENGTH);
}

const ID_LENGTH = 22;
