/** Calls as a busy gateway records them: made up, and the same in every run. */
import type { Call, Principal, Target } from "../../src/contract/index.ts";
import { payload } from "../../src/contract/index.ts";
import type { Entry } from "../../src/mechanisms/audit/block.ts";
import { CallLines } from "../../src/mechanisms/audit/index.ts";

export const FIRST_AT = Date.UTC(2026, 0, 1);
export const AGENTS = 200;
export const TENANTS = 8;
const SERVERS = 10;
const TOOLS = 10;
/** Of a hundred calls. */
const REFUSED = 2;

const pad = (number: number, width: number) => number.toString(16).padStart(width, "0");

/** Every event is a trace of its own, as where callers name none. Multiplied, so that neighbours in time are none in the index. */
export function traceOf(index: number): string {
  const high = pad(Math.imul(index + 1, 2654435761) >>> 0, 8);
  return `${high}-${high.slice(0, 4)}-4000-8000-${pad(index, 12)}`;
}

export const agentOf = (index: number) => `agent-${(index * 7) % AGENTS}`;
export const tenantOf = (index: number) => `tenant-${((index * 7) % AGENTS) % TENANTS}`;

export class MadeEvents {
  readonly #lines = new CallLines();
  readonly #callers: Principal[] = Array.from({ length: AGENTS }, (_, number) => ({
    id: `agent-${number}`,
    identity: {
      ...{ tenant: `tenant-${number % TENANTS}`, user: `user-${number}`, client: `client-${number % 20}` },
      ...{ groups: [], scopes: [], role: undefined, proof: "token" as const },
    },
  }));
  readonly #targets: Target[] = Array.from({ length: SERVERS * TOOLS }, (_, number) => ({
    provider: `server-${number % SERVERS}`,
    kind: "tool",
    name: `tool-${Math.floor(number / SERVERS)}`,
  }));
  readonly #input = payload('{"name":"tool","arguments":{"text":"hello world"}}');
  readonly #signal = new AbortController().signal;

  /** `at`: in ms since the first. */
  entry(index: number, at: number): Entry {
    const isRefused = index % 100 < REFUSED;
    const outcome = {
      code: isRefused ? "NOT_ALLOWED" : "ok",
      durationMs: (index % 997) / 10,
      bytesOut: 180,
      attempt: 1,
      isCached: false,
    };
    const stamp = { at: FIRST_AT + at, id: `bench-${index.toString(36)}`, traceId: traceOf(index) };
    return this.#lines.entry(this.#callOf(index), outcome, stamp);
  }

  #callOf(index: number): Call {
    return {
      id: "",
      target: this.#targets[(index * 13) % this.#targets.length] as Target,
      verb: "call",
      method: "tools/call",
      input: this.#input,
      principal: this.#callers[(index * 7) % AGENTS] as Principal,
      session: undefined,
      origin: { front: "mcp", protocol: "2025-11-25", requestId: String(index % 1_000) },
      deadline: 0,
      life: "bound",
      signal: this.#signal,
    };
  }
}
