/** What the list of tools says about how each is called: which arguments are headers, and whether results are wrapped. */
import { type Log, type Offer, type Payload, type Primitive, payload, type Steps } from "../../../contract/index.ts";
import { MAX_PARAM_HEADERS, type ParamHeader, paramHeaders } from "../../../wire/mcp/2026-07-28/index.ts";
import { isWrapped, RESULT_MEMBERS, stripServerInfo } from "../../../wire/mcp/bridge/index.ts";

type ToolFact = { readonly headers: readonly ParamHeader[]; readonly isWrapped: boolean };

const PLAIN: ToolFact = { headers: [], isWrapped: false };

export class ToolFacts {
  readonly #log: Log;
  #facts: ReadonlyMap<string, ToolFact> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** The tools have been listed once. */
  get isKnown(): boolean {
    return this.#facts !== undefined;
  }

  of(name: string): ToolFact {
    return this.#facts?.get(name) ?? PLAIN;
  }

  /** What may be offered of what the server listed. `hasHeaders`: requests to it carry headers. */
  *learn(offers: readonly Offer[], hasHeaders: boolean): Steps<readonly Offer[]> {
    const learned: Offer[] = [];
    for (const offer of offers) {
      const kept = offer.kind === "tool" ? yield* this.#learnTools(offer.primitives, hasHeaders) : offer.primitives;
      learned.push({ ...offer, primitives: kept, extras: withoutEnvelope(offer.extras) });
    }
    return learned;
  }

  *#learnTools(tools: readonly Primitive[], hasHeaders: boolean): Steps<readonly Primitive[]> {
    const facts = new Map<string, ToolFact>();
    const kept: Primitive[] = [];
    for (const tool of tools) {
      const { name, definition } = tool;
      const headers = hasHeaders ? headersOf(definition) : [];
      const wrapped = isWrapped(definition);
      if (headers && (headers.length > 0 || wrapped)) facts.set(name, { headers, isWrapped: wrapped });
      if (headers) kept.push(tool);
      yield;
    }
    this.#facts = facts;
    const skipped = tools.length - kept.length;
    const reason = `x-mcp-header is not valid, or on more than ${MAX_PARAM_HEADERS} properties`;
    if (skipped > 0) this.#log.warn("tools left out", { reason, count: skipped });
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
