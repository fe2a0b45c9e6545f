/**
 * Calls that wait for their clients between two rounds, and what clients bring back to go on with them.
 *
 * Invariants:
 *  1. A call is in `#waiting` from its first question to its answer, its expiry or its cancel.
 *  2. `generation` is the one state that goes on with the call; none while a client is attached to it.
 */
import { randomBytes } from "node:crypto";
import {
  type Ask,
  decodeString,
  digestJsonOrText,
  type GatewayError,
  jsonText,
  type Payload,
  payload,
  type Timer,
} from "../../../contract/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import { ROOTS_CHANGED } from "../../../wire/mcp/index.ts";
import type { FrontContext } from "../front-context.ts";
import type { ModernExchange } from "./exchange.ts";
import { answersOf, BAD_ANSWERS } from "./input-responses.ts";
import { capabilityMissing, INVALID_STATE, type ModernError, stateRefused } from "./modern-errors.ts";
import type { OpenCall } from "./open-call.ts";
import { joinRequirements, missingFor } from "./questions.ts";
import { callLost } from "./results.ts";
import type { RoundKeeper } from "./round.ts";
import { openState, type RoundState, type StateOwner, sealState, type WaitingState } from "./round-state.ts";
import { UrlWaits, urlQuestions } from "./url-waits.ts";

const MAX_WAITING = 256;
const MAX_USED = 10_000;

type Waiting = { readonly call: OpenCall; readonly generation: string | undefined; readonly timer: Timer | undefined };

/** What a request that bears a state leads to. */
export type Retry =
  | { readonly error: ModernError }
  /** Whoever brings it back may not make the call. */
  | { readonly refusal: GatewayError; readonly callId: string }
  /** Goes on with this call. */
  | { readonly call: OpenCall; readonly answers: ReadonlyMap<string, Payload> }
  /** A new call once these visits are over, if the user wanted them. */
  | { readonly visits: readonly string[]; readonly isDeclined: boolean }
  /** A new call with the server's own state, which it gave for this. */
  | { readonly upstream: string };

export class Rounds implements RoundKeeper {
  readonly #front: FrontContext;
  readonly #waiting = new Map<string, Waiting>();
  readonly #perPrincipal = new Map<string, number>();
  readonly #used = new Set<string>();
  readonly #roots = new WeakMap<Session, Payload>();
  /** From our clock to everybody's: a state may outlive the process that sealed it. */
  readonly #epoch: number;

  readonly visits: UrlWaits;

  constructor(front: FrontContext) {
    this.#front = front;
    this.visits = new UrlWaits(front.timers);
    this.#epoch = Date.now() - front.clock.now();
  }

  get size(): number {
    return this.#waiting.size;
  }

