import { createHash } from "node:crypto";
import type { Block } from "../../../contract/index.ts";

/** A block lives until what it is about is worth nothing any more, and at least this long. */
export const LEAST_LIFE_MS = 24 * 3_600_000;
/** What never ends by itself, as far as anybody knows, is blocked for this long, and can be blocked again. */
export const LONGEST_LIFE_MS = 10 * 365 * 24 * 3_600_000;

export type BlockOrder = Pick<Block, "subject" | "key" | "reason"> &
  Partial<Pick<Block, "tenant" | "server" | "protocol" | "primitive">> & {
    readonly until?: number | undefined;
    /** Unset: an operator of the tenant that it is about. */
    readonly source?: BlockSource | undefined;
  };

/** The platform says it about a tenant: that one can neither take its place nor remove it. Or a token was taken back. */
export type BlockSource = "platform" | "token";

/** `until` unset: nobody knows when what it is about ends, so it lives as long as a block can. */
export function makeBlock(order: BlockOrder, by: string, now: number): Block {
  const { subject, key, tenant = "", server = "", protocol = "", primitive = "", reason } = order;
  const longest = now + LONGEST_LIFE_MS;
  const same = { subject, key, tenant, server, protocol, primitive };
  return {
    id: idOf(same, order.source),
    ...same,
    reason,
    createdAt: now,
    createdBy: by,
    until: Math.min(Math.max(order.until ?? longest, now + LEAST_LIFE_MS), longest),
  };
}

/** Whose word a block is stands in its id, so that two about the same are there beside each other. */
export function sourceOf({ id, subject, key, tenant, server, protocol, primitive }: Block): BlockSource | undefined {
  const same = { subject, key, tenant, server, protocol, primitive };
  return SOURCES.find((source) => id === idOf(same, source));
}

/** No tenant's operator may remove it. Asked for calls, and what tells it is a digest: each block is looked at once. */
export function isPlatformsBlock(block: Block): boolean {
  const known = PLATFORMS.get(block);
  if (known !== undefined) return known;
  const isPlatforms = block.tenant === "" || sourceOf(block) === "platform";
  PLATFORMS.set(block, isPlatforms);
  return isPlatforms;
}

const PLATFORMS = new WeakMap<Block, boolean>();

function idOf(same: Readonly<Record<string, string>>, source: BlockSource | undefined): string {
  return createHash("sha256")
    .update(JSON.stringify([...Object.values(same), ...(source ? [source] : [])]))
    .digest("base64url")
    .slice(0, ID_LENGTH);
}

const SOURCES = ["platform", "token"] as const;
const ID_LENGTH = 22;
