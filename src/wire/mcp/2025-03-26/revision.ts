import { revision20241105 } from "../2024-11-05/revision.ts";
import { revise } from "../revision.ts";

/** Streamable HTTP, and for this one revision batches. */
export const revision20250326 = revise(revision20241105, { version: "2025-03-26", hasBatches: true });
