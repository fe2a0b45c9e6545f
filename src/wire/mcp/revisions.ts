import { revision20241105 } from "./2024-11-05/revision.ts";
import { revision20250326 } from "./2025-03-26/revision.ts";
import { revision20250618 } from "./2025-06-18/revision.ts";
import { revision20251125 } from "./2025-11-25/revision.ts";
import { revision20260728 } from "./2026-07-28/revision.ts";
import type { Revision } from "./revision.ts";

/** Oldest first. */
const ALL: readonly Revision[] = [revision20241105, revision20250326, revision20250618, revision20251125];

export const LATEST_REVISION = revision20251125;

/** What the protocol has a client assume when it names no version. */
export const ASSUMED_REVISION = revision20250326;

export function revisionOf(version: string): Revision | undefined {
  return ALL.find((revision) => revision.version === version);
}

export const VERSIONS: readonly string[] = ALL.map((revision) => revision.version);

const METHODS: ReadonlySet<string> = new Set([...ALL, revision20260728].flatMap(({ methods }) => [...methods]));
const BY_NAMES_OF_OTHERS = /^(?:tasks|notifications)\//i;

/**
 * Whether a request of this name means something to some revision. Where the caller's own has no such method it goes nowhere:
 * relayed, it would pass all that is decided about it where it is known. So it is with all tasks, which are named by what
 * their callers alone were told, and with notifications that want an answer.
 */
export function isMethodOfProtocol(method: string): boolean {
  return METHODS.has(method) || BY_NAMES_OF_OTHERS.test(method);
}
