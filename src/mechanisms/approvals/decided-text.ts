/**
 * What somebody decides about: everything that a call sends but its progress token, in the one spelling that digests have. No
 * number in it is spelled otherwise than in the call.
 */
import {
  type Approval,
  canonicalJson,
  decodeString,
  digestJson,
  type Payload,
  parseTraceparent,
  payload,
  type Target,
  textOf,
} from "../../contract/index.ts";

export type Decided = {
  /** The arguments of a tool or prompt; of all else the whole params, in which anything may say what is done. */
  readonly given: string;
  /** What stands beside the arguments; undefined: nothing does. */
  readonly also?: string | undefined;
};

const TOKEN_PATH = ["_meta", "progressToken"] as const;
const TRACE_PATH = ["_meta", "traceparent"] as const;

/** As SHA-256 of what is decided about. Of a call that sends nothing but arguments it is theirs, as MCP-AX has it. */
export function decidedDigest(target: Pick<Target, "kind">, input: Payload): string {
  return digestOf(partsOf(target, lasting(input)));
}

/** The same for calls that are one call: a new trace makes no new one, and it is the approved bytes that are sent. */
export function repeatDigest(target: Pick<Target, "kind">, input: Payload): string {
  const sent = lasting(input);
  const isTrace = parseTraceparent(decodeString(sent.at(TRACE_PATH))) !== undefined;
  return digestOf(partsOf(target, isTrace ? withoutEmptyMeta(sent.splice(TRACE_PATH)) : sent));
}

export function decidedText({ digest, input }: Pick<Approval, "digest" | "input">): Decided {
  const sent = lasting(payload(textOf(input)));
  const named = argumentsAndMore(sent);
  // The digest itself says what it is of: no text that is shown has another.
  const { given, also } = digestOf(named) === digest ? named : { given: sent.text, also: undefined };
  return { given: canonicalJson(given), also: also === undefined ? undefined : canonicalJson(also) };
}

function partsOf({ kind }: Pick<Target, "kind">, sent: Payload): Decided {
  return kind === "tool" || kind === "prompt" ? argumentsAndMore(sent) : { given: sent.text };
}

/** The name is what was found by it: the tool, which is shown and signed by itself. */
function argumentsAndMore(sent: Payload): Decided {
  const given = sent.at(["arguments"]) ?? "{}";
  const more = sent.splice(["arguments"]).splice(["name"]).text;
  // Only an object can stand alone: no arguments look like arguments and what is beside them.
  return isEmpty(more) && given.startsWith("{") ? { given } : { given, also: more };
}

function digestOf({ given, also }: Decided): string {
  return digestJson(also === undefined ? given : `[${given},${also}]`);
}

function lasting(input: Payload): Payload {
  return withoutEmptyMeta(input.splice(TOKEN_PATH));
}

function withoutEmptyMeta(input: Payload): Payload {
  return isEmpty(input.at(["_meta"]) ?? "") ? input.splice(["_meta"]) : input;
}

function isEmpty(text: string): boolean {
  return /^\s*\{\s*\}\s*$/.test(text);
}
