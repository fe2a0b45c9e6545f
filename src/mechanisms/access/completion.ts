/**
 * Completion of a part of a URI tells names of what there is. Where it is decided about URIs one by one, of what a server answers
 * only those values are handed on that lead to a URI which the caller may read.
 */
import { type Call, GatewayError } from "../../contract/index.ts";
import { readOnce } from "./arguments.ts";
import { pathFault, plainText, uriFault } from "./plain-path.ts";
import { expand, meetingText, type Piece, type Places, textOf, variablesOf } from "./uri-template.ts";

export type UriJudge = {
  readonly mayRead: (uri: string) => boolean;
  /** How many templates each URI is held against for that. */
  readonly templates: number;
  /** What the names of the server begin with in patterns. */
  readonly start: string;
  /** What was said about names: patterns. */
  readonly patterns: readonly string[];
};

const MAX_LENGTH = 2_048;
/** Of what a client says about other variables. */
const MAX_CONTEXT = 64;

/**
 * Where the letters of URIs and of patterns meet, for all values of an answer together: an ordinary one takes a few thousand, a
 * million a tenth of a second. Values behind that are not handed on.
 */
const MAX_PLACES = 1_000_000;
/** To hold a URI against a template takes a place for so many of its letters. */
const LETTERS_A_PLACE = 64;

/** Of the values that come back, those to hand on; undefined: it is about no URI. Throws BAD_CALL for what cannot be judged. */
export function judgeCompletion(call: Call, judge: UriJudge): ((value: string) => boolean) | undefined {
  const { kind, name: template } = call.target;
  if (kind !== "template" && kind !== "resource") return undefined;
  const variables = variablesOf(template);
  const { name, context } = readAsked(call, variables);
  // What becomes no part of a URI cannot be judged by one.
  if (!variables.has(name)) return () => false;
  const places: Places = { left: MAX_PLACES };
  return (value) => {
    if (value.length > MAX_LENGTH || pathFault(value) !== undefined) return false;
    const known = new Map([...context, [name, value]]);
    const given = expand(template, known, "given");
    const escaped = escapedOf(template, known);
    // In the one spelling it must be readable; the other is only one of several that nobody may have to be able to read.
    if (!escaped || !isOpen(escaped, judge, places)) return false;
    const givenText = textOf(given);
    return givenText === textOf(escaped) || uriFault(givenText) !== undefined || isOpen(given, judge, places);
  };
}

function escapedOf(template: string, known: ReadonlyMap<string, string>): readonly Piece[] | undefined {
  try {
    return expand(template, known, "escaped");
  } catch {
    return undefined;
  }
}

/** Whether the URI may be read; where parts of it are not known, whether there is one of its form that may be. */
function isOpen(pieces: readonly Piece[], judge: UriJudge, places: Places): boolean {
  const { start, patterns } = judge;
  const mayRead = (uri: string) => {
    places.left -= judge.templates * Math.ceil(uri.length / LETTERS_A_PLACE);
    return places.left >= 0 && judge.mayRead(uri);
  };
  const text = textOf(pieces);
  if (mayRead(text)) return true;
  if (!pieces.includes(undefined) || uriFault(text) !== undefined) return false;
  const plain = [start, ...pieces.map((piece) => piece && (plainText(piece) ?? piece))];
  return patterns.some((pattern) => {
    const found = meetingText(plain, plainText(pattern) ?? pattern, places);
    return found?.startsWith(start) === true && mayRead(found.slice(start.length));
  });
}

function firstFault(values: readonly unknown[]): string | undefined {
  for (const value of values) {
    const fault = faultOf(value);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOf(value: unknown): string | undefined {
  if (typeof value !== "string") return "it is no text";
  return value.length > MAX_LENGTH ? `it is longer than ${MAX_LENGTH} characters` : pathFault(value);
}

type Asked = { readonly name: string; readonly context: ReadonlyMap<string, string> };

/** Throws BAD_CALL where what is to be completed could be read in two ways. */
function readAsked({ input }: Call, variables: ReadonlySet<string>): Asked {
  let said: { argument?: { name?: unknown; value?: unknown }; context?: { arguments?: object } };
  try {
    said = readOnce(input.text) as typeof said;
  } catch (cause) {
    throw new GatewayError("BAD_CALL", { message: "The call can be read in two ways.", cause });
  }
  const given = Object.entries(said.context?.arguments ?? {});
  const asked = [said.argument?.value, ...given.map(([, value]) => value)];
  const fault = given.length > MAX_CONTEXT ? `it comes with more than ${MAX_CONTEXT} others` : firstFault(asked);
  if (fault !== undefined)
    throw new GatewayError("BAD_CALL", { message: `What is to be completed cannot be judged: ${fault}.` });
  return { name: String(said.argument?.name), context: new Map(given.filter(([key]) => variables.has(key))) };
}
