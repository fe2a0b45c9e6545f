import type { Admission, Admitted, CallLedger, Clock, OpenCall, Settlement } from "../../contract/index.ts";
import { ExpiringMap } from "./expiring-map.ts";
import type { MemoryMembers } from "./memory-members.ts";

type Named = { readonly call: string; readonly member: string; readonly digest: string; readonly answer?: string };

/** How long the record of a call outlives the time it may run: whoever comes back late can still be told. */
const AFTERLIFE_MS = 60_000;

export class MemoryCalls implements CallLedger {
  readonly #open: ExpiringMap<Admission>;
  readonly #named: ExpiringMap<Named>;
  readonly #members: MemoryMembers;

  constructor(clock: Clock, members: MemoryMembers) {
    this.#open = new ExpiringMap(clock);
    this.#named = new ExpiringMap(clock);
    this.#members = members;
  }

  async admit(admission: Admission): Promise<Admitted> {
    const { call, member, once, session } = admission;
    const lifeMs = admission.ttlMs + AFTERLIFE_MS;
    if (once !== undefined) {
      const named = this.#named.get(once.key);
      if (named !== undefined && !isAgain(named, call, once.digest)) return this.#repeat(named, once.digest);
      this.#named.set(once.key, { call, member, digest: once.digest }, Math.max(once.ttlMs, lifeMs));
    }
    if (session !== undefined) this.#open.set(call, admission, lifeMs);
    return { type: "open" };
  }

  async settle({ call, once }: Settlement): Promise<void> {
    this.#open.delete(call);
    if (once === undefined) return;
    const named = this.#named.get(once.key);
    if (named?.call !== call) return;
    if (once.answer === undefined) this.#named.delete(once.key);
    else this.#named.set(once.key, { ...named, answer: once.answer }, once.ttlMs);
  }

  async openOf(session: string): Promise<readonly OpenCall[]> {
    const calls = this.#open.entries().map(([, admission]) => admission);
    return calls
      .filter((admission) => admission.session === session)
      .map(({ call, member, facts }) => ({
        call,
        member,
        isLost: this.#members.alive(member) === undefined,
        facts,
      }));
  }

  #repeat(named: Named, digest: string): Admitted {
    if (named.digest !== digest) return { type: "mismatch" };
    if (named.answer !== undefined) return { type: "done", answer: named.answer };
    const home = this.#members.alive(named.member);
    return home === undefined ? { type: "lost", call: named.call } : { type: "running", call: named.call, home };
  }
}

/** Whoever admitted it has not heard that it was, and asks once more. */
function isAgain(named: Named, call: string, digest: string): boolean {
  return named.call === call && named.digest === digest && named.answer === undefined;
}
