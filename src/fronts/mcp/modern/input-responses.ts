/** What clients of 2026-07-28 answer to the questions of a server. */
import { membersAt, type Payload, payload, stringOf } from "../../../contract/index.ts";
import type { Message } from "../../../wire/jsonrpc/index.ts";
import { INVALID_PARAMS, type ModernError } from "./modern-errors.ts";

export const BAD_ANSWERS: ModernError = {
  code: INVALID_PARAMS,
  message: "params.inputResponses must be an object of objects, by the keys of inputRequests",
};

/** Undefined: they are not of the form that answers have. */
export function answersOf({ members }: Message): Map<string, Payload> | undefined {
  const text = members?.textOf("inputResponses");
  const answers = new Map<string, Payload>();
  if (text === undefined) return answers;
  const given = membersAt(text, 0);
  for (const key of given?.keys ?? []) {
    const answer = given?.textOf(key) ?? "";
    if (!answer.startsWith("{")) return undefined;
    answers.set(stringOf(key), payload(answer));
  }
  return given ? answers : undefined;
}
