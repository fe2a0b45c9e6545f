/**
 * What a tool said of itself when somebody was asked about a call of it. A yes is to that tool: once its definition is another
 * one, it is a yes to something else.
 */
import { createHash } from "node:crypto";
import {
  type Approval,
  digestJsonOrText,
  type Payload,
  type Primitive,
  type SessionRef,
  type Target,
} from "../../contract/index.ts";
import { isPinned } from "../pins/index.ts";
import { withoutFlags } from "./safety-flags.ts";

export type Offered = {
  readonly primitive: Primitive;
  /** Every session is shown it like this. */
  readonly isForAll: boolean;
};

/** What is offered now, to this session or to everybody. */
export type FindOffered = (target: Target, session?: SessionRef) => Offered | undefined;

/** Each is asked for with every call that waits, and a definition may be long. */
const DIGESTS = new WeakMap<Payload, string>();
/** Definitions without our flags, by those with them. */
const WRITTEN = new WeakMap<Payload, Payload>();

/**
 * `kind reach digest`; "" for what has no definition that anybody decides by. Of the whole definition, however it is spelt: pins let
 * some members change freely, since a call does without them, but nobody knows which of them a person has decided by.
 */
export function definitionPrint(offered: Offered | undefined): string {
  if (!offered || !isPinned(offered.primitive.kind)) return "";
  const { kind, definition } = offered.primitive;
  let digest = DIGESTS.get(definition);
  if (digest === undefined) {
    digest = createHash("sha256").update(`${kind}\0`).update(digestJsonOrText(definition.text)).digest("base64url");
    DIGESTS.set(definition, digest);
  }
  return [kind, offered.isForAll ? "all" : "session", digest].join(" ");
}

/**
 * Of what its server says of it, without the flags that gateways add by their own settings: these may change while a call waits that
 * has used its yes, and that makes it no other tool. "" as above.
 */
export function writtenPrint(offered: Offered | undefined): string {
  if (!offered) return "";
  const { primitive } = offered;
  let definition = WRITTEN.get(primitive.definition);
  if (!definition) {
    definition = withoutFlags(primitive.definition);
    WRITTEN.set(primitive.definition, definition);
  }
  return definitionPrint({ ...offered, primitive: { ...primitive, definition } });
}

export function isSameDefinition(one: string, other: string): boolean {
  return digestIn(one) === digestIn(other);
}

/** Where everybody was shown the same, anybody who decides can tell that it is another one now. */
export function hasOtherDefinition({ server, name, definition }: Approval, find: FindOffered): boolean {
  const [kind, reach] = definition.split(" ");
  if (reach !== "all" || (kind !== "tool" && kind !== "prompt")) return false;
  const present = find({ provider: server, kind, name });
  return present !== undefined && !isSameDefinition(definition, definitionPrint(present));
}

function digestIn(print: string): string | undefined {
  return print.split(" ")[2];
}
