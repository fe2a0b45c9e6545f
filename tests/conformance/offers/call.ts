/** What an offer sees of a request. Each fixture makes one from its own wire form. */
import type { Json } from "../sdk.ts";

/** Something that only the client can answer. */
export type Question = { readonly method: string; readonly params: Json };

export type Call = {
  readonly params: Json;
  /** What the client has declared, for its session or with this request. */
  readonly capabilities: Json;
  readonly progressToken: string | number | undefined;
  /** Sends a notification that belongs to this call. */
  notify(method: string, params: Json): Promise<void>;
  /** Drops what the client does not want to hear. */
  log(level: string, data: string): Promise<void>;
  /** Asks all of them at once. `withState`: 2026-07-28 is to hand out a state, even if it could do without. */
  ask(questions: Readonly<Record<string, Question>>, options?: { withState: true }): Promise<Record<string, Json>>;
  /** Aborts when the client no longer wants the answer. */
  readonly signal: AbortSignal;
  /**
   * Goes on as a task where the client takes one: the call is answered with it, and what is asked through the returned
   * side waits in it. Elsewhere that is the call itself.
   */
  startTask(): Pick<Call, "ask" | "signal">;
  /** Tells every client that a list has changed. */
  announce(list: "tools" | "prompts"): Promise<void>;
  /** Closes the stream of this call, which the client then resumes. Absent where a stream cannot be resumed. */
  closeStream?(): void;
};

/** An error that reaches the client with this code. */
export function rpcError(code: number, message: string, data?: Json): Error {
  return Object.assign(new Error(message), { code, data });
}

export function argumentsOf({ params }: Call): Json {
  return (params.arguments ?? {}) as Json;
}
