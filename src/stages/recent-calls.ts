import { type Call, copyString, identityOf, LOCAL, type Principal, shownText, type Target } from "../contract/index.ts";
import { plainTarget } from "../mechanisms/audit/index.ts";

/** How one finished call went. Holds nothing of what it carried. */
export type CallReport = {
  readonly callId: string;
  readonly target: string;
  readonly principal: string;
  readonly front: string;
  readonly code: string;
  /** On everybody's clock, ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** Each moment of the call and how long it took, in order; together they are the duration. */
  readonly steps: readonly { readonly name: string; readonly ms: number }[];
};

/** A call that has finished. */
export type FinishedCall = {
  readonly call: Pick<Call, "id" | "target" | "principal" | "origin" | "timing">;
  readonly code: string;
  readonly startedAt: number;
  readonly endedAt: number;
};

const MAX_CALLS = 1_024;
/** Stages of one call whose times are kept. */
const MAX_STAGES = 12;
/** Numbers of one call: start, end, sent, first word, how many stages, and when it came to each. */
const WIDTH = 5 + MAX_STAGES;

/**
 * The last finished calls, in a ring. Each call leaves its numbers and a few words that live long anyway: objects that were
 * kept here would all grow old in the heap, and every collection would pay for them.
 */
export class RecentCalls {
  readonly #epoch: number;
  readonly #numbers = new Float64Array(MAX_CALLS * WIDTH);
  readonly #ids: string[] = new Array(MAX_CALLS).fill("");
  readonly #targets: (Target | undefined)[] = new Array(MAX_CALLS).fill(undefined);
  readonly #principals: Principal[] = new Array(MAX_CALLS).fill(LOCAL);
  readonly #fronts: string[] = new Array(MAX_CALLS).fill("");
  readonly #codes: string[] = new Array(MAX_CALLS).fill("");
  readonly #stages: (readonly string[])[] = new Array(MAX_CALLS).fill(NO_STAGES);
  #count = 0;

  /** `epoch`: what to add to the kernel's clock for everybody's. */
  constructor(epoch: number) {
    this.#epoch = epoch;
  }

  add({ call, code, startedAt, endedAt }: FinishedCall): void {
    const place = this.#count++ % MAX_CALLS;
    this.#ids[place] = call.id;
    this.#targets[place] = keptTarget(call.target);
    this.#principals[place] = call.principal;
    this.#fronts[place] = call.origin.front;
    this.#codes[place] = code;
    const { timing } = call;
    this.#stages[place] = timing?.stages ?? NO_STAGES;
    const entered = timing?.entered ?? NO_TIMES;
    const kept = Math.min(entered.length, MAX_STAGES);
    const at = place * WIDTH;
    this.#numbers[at] = startedAt;
    this.#numbers[at + 1] = endedAt;
    this.#numbers[at + 2] = timing?.sentAt ?? 0;
    this.#numbers[at + 3] = timing?.firstAt ?? 0;
    this.#numbers[at + 4] = kept;
    for (let index = 0; index < kept; index++) this.#numbers[at + 5 + index] = entered[index] as number;
  }

  /** `tenant`: only where it is one of that tenant's. */
  find(callId: string, tenant?: string): CallReport | undefined {
    const place = callId === "" ? -1 : this.#ids.indexOf(callId);
    return place < 0 || !this.#isOf(place, tenant) ? undefined : this.#report(place);
  }

  /** Newest first. `tenant`: only that tenant's. */
  list(count: number, tenant?: string): CallReport[] {
    const places = Array.from(
      { length: Math.min(this.#count, MAX_CALLS) },
      (_, age) => (this.#count - 1 - age) % MAX_CALLS,
    );
    const meant = places.filter((place) => this.#isOf(place, tenant));
    return meant.slice(0, count).map((place) => this.#report(place));
  }

  #isOf(place: number, tenant: string | undefined): boolean {
    return tenant === undefined || identityOf(this.#principals[place] ?? LOCAL).tenant === tenant;
  }

  #report(place: number): CallReport {
    const at = place * WIDTH;
    const [startedAt = 0, endedAt = 0, sentAt = 0, firstAt = 0, kept = 0] = this.#numbers.subarray(at, at + 5);
    const entered = this.#numbers.subarray(at + 5, at + 5 + kept);
    const { provider = "", name = "" } = this.#targets[place] ?? {};
    return {
      callId: this.#ids[place] ?? "",
      target: `${provider}/${name}`,
      principal: this.#principals[place]?.id ?? "",
      front: this.#fronts[place] ?? "",
      code: this.#codes[place] ?? "",
      startedAt: new Date(this.#epoch + startedAt).toISOString(),
      durationMs: rounded(endedAt - startedAt),
      steps: stepsOf({ stages: this.#stages[place] ?? NO_STAGES, entered, sentAt, firstAt, startedAt, endedAt }),
    };
  }
}

/** Tools and prompts are called by the names that are listed, which live long anyway; other names are pieces of a request. */
function keptTarget(target: Target): Target {
  const { kind, name } = target;
  const shown = shownText(plainTarget(target));
  return (kind === "tool" || kind === "prompt") && shown === name ? target : { ...target, name: copyString(shown) };
}

const NO_STAGES: readonly string[] = [];
const NO_TIMES: readonly number[] = [];

type Moments = {
  readonly stages: readonly string[];
  readonly entered: Float64Array;
  readonly sentAt: number;
  readonly firstAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
};

function stepsOf({ stages, entered, sentAt, firstAt, startedAt, endedAt }: Moments): CallReport["steps"] {
  const moments = Array.from(entered, (at, index): [name: string, from: number] => [stages[index] ?? "stage", at]);
  if (sentAt > 0) moments.push(["provider", sentAt]);
  if (firstAt > 0 && firstAt < endedAt) moments.push(["rest of the answer", firstAt]);
  if (moments.length === 0) moments.push(["call", startedAt]);
  return moments.map(([name, from], index) => ({ name, ms: rounded((moments[index + 1]?.[1] ?? endedAt) - from) }));
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
