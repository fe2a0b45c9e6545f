/** Questions to a client: what each asks, and what a client must have declared to be asked it. */
import {
  type AskKind,
  decodeString,
  JsonFault,
  jsonText,
  type Members,
  membersAt,
  type Payload,
  payload,
} from "../../../contract/index.ts";
import { ASK_METHODS } from "../../../wire/mcp/index.ts";

export type Question = {
  /** The server's key, as it stands in the text. */
  readonly key: string;
  readonly kind: AskKind;
  readonly method: string;
  readonly params: Payload;
  /** Where the question is to open this address. */
  readonly url: string | undefined;
};

export const NO_QUESTIONS = "The server wants input and does not say which.";

/**
 * The questions of an `input_required` result, at most so many; or what is wrong with them. Throws JsonFault where two
 * readers could read it differently.
 */
export function readQuestions(members: Members | undefined, most: number): readonly Question[] | string {
  const text = members?.textOf("inputRequests");
  if (text === undefined) return [];
  const map = mapOf(text, most);
  if (map === "too many") return `The server asks more than ${most} questions at once.`;
  const questions = map?.keys.map((key, index) => readQuestion(key, map.textAt(index)));
  return questions?.every((question) => question !== undefined) ? questions : NO_QUESTIONS;
}

function mapOf(text: string, most: number): Members | "too many" | undefined {
  try {
    return membersAt(text, 0, 1, most);
  } catch (error) {
    if (error instanceof JsonFault && error.reason === "members") return "too many";
    throw error;
  }
}

function readQuestion(key: string, text: string): Question | undefined {
  const members = membersAt(text, 0);
  const method = decodeString(members?.textOf("method"));
  if (method === undefined) return undefined;
  return questionOf(key, method, payload(members?.textOf("params") ?? ""));
}

export function questionOf(key: string, method: string, params: Payload): Question {
  const kind = (Object.hasOwn(ASK_METHODS, method) && ASK_METHODS[method]) || "raw";
  const isUrl = kind === "elicit" && decodeString(params.at(["mode"])) === "url";
  return { key, kind, method, params, url: isUrl ? (decodeString(params.at(["url"])) ?? "") : undefined };
}

/** Says to a client of 2026-07-28 what it would have to declare for its call to succeed. */
export function capabilityFault(questions: readonly Question[]): Payload {
  const required: Record<string, Record<string, object>> = {};
  for (const [name = "", part] of questions.flatMap(neededBy))
    required[name] = { ...required[name], ...(part !== undefined && { [part]: {} }) };
  const message = "The server needs capabilities that the client has not declared";
  return payload(jsonText({ code: -32021, message, data: { requiredCapabilities: required } }));
}

/** The capability that the client lacks to be asked this, in the words of the protocol; undefined when it has all. */
export function missingCapability(question: Question, capabilities: Payload | undefined): string | undefined {
  return neededBy(question)
    .find((path) => !declares(capabilities, path))
    ?.join(".");
}

function neededBy({ kind, method, params, url }: Question): readonly (readonly string[])[] {
  if (kind === "elicit") return url === undefined ? [["elicitation", "form"]] : [["elicitation", "url"]];
  if (kind === "roots") return [["roots"]];
  if (kind !== "sample") return [[method]];
  const context = decodeString(params.at(["includeContext"])) ?? "none";
  return [
    ["sampling"],
    ...(params.at(["tools"]) === undefined && params.at(["toolChoice"]) === undefined ? [] : [["sampling", "tools"]]),
    ...(context === "none" ? [] : [["sampling", "context"]]),
  ];
}

function declares(capabilities: Payload | undefined, path: readonly string[]): boolean {
  const value = capabilities?.at(path);
  if (value !== undefined) return value.startsWith("{");
  // Clients that name no mode mean forms.
  return path[1] === "form" && capabilities?.at(["elicitation"])?.replace(/\s/g, "") === "{}";
}
