import { type JsonObject, objectOf, textOf } from "../json.ts";

/** A way to an MCP server: messages go out, and whatever comes back is heard. */
export interface Channel {
  /** Resolves when the message was taken. Rejects with NoAnswer when nobody is there, with Ending when it does not let us. */
  send(message: JsonObject): Promise<void>;
  /** The revision that was agreed on, for transports that must repeat it. */
  agree(version: string): void;
  /** Safe to call twice. */
  close(): Promise<void>;
}

export type Hear = (message: JsonObject) => void;

/** Nobody is there, or whoever is there does not speak MCP. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  /** Nothing listens, as against something that answers wrongly. */
  readonly isNobody: boolean;
  /** In its own words, where it is a gateway that says no. */
  readonly words: string | undefined;

  /** It has nothing at that path. */
  readonly isMissing: boolean;

  constructor(message: string, isNobody: boolean, words?: string, isMissing = false) {
    super(message);
    this.isMissing = isMissing;
    this.isNobody = isNobody;
    this.words = words;
  }
}

/** By why a connection failed. */
export function noAnswerFor(error: unknown): NoAnswer {
  const { code, message, name } = objectOf(error);
  const isLate = name === "AbortError" || name === "TimeoutError" || code === "ABORT_ERR";
  if (isLate) return new NoAnswer("it took too long", false);
  const isNobody = code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EHOSTUNREACH";
  return new NoAnswer(textOf(code) ?? textOf(message) ?? "the connection failed", isNobody);
}
