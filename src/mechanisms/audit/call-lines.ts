/**
 * Calls as lines of the trail. This runs with every call, so what is the same for many is made once: for a caller, for a target,
 * and for the two together.
 */
import {
  type Call,
  identityOf,
  JsonFault,
  type Payload,
  type Primitive,
  type Principal,
  stringOf,
  type Target,
} from "../../contract/index.ts";
import type { ArgumentFacts } from "./argument-facts.ts";
import type { Entry } from "./block.ts";
import { type CallOutcome, verdictOf } from "./call-outcome.ts";
import { boundName, eventLine } from "./event-line.ts";
import { plainTarget } from "./plain-event.ts";
import { BETWEEN, GAP, HOLE } from "./short-lines.ts";
import { facetTerms, traceTerm } from "./terms.ts";

type CallerFacts = {
  readonly actor: string;
  readonly members: string;
  readonly filler: string;
  readonly terms: WeakMap<Target, Map<string, readonly number[]>>;
};
type TargetFacts = {
  readonly target: string;
  readonly members: string;
  /** For those who call it as the last one did: nearly all do. */
  template: { readonly method: string; readonly front: string; readonly protocol: string; readonly text: string };
};

/** A caller may name its requests and methods as it likes. */
const MAX_ID = 200;

export type CallStamp = { readonly at: number; readonly id: string; readonly traceId: string };

export class CallLines {
  readonly #callers = new WeakMap<Principal, CallerFacts>();
  readonly #targets = new WeakMap<Target, TargetFacts>();
  readonly #primitives = new WeakMap<Target, Primitive>();
  #second = { at: 0, text: "" };

  /** Where a target's risk is read from, when it is first called. */
  know(target: Target, primitive: Primitive): void {
    this.#primitives.set(target, primitive);
  }

  /** Never throws: whatever about a call cannot be written down is left out of its event. */
  entry(call: Call, outcome: CallOutcome, stamp: CallStamp, facts?: ArgumentFacts): Entry {
    try {
      return this.#entry(call, outcome, stamp, facts);
    } catch (cause) {
      return bareEntry(call, outcome, stamp, cause);
    }
  }

  #entry(call: Call, outcome: CallOutcome, stamp: CallStamp, facts: ArgumentFacts | undefined): Entry {
    const { at, id, traceId } = stamp;
    const { type, result } = verdictOf(outcome.code);
    const caller = this.#callerOf(call.principal);
    const target = this.#targetOf(call.target);
    const terms = termsOf(caller, call, type);
    const trace = traceTerm(traceId);
    if (isPlain(call, outcome, facts)) {
      const line = this.#values(call, outcome, stamp);
      return { line, template: templateOf(call, target), filler: caller.filler, at, trace, terms };
    }
    const { origin } = call;
    const line = `{"timestamp":"${this.#timeText(at)}","trace_id":"${traceId}","event_type":"${type}","actor":${caller.actor},"target":${target.target},"result":"${result}","details":{"id":"${id}",${caller.members},${target.members},"method":${methodText(call.method)},"protocol":${JSON.stringify(origin.front)},"protocol_version":${JSON.stringify(origin.protocol)},"request_id":${requestIdText(origin.requestId)},"duration_ms":${Math.round(outcome.durationMs * 10) / 10},"bytes_in":${call.input.text.length},"bytes_out":${outcome.bytesOut},"attempt":${outcome.attempt},"rateLimit.hit":${outcome.limit === undefined ? "false" : JSON.stringify(outcome.limit)},"cache.hit":${outcome.isCached}${rarely(call, outcome, facts)}}}`;
    return { line, template: undefined, filler: undefined, at, trace, terms };
  }

  #values(call: Call, { durationMs, bytesOut }: CallOutcome, { at, id, traceId }: CallStamp): string {
    const duration = Math.round(durationMs * 10) / 10;
    return `"${this.#timeText(at)}"${BETWEEN}"${traceId}"${BETWEEN}"${id}"${BETWEEN}${requestIdText(call.origin.requestId)}${BETWEEN}${duration}${BETWEEN}${call.input.text.length}${BETWEEN}${bytesOut}`;
  }

  #callerOf(principal: Principal): CallerFacts {
    const known = this.#callers.get(principal);
    if (known) return known;
    const { tenant, user, client } = identityOf(principal);
    const actor = JSON.stringify({ type: "agent", id: principal.id });
    const members = membersText({ tenant, user, client });
    const facts = { actor, members, filler: actor + HOLE + members, terms: new WeakMap() };
    this.#callers.set(principal, facts);
    return facts;
  }

  #targetOf(target: Target): TargetFacts {
    const known = this.#targets.get(target);
    if (known) return known;
    const facts = {
      target: JSON.stringify({ server_id: target.provider, tool_name: nameOf(target) }),
      members: membersText({
        kind: target.kind,
        risk_level: riskOf(this.#primitives.get(target)),
        validator_applied: "none",
      }),
      template: { method: "", front: "", protocol: "", text: "" },
    };
    this.#targets.set(target, facts);
    return facts;
  }

  /** Written once for all calls of the same ms. */
  #timeText(at: number): string {
    const ms = Math.floor(at);
    if (this.#second.at !== ms) this.#second = { at: ms, text: new Date(ms).toISOString() };
    return this.#second.text;
  }
}

