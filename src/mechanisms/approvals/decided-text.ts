/** What somebody decides about: the part of a call's params that its digest is of, in the one spelling that digests have. */
import {
  type Approval,
  canonicalJson,
  digestJson,
  type Payload,
  payload,
  type Target,
  textOf,
} from "../../contract/index.ts";

/** Of tools and prompts their arguments, as MCP-AX has it; of all else the whole params, in which anything may say what is done. */
export function decidedPart({ kind }: Pick<Target, "kind">, input: Payload): string {
  return kind === "tool" || kind === "prompt" ? argumentsIn(input) : paramsOf(input);
}

/** No number is spelled otherwise than in the call. */
export function decidedText({ digest, input }: Pick<Approval, "digest" | "input">): string {
  const sent = payload(textOf(input));
  // The digest itself says what it is of: no text that is shown has another.
  const given = argumentsIn(sent);
  return canonicalJson(digestJson(given) === digest ? given : paramsOf(sent));
}

function argumentsIn(input: Payload): string {
  return input.at(["arguments"]) ?? "{}";
}

function paramsOf(input: Payload): string {
  return input.splice(["_meta"]).text;
}
