import { revision20241105 } from "./2024-11-05/revision.ts";
import { revision20250326 } from "./2025-03-26/revision.ts";
import { revision20250618 } from "./2025-06-18/revision.ts";
import { revision20251125 } from "./2025-11-25/revision.ts";
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
