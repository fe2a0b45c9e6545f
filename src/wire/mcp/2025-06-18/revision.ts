import { revision20250326 } from "../2025-03-26/revision.ts";
import { revise } from "../revision.ts";

/** No batches any more; elicitation, structured output, resource links. */
export const revision20250618 = revise(revision20250326, { version: "2025-06-18", hasBatches: false });
