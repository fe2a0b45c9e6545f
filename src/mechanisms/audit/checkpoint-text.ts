/** What a checkpoint signs. */
import { createHash } from "node:crypto";
import type { AuditCheckpoint } from "../../contract/index.ts";
import type { RemovedText } from "./removed-blocks.ts";

export type CheckpointText = {
  readonly number: number;
  readonly at: string;
  /** The hash of the one before it; "" for the first. */
  readonly previous: string;
  readonly heads: readonly { readonly writer: string; readonly block: number; readonly hash: string }[];
  /** Together with it. */
  readonly removed?: RemovedText;
};

/** What is signed is ours, so it is what we write. */
export function checkpointText(text: string): CheckpointText | undefined {
  try {
    return JSON.parse(text) as CheckpointText;
  } catch {
    return undefined;
  }
}

export function checkpointHash({ text }: AuditCheckpoint): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
