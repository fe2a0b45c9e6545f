/** What may be done again when a process was lost that may have done it. */
import { GatewayError } from "../../../contract/index.ts";
import { type Message, MessageFault, skimBatch, skimMessage } from "../../../wire/jsonrpc/index.ts";
import { LATEST_REVISION } from "../../../wire/mcp/index.ts";
import { errorAnswer } from "../mcp-errors.ts";

/** Requests that do something each time they are made. */
const ACTS: ReadonlySet<string> = new Set(["tools/call"]);

/** Whether it does no harm when a message is taken twice. What we do not know may do anything. */
export function isHarmless(message: Message): boolean {
  if (message.kind !== "request") return true;
  return LATEST_REVISION.methods.has(message.method) && !ACTS.has(message.method);
}

export type BatchJudgement = {
  readonly requests: readonly Message[];
  readonly harmless: boolean;
  /** The answer where nobody knows what of it was done. */
  unknown(): string;
};

/** Throws MessageFault when the batch as a whole cannot be taken. */
export function judgeBatch(text: string): BatchJudgement {
  const messages = skimBatch(text).map(skimOrNothing);
  const requests = messages.filter((message) => message !== undefined).filter(({ kind }) => kind === "request");
  return {
    requests,
    harmless: requests.every(isHarmless),
    unknown() {
      const error = new GatewayError("OUTCOME_UNKNOWN");
      return `[${requests.map((message) => errorAnswer(message.id, message.method, error, "")).join(",")}]`;
    },
  };
}

/** A bad message in a batch is answered by whoever takes the batch. */
function skimOrNothing(text: string): Message | undefined {
  try {
    return skimMessage(text);
  } catch (error) {
    if (error instanceof MessageFault) return undefined;
    throw error;
  }
}