  get #now(): number {
    return this.#epoch + this.#front.clock.now();
  }

  get #expiry(): number {
    return this.#now + this.#front.config.inputMs;
  }

  mayWait(call: OpenCall): boolean {
    if (this.#waiting.has(runOf(call))) return true;
    return (this.#perPrincipal.get(call.session.principal.id) ?? 0) < MAX_WAITING;
  }

  suspend(call: OpenCall): string {
    const handle = runOf(call);
    if (!this.#waiting.has(handle)) this.#count(call, 1);
    this.#waiting.get(handle)?.timer?.cancel();
    const generation = randomBytes(12).toString("base64url");
    const timer = this.#front.timers.after(this.#front.config.inputMs, () => call.expire());
    this.#waiting.set(handle, { call, generation, timer });
    const holder = this.#front.holder();
    const state = { v: 1, h: handle, m: holder, g: generation, d: call.digest, x: this.#expiry } as const;
    return sealState(this.#front.keys, call.session, state);
  }

  forget(call: OpenCall): void {
    const waiting = this.#waiting.get(runOf(call));
    if (!waiting) return;
    waiting.timer?.cancel();
    this.#waiting.delete(runOf(call));
    this.#count(call, -1);
  }

  #count(call: OpenCall, by: number): void {
    const { id } = call.session.principal;
    const count = (this.#perPrincipal.get(id) ?? 0) + by;
    if (count > 0) this.#perPrincipal.set(id, count);
    else this.#perPrincipal.delete(id);
  }

  wrap(call: OpenCall, result: Payload): Payload {
    const state = decodeString(result.at(["requestState"]));
    // A client must not bring back a state that the server never gave.
    if (state === undefined) return result;
    const wrapped = { v: 1, u: state, d: call.digest, x: this.#expiry } as const;
    return result.splice(["requestState"], jsonText(sealState(this.#front.keys, call.session, wrapped)));
  }

  askToVisit(call: OpenCall, error: Payload): Payload | ModernError | undefined {
    const urls = urlQuestions(error);
    if (!urls) return undefined;
    const missing = missingFor(VISIT, call.session.capabilities);
    if (missing) return capabilityMissing(missing);
    const state = { v: 1, w: urls.ids, d: call.digest, x: this.#expiry } as const;
    const sealed = jsonText(sealState(this.#front.keys, call.session, state));
    return payload(`{"resultType":"input_required","inputRequests":${urls.inputRequests},"requestState":${sealed}}`);
  }

  visited(session: Session, notice: Payload): void {
    const id = decodeString(notice.at(["elicitationId"]));
    if (id !== undefined) this.visits.completed(session, id);
  }

  rootsOf(session: Session): Payload | undefined {
    return this.#roots.get(session);
  }

  /** Judges a request that bears a state. Nothing is changed by one that is refused. Throws JsonFault. */
  retry(exchange: ModernExchange, identity: string, sealed: string): Retry {
    const state = openState(this.#front.keys, exchange, sealed, this.#now);
    if (!state) return { error: INVALID_STATE };
    if (state.d !== digestJsonOrText(identity)) return { error: stateRefused("request_mismatch") };
    return "h" in state ? this.#goOn(exchange, state) : this.#beginAnew(exchange, state, sealed);
  }

  /** Answers that nobody waits for are not even read. */
  #goOn(exchange: ModernExchange, state: WaitingState): Retry {
    const waiting = this.#waiting.get(state.h);
    if (!waiting && state.m !== this.#front.holder()) return { error: callLost(state.h) };
    if (waiting?.generation !== state.g) return { error: stateRefused("state_used") };
    const run = waiting.call.run;
    const refusal = run && this.#front.returnRefusal?.(run.call, exchange.principal);
    if (refusal) return { refusal, callId: state.h };
    const answers = answersOf(exchange.message);
    if (!answers) return { error: BAD_ANSWERS };
    const missing = [...waiting.call.pending].map((ask) => missingFor(ask, exchange.profile));
    const required = missing.filter((one) => one !== undefined);
    if (required.length > 0) return { error: capabilityMissing(joinRequirements(required)) };
    waiting.timer?.cancel();
    this.#waiting.set(state.h, { call: waiting.call, generation: undefined, timer: undefined });
    this.#learnRoots(waiting.call, answers);
    return { call: waiting.call, answers };
  }

  #beginAnew(exchange: ModernExchange, state: Exclude<RoundState, WaitingState>, sealed: string): Retry {
    if (this.#used.has(sealed)) return { error: stateRefused("state_used") };
    const answers = answersOf(exchange.message);
    if (!answers) return { error: BAD_ANSWERS };
    this.#use(sealed);
    if ("u" in state) return { upstream: state.u };
    // Whoever says nothing about the pages has nothing to wait for: the server will ask again.
    return { visits: answers.size > 0 ? state.w : [], isDeclined: [...answers.values()].some(isNo) };
  }

  /** The call that a state goes on with, and the process it waits in; undefined where that is this one, or none. */
  elsewhere(owner: StateOwner, sealed: string): { readonly call: string; readonly holder: string } | undefined {
    const state = openState(this.#front.keys, owner, sealed, this.#now);
    if (!state || !("h" in state) || this.#waiting.has(state.h)) return undefined;
    return state.m === this.#front.holder() ? undefined : { call: state.h, holder: state.m };
  }

  /** Remembers a bounded number: what was forgotten has mostly expired. */
  #use(sealed: string): void {
    const [oldest] = this.#used;
    if (this.#used.size >= MAX_USED && oldest !== undefined) this.#used.delete(oldest);
    this.#used.add(sealed);
  }

  /** Servers that ask for roots outside a call get these; those that asked before are told that there are others. */
  #learnRoots({ session, pending }: OpenCall, answers: ReadonlyMap<string, Payload>): void {
    for (const { key, kind } of pending) {
      const roots = kind === "roots" ? answers.get(key) : undefined;
      if (!roots || roots.text === this.#roots.get(session)?.text) continue;
      this.#roots.set(session, roots);
      this.#front.catalog.notify(session.catalog, session, ROOTS_CHANGED, payload(""));
    }
  }

  /** Lets go of every call that waits. Safe to call twice. */
  close(): void {
    this.visits.close();
    for (const { call } of [...this.#waiting.values()]) call.expire();
  }
}

const VISIT: Ask = { key: "", kind: "elicit", method: "elicitation/create", input: payload('{"mode":"url"}') };

function isNo(answer: Payload): boolean {
  return decodeString(answer.at(["action"])) !== "accept";
}

function runOf(call: OpenCall): string {
  return call.run?.id ?? "";
}
