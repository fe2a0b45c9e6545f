/** The words that events are found by, as numbers. Two words may share one: whoever finds a block by it looks at its events. */
import type { KeptEvent } from "./event-line.ts";

/** What an event is found by, beside its trace. */
export type Facets = {
  readonly type: string;
  readonly actor: string;
  readonly server: string;
  readonly name: string;
  readonly tenant: string;
};

/** From the words that few events have to those that many have. */
const KINDS = ["trace", "type of actor", "actor", "target", "server", "type", "tenant"] as const;
export type TermKind = (typeof KINDS)[number];

export const traceTerm = (traceId: string): number => termOf("trace", traceId);

export function facetTerms({ type, actor, server, name, tenant }: Facets): readonly number[] {
  return [
    termOf("type of actor", joined(type, actor)),
    termOf("actor", actor),
    termOf("target", joined(server, name)),
    termOf("server", server),
    termOf("type", type),
    termOf("tenant", tenant),
  ];
}

export function facetsOf({ event_type, actor, target, details }: KeptEvent): Facets {
  return {
    type: event_type,
    actor: actor.id,
    server: target.server_id,
    name: target.tool_name,
    tenant: details.tenant,
  };
}

/** Those that a search needs, the rarest first. */
export function searchTerms({ traceId, ...facets }: Partial<Facets> & { readonly traceId?: string }): number[] {
  const { type, actor, server, name, tenant } = facets;
  const words: Partial<Record<TermKind, string>> = {
    ...(traceId !== undefined && { trace: traceId }),
    ...(type !== undefined && actor !== undefined && { "type of actor": joined(type, actor) }),
    ...(actor !== undefined && { actor }),
    ...(server !== undefined && name !== undefined && { target: joined(server, name) }),
    ...(server !== undefined && { server }),
    ...(type !== undefined && { type }),
    ...(tenant !== undefined && { tenant }),
  };
  return KINDS.flatMap((kind) => {
    const word = words[kind];
    return word === undefined || isImplied(kind, words) ? [] : [termOf(kind, word)];
  });
}

/** A word that stands in another one says nothing more. */
function isImplied(kind: TermKind, words: Partial<Record<TermKind, string>>): boolean {
  if (kind === "actor" || kind === "type") return words["type of actor"] !== undefined;
  return kind === "server" && words.target !== undefined;
}

function joined(first: string, second: string): string {
  return `${first}\n${second}`;
}

/** 53 bits: what a number holds exactly. Quick, and no secret: nothing but the speed of a search hangs on it. */
function termOf(kind: TermKind, word: string): number {
  let low = 0xdeadbeef ^ kind.length;
  let high = 0x41c6ce57 ^ kind.charCodeAt(0);
  for (let index = 0; index < word.length; index++) {
    const code = word.charCodeAt(index);
    low = Math.imul(low ^ code, 2654435761);
    high = Math.imul(high ^ code, 1597334677);
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return 4294967296 * (0x1fffff & high) + (low >>> 0);
}
