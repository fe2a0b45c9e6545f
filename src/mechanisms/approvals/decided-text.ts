/**
 * What somebody decides about: everything that a call sends but its progress token, in the one spelling that digests have. No
 * number in it is spelled otherwise than in the call.
 */
import { createHash } from "node:crypto";
import {
  type Approval,
  canonicalJson,
  decodeString,
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

export type CallDigests = {
  /** SHA-256 of what is decided about. Of a call that sends nothing but arguments it is theirs, as MCP-AX has it. */
  readonly decided: string;
  /** The same for calls that are one call: a new trace makes no new one, and it is the approved bytes that are sent. */
  readonly repeat: string;
};

/** Throws JsonFault. */
export function digestsOf(target: Pick<Target, "kind">, input: Payload): CallDigests {
  const sent = lasting(input);
  const parts = partsOf(target, sent);
  const written = canonicalOf(parts);
  const decided = digestOf(written);
  if (parseTraceparent(decodeString(sent.at(TRACE_PATH))) === undefined) return { decided, repeat: decided };
  const untraced = partsOf(target, withoutEmptyMeta(sent.splice(TRACE_PATH)));
  // A trace is no argument: these are long, and written once.
  const repeated =
    untraced.given === parts.given ? { given: written.given, also: canonicalIf(untraced.also) } : canonicalOf(untraced);
  return { decided, repeat: digestOf(repeated) };
}

/** Whoever is shown it may see it often: `ShownInputs` has it made once. */
export function decidedText({ digest, input }: Pick<Approval, "digest" | "input">): Decided {
  const sent = lasting(payload(textOf(input)));
  const named = canonicalOf(argumentsAndMore(sent));
  // The digest itself says what it is of: no text that is shown has another.
  return digestOf(named) === digest ? named : canonicalOf({ given: sent.text });
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

/** Canonical texts in, each is written once. */
function digestOf({ given, also }: Decided): string {
  return createHash("sha256")
    .update(also === undefined ? given : `[${given},${also}]`, "utf8")
    .digest("base64url");
}

function canonicalOf({ given, also }: Decided): Decided {
  return { given: canonicalJson(given), also: canonicalIf(also) };
}

function canonicalIf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : canonicalJson(text);
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
