/** What of a definition must stay as it is: whatever a model or a person decides by, and what a call is made of. */
import { createHash } from "node:crypto";
import { digestJson, JsonFault, membersAt, type Primitive } from "../../contract/index.ts";

export type PinKind = "tool" | "prompt";

/** The members that count. Others may change freely: `_meta`, icons, and what only some sessions are shown. */
const MEMBERS: Readonly<Record<PinKind, readonly string[]>> = {
  tool: ["title", "description", "inputSchema", "outputSchema", "annotations"],
  prompt: ["title", "description", "arguments"],
};

export type Print = {
  /** Of all parts together. The name is no part: a copy under another name has the same. */
  readonly digest: string;
  /** Of each member that is there. */
  readonly parts: Readonly<Record<string, string>>;
};

export function isPinned(kind: Primitive["kind"]): kind is PinKind {
  return kind === "tool" || kind === "prompt";
}

/** However a server spells its JSON, the same definition has the same print. */
export function printOf(kind: PinKind, definition: string): Print {
  const members = membersOf(definition);
  const parts: Record<string, string> = {};
  const whole = createHash("sha256").update(kind);
  for (const member of MEMBERS[kind]) {
    const text = members(member);
    if (text === undefined) continue;
    const digest = digestOf(text);
    parts[member] = digest;
    whole.update(`\0${member}\0${digest}`);
  }
  return { digest: whole.digest("base64url"), parts };
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
    return (name) => (name === "description" ? definition : undefined);
  }
}

function digestOf(text: string): string {
  try {
    return digestJson(text);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return createHash("sha256").update(text, "latin1").digest("base64url");
  }
}
