/** What of a definition must stay as it is: whatever a model or a person decides by, and what a call is made of. */
import { createHash } from "node:crypto";
import {
  digestJson,
  digestJsonOrText,
  JsonFault,
  MAX_ITEMS,
  MAX_MEMBERS,
  membersAt,
  type Primitive,
  payload,
  refuseRepeatedKeys,
  textsAt,
  unambiguousAt,
} from "../../contract/index.ts";

export type PinKind = "tool" | "prompt";

/** The members that count. Others may change freely: icons, most of `_meta`, and what only some sessions are shown. */
const MEMBERS: Readonly<Record<PinKind, readonly string[]>> = {
  tool: ["title", "description", "inputSchema", "outputSchema", "annotations"],
  prompt: ["title", "description", "arguments"],
};

/** What a tool declares and the gate goes by, beside its annotations. */
const DECLARATIONS: readonly (readonly string[])[] = [
  ["_meta", "x-mcpax-capability"],
  ["_meta", "dev.cloto/mgp"],
  ["security"],
  ["confirmation_required"],
];

/** A key that stands there twice, anywhere: the gate takes such a definition at the worst. */
const REPEATED_KEYS = "repeated keys";

/** By which rule prints are made now. Those of before have none, and know nothing of declarations. */
const RULE = 2;

export type Print = {
  /** Of all parts together. The name is no part: a copy under another name has the same. */
  readonly digest: string;
  /** Of each member that is there. */
  readonly parts: Readonly<Record<string, string>>;
  /** What the members say, as JSON, for whoever compares; none of what is too long to keep, or too much of one server. */
  readonly texts?: Readonly<Record<string, string>> | undefined;
  readonly rule?: number | undefined;
};

/** Of one member: most are far shorter, and a server may have thousands. */
export const MAX_TEXT = 4096;

export function isPinned(kind: Primitive["kind"]): kind is PinKind {
  return kind === "tool" || kind === "prompt";
}

/** However a server spells its JSON, the same definition has the same print. */
export function printOf(kind: PinKind, definition: string): Print {
  const parts: Record<string, string> = {};
  const texts: Record<string, string> = {};
  for (const [name, text] of partsOf(kind, definition)) {
    parts[name] = digestJsonOrText(text);
    if (text.length <= MAX_TEXT) texts[name] = Buffer.from(text, "latin1").toString("utf8");
  }
  return { digest: digestOfParts(kind, parts, Object.keys(parts)), parts, texts, rule: RULE };
}

/** The digest of the members alone: all that prints of before have, and what a copy under another name is known by. */
export function membersDigest(kind: PinKind, { digest, parts }: Print): string {
  const isAll = Object.keys(parts).every((name) => MEMBERS[kind].includes(name));
  return isAll ? digest : digestOfParts(kind, parts, MEMBERS[kind]);
}

function digestOfParts(kind: PinKind, parts: Print["parts"], names: readonly string[]): string {
  const whole = createHash("sha256").update(kind);
  for (const name of names) if (parts[name] !== undefined) whole.update(`\0${name}\0${parts[name]}`);
  return whole.digest("base64url");
}

function* partsOf(kind: PinKind, definition: string): Iterable<readonly [name: string, text: string]> {
  const fault = faultOf(definition);
  // It would be read several times over, for each part.
  if (fault?.reason === "members") return yield [WHOLE, definition];
  const members = membersOf(definition);
  for (const member of MEMBERS[kind]) {
    const text = members(member);
    if (text !== undefined) yield [member, text];
  }
  if (kind !== "tool") return;
  const declared = MAY_DECLARE.test(definition) ? declaredIn(definition) : [];
  for (const [index, path] of DECLARATIONS.entries()) {
    const text = declared[index];
    if (text !== undefined) yield [path.join("."), text];
  }
  if (fault) yield [REPEATED_KEYS, "true"];
}

/** What stands for a definition that is one thing as a whole. */
const WHOLE = "description";

/** Of the text alone, written plainly or in escapes: most definitions declare nothing. */
const MAY_DECLARE = /_meta|security|confirmation_required|\\/;

function declaredIn(definition: string): readonly (string | undefined)[] {
  try {
    return textsAt(definition, DECLARATIONS);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    // One of them is there twice: the others still count.
    return DECLARATIONS.map((path) => unambiguousAt(payload(definition), path));
  }
}

/** Why the gate takes it at the worst. */
function faultOf(definition: string): JsonFault | undefined {
  try {
    refuseRepeatedKeys(definition, MAX_MEMBERS, MAX_ITEMS);
    return undefined;
  } catch (error) {
    if (error instanceof JsonFault) return error;
    throw error;
  }
}

/** A definition without a description says too little to be known again under another name. */
export function isTelling({ parts }: Print): boolean {
  return parts.description !== undefined && parts.description !== EMPTY;
}

const EMPTY = digestJson('""');

/** The members whose digests differ. */
export function differences(before: Print, after: Print): string[] {
  const names = new Set([...Object.keys(before.parts), ...Object.keys(after.parts)]);
  return [...names].filter((name) => before.parts[name] !== after.parts[name]);
}

function membersOf(definition: string): (name: string) => string | undefined {
  try {
    const members = membersAt(definition, 0);
    return (name) => members?.textOf(name);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    // Two readers could read it differently: then it is one thing as a whole.
    return (name) => (name === WHOLE ? definition : undefined);
  }
}
