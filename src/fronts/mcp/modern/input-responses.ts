/** What clients of 2026-07-28 answer to the questions of a server. */
import { membersAt, type Payload, payload, stringOf } from "../../../contract/index.ts";
import type { Message } from "../../../wire/jsonrpc/index.ts";
import { INVALID_PARAMS, type ModernError } from "./modern-errors.ts";

export const BAD_ANSWERS: ModernError = {
  code: INVALID_PARAMS,
  message: "params.inputResponses must be an object of objects, by the keys of inputRequests",
};

/** More than anybody was asked at once, with room for answers to former questions. */
const MAX_ANSWERS = 1024;

/** Undefined: they are not of the form that answers have. Throws JsonFault, also where there are too many. */
export function answersOf({ members }: Message): Map<string, Payload> | undefined {
  const text = members?.textOf("inputResponses");
  const answers = new Map<string, Payload>();
  if (text === undefined) return answers;
  const given = membersAt(text, 0, 1, MAX_ANSWERS);
  if (!given) return undefined;
  for (const [index, key] of given.keys.entries()) {
    const answer = given.textAt(index);
    if (!answer.startsWith("{")) return undefined;
    answers.set(stringOf(key), payload(answer));
  }
  return answers;
}