/** What is left of a call whose own facts are in the way. */
function bareEntry({ principal, target }: Call, { code }: CallOutcome, stamp: CallStamp, cause: unknown): Entry {
  const { tenant } = identityOf(principal);
  const { type, result } = verdictOf(code);
  const place = { server: target.provider, name: nameOf(target) };
  const exception = cause instanceof Error ? cause.name : typeof cause;
  const details = { code, reason: code, cut: true, exception };
  const actor = { type: "agent", id: principal.id } as const;
  const line = eventLine({ type, tenant, actor, target: place, result, details }, stamp);
  const terms = facetTerms({ type, actor: principal.id, tenant, ...place });
  return { line, at: stamp.at, trace: traceTerm(stamp.traceId), terms };
}

function termsOf({ terms }: CallerFacts, { principal, target }: Call, type: string): readonly number[] {
  const known = terms.get(target) ?? new Map<string, readonly number[]>();
  if (known.size === 0) terms.set(target, known);
  let words = known.get(type);
  if (!words) {
    const { tenant } = identityOf(principal);
    words = facetTerms({ type, actor: principal.id, server: target.provider, name: nameOf(target), tenant });
    known.set(type, words);
  }
  return words;
}

/** A plain call's line, with gaps for what is its caller's, and holes for what is its own. */
function templateOf({ method, origin: { front, protocol } }: Call, facts: TargetFacts): string {
  const { target, members, template: last } = facts;
  if (last.method === method && last.front === front && last.protocol === protocol) return last.text;
  const { type, result } = verdictOf("ok");
  const text = `{"timestamp":${HOLE},"trace_id":${HOLE},"event_type":"${type}","actor":${GAP},"target":${target},"result":"${result}","details":{"id":${HOLE},${GAP},${members},"method":${methodText(method)},"protocol":${JSON.stringify(front)},"protocol_version":${JSON.stringify(protocol)},"request_id":${HOLE},"duration_ms":${HOLE},"bytes_in":${HOLE},"bytes_out":${HOLE},"attempt":1,"rateLimit.hit":false,"cache.hit":false}}`;
  facts.template = { method, front, protocol, text };
  return text;
}

/** Nothing happened that only few events tell of: its line is that of many. */
function isPlain(call: Call, outcome: CallOutcome, facts: ArgumentFacts | undefined): boolean {
  const { code, attempt, limit, isCached, isTask } = outcome;
  const isOwn = call.parent === undefined && facts === undefined;
  return code === "ok" && attempt === 1 && !isCached && isOwn && limit === undefined && isTask !== true;
}

function methodText(method: string): string {
  return JSON.stringify(method.length > MAX_ID ? method.slice(0, MAX_ID) : method);
}

/** As a string, whatever the caller's id is. */
function requestIdText(id: string): string {
  if (id.length > MAX_ID) return JSON.stringify(stringOf(id).slice(0, MAX_ID));
  return id.startsWith('"') ? stringOf(id) : `"${id}"`;
}

export function nameOf(target: Target): string {
  return boundName(plainTarget(target));
}

/** What most calls have nothing of. */
function rarely(call: Call, outcome: CallOutcome, facts: ArgumentFacts | undefined): string {
  const { code, retryOf, exception, source, isTask } = outcome;
  let text = code === "ok" ? "" : `,"code":${JSON.stringify(code)},"reason":${JSON.stringify(code)}`;
  if (retryOf !== undefined) text += `,"retry_of":"${retryOf}"`;
  if (exception !== undefined) text += `,"exception":${JSON.stringify(exception)}`;
  if (source !== undefined) text += `,"source":${JSON.stringify(source)}`;
  if (isTask) text += `,"task_id":${JSON.stringify(call.id)}`;
  if (call.parent !== undefined) text += `,"parent":${JSON.stringify(call.parent)}`;
  return facts && Object.keys(facts).length > 0 ? `${text},${membersText(facts)}` : text;
}

function membersText(members: object): string {
  return JSON.stringify(members).slice(1, -1);
}

type Risk = "safe" | "moderate" | "dangerous";

/** One that says it in a way that two readers could read differently is not believed. */
function riskOf(primitive: Primitive | undefined): Risk {
  if (primitive?.kind !== "tool") return "safe";
  try {
    return riskIn(primitive.definition);
  } catch (error) {
    if (error instanceof JsonFault) return "dangerous";
    throw error;
  }
}

/** What the tool says of itself in MGP's words, else what its hints come to. */
function riskIn(definition: Payload): Risk {
  const said = [
    ["security", "risk_level"],
    ["_meta", "dev.cloto/mgp", "security", "risk_level"],
  ].flatMap((path) => definition.at(path) ?? [])[0];
  if (said !== undefined) return RISKS[said] ?? "dangerous";
  if (definition.at(["annotations", "destructiveHint"]) === "true") return "dangerous";
  return definition.at(["annotations", "readOnlyHint"]) === "true" ? "safe" : "moderate";
}

const RISKS: Readonly<Record<string, Risk>> = {
  '"safe"': "safe",
  '"moderate"': "moderate",
  '"dangerous"': "dangerous",
};
