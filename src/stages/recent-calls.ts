import type { Timing } from "../contract/index.ts";

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

/** What is kept of a finished call; the report is made when somebody asks for it. */
export type FinishedCall = {
  readonly callId: string;
  readonly target: string;
  readonly principal: string;
  readonly front: string;
  readonly code: string;
  readonly timing: Timing | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
};

const MAX_CALLS = 1_024;

/** The last finished calls, in a ring: keeping them costs the same however many there are. */
export class RecentCalls {
  readonly #calls: FinishedCall[] = [];
  readonly #epoch: number;
  #next = 0;

  /** `epoch`: what to add to the kernel's clock for everybody's. */
  constructor(epoch: number) {
    this.#epoch = epoch;
  }

  add(call: FinishedCall): void {
    this.#calls[this.#next] = call;
    this.#next = (this.#next + 1) % MAX_CALLS;
  }

  find(callId: string): CallReport | undefined {
    const found = this.#calls.find((call) => call.callId === callId);
    return found && this.#report(found);
  }

  /** Newest first. */
  list(count: number): CallReport[] {
    const newestFirst = [...this.#calls.slice(0, this.#next).reverse(), ...this.#calls.slice(this.#next).reverse()];
    return newestFirst.slice(0, count).map((call) => this.#report(call));
  }

  #report(call: FinishedCall): CallReport {
    const { callId, target, principal, front, code, startedAt, endedAt } = call;
    const began = new Date(this.#epoch + startedAt).toISOString();
    const durationMs = rounded(endedAt - startedAt);
    return { callId, target, principal, front, code, startedAt: began, durationMs, steps: stepsOf(call) };
  }
}

function stepsOf({ timing, startedAt, endedAt }: FinishedCall): CallReport["steps"] {
  const moments: [name: string, from: number][] = [];
  for (const [index, at] of (timing?.entered ?? []).entries()) moments.push([timing?.stages[index] ?? "stage", at]);
  if (timing && timing.sentAt > 0) moments.push(["provider", timing.sentAt]);
  if (timing && timing.firstAt > 0 && timing.firstAt < endedAt) moments.push(["rest of the answer", timing.firstAt]);
  if (moments.length === 0) moments.push(["call", startedAt]);
  return moments.map(([name, from], index) => ({ name, ms: rounded((moments[index + 1]?.[1] ?? endedAt) - from) }));
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
