/** What the list of tools says about how each is called: which arguments are headers, and whether results are wrapped. */
import { type Offer, type Payload, type Primitive, payload, type Steps } from "../../../contract/index.ts";
import { MAX_PARAM_HEADERS, type ParamHeader, paramHeaders } from "../../../wire/mcp/2026-07-28/index.ts";
import { isWrapped, RESULT_MEMBERS, stripServerInfo } from "../../../wire/mcp/bridge/index.ts";
import { spokenBy } from "../home-facts.ts";
import type { UpstreamSession } from "../upstream-session.ts";

type ToolFact = { readonly headers: readonly ParamHeader[]; readonly isWrapped: boolean };

const PLAIN: ToolFact = { headers: [], isWrapped: false };

export class ToolFacts {
  readonly #session: UpstreamSession;
  #facts: ReadonlyMap<string, ToolFact> | undefined;

  constructor(session: UpstreamSession) {
    this.#session = session;
  }

  /** The tools have been listed once. */
  get isKnown(): boolean {
    return this.#facts !== undefined;
  }

  of(name: string): ToolFact {
    return this.#facts?.get(name) ?? PLAIN;
  }

  /** What may be offered of what the server listed. */
  *learn(offers: readonly Offer[]): Steps<readonly Offer[]> {
    const learned: Offer[] = [];
    for (const offer of offers) {
      const kept = offer.kind === "tool" ? yield* this.#learnTools(offer.primitives) : offer.primitives;
      learned.push({ ...offer, primitives: kept, extras: withoutEnvelope(offer.extras) });
    }
    return learned;
  }

  *#learnTools(tools: readonly Primitive[]): Steps<readonly Primitive[]> {
    const { transport, context } = this.#session;
    const isWrapping = spokenBy(this.#session).isModern;
    const facts = new Map<string, ToolFact>();
    const kept: Primitive[] = [];
    for (const tool of tools) {
      const { name, definition } = tool;
      const found = transport.hasStreams ? headersOf(definition) : [];
      // Where the server runs on stdio, a mistake in what it says of headers is nobody's trouble.
      const headers = found ?? (context.isHome ? [] : undefined);
      const wrapped = isWrapping && isWrapped(definition);
      if (headers && (headers.length > 0 || wrapped)) facts.set(name, { headers, isWrapped: wrapped });
      if (headers) kept.push(tool);
      yield;
    }
    this.#facts = facts;
    const skipped = tools.length - kept.length;
    const reason = `x-mcp-header is not valid, or on more than ${MAX_PARAM_HEADERS} properties`;
    if (skipped > 0) context.log.warn("tools left out", { reason, count: skipped });
    return kept;
  }
}

/** Undefined: the tool must not be shown. */
function headersOf(definition: Payload): readonly ParamHeader[] | undefined {
  if (!definition.text.includes("x-mcp-header")) return [];
  try {
    return paramHeaders(payload(definition.at(["inputSchema"]) ?? "{}").value());
  } catch {
    return undefined; // two readers could read its schema differently
  }
}

/** Members of the result without those that every result of this era has. */
function withoutEnvelope(extras: string): string {
  if (extras === "") return "";
  let result = stripServerInfo(payload(`{${extras}}`));
  for (const key of RESULT_MEMBERS) result = result.splice([key]);
  return result.text.slice(1, -1);
}
