import { revision20250618 } from "../2025-06-18/revision.ts";
import { TASK_METHODS } from "../model.ts";
import { revise } from "../revision.ts";

/** Tasks, URL elicitation, and streams that a client may poll. */
export const revision20251125 = revise(revision20250618, {
  version: "2025-11-25",
  add: [...TASK_METHODS],
  primesStreams: true,
});
