import type {
  Admission,
  Admitted,
  CallLedger,
  Charge,
  Clock,
  KeptRoom,
  Limited,
  OpenCall,
  Settlement,
} from "../../contract/index.ts";
import { ExpiringMap } from "./expiring-map.ts";
import { MemoryCounters } from "./memory-counters.ts";
import { MemoryKeptAnswers } from "./memory-kept-answers.ts";
import type { MemoryMembers } from "./memory-members.ts";

type Named = { readonly call: string; readonly member: string; readonly digest: string; readonly answer?: string };

/** Whose a call is when somebody was told that it is lost: so it stays, whatever its process says later. */
const NOBODY = "";

/** How long the record of a call outlives the time it may run: whoever comes back late can still be told. */
const AFTERLIFE_MS = 60_000;

export class MemoryCalls implements CallLedger {
  readonly #open: ExpiringMap<Admission>;
  readonly #named: ExpiringMap<Named>;
  readonly #kept = new MemoryKeptAnswers((key) => this.#named.get(key)?.answer !== undefined);
  readonly #members: MemoryMembers;
  readonly counters: MemoryCounters;

  constructor(clock: Clock, members: MemoryMembers) {
    this.counters = new MemoryCounters({ clock, isAlive: (member) => members.alive(member) !== undefined });
    this.#open = new ExpiringMap(clock);
    this.#named = new ExpiringMap(clock);
    this.#members = members;
  }

  async admit(admission: Admission): Promise<Admitted> {
    const { call, member, once, session } = admission;
    const lifeMs = admission.ttlMs + AFTERLIFE_MS;
    const named = once && this.#named.get(once.key);
    const hasBegun = named !== undefined && once !== undefined && isAgain(named, call, once.digest);
    if (named !== undefined && once !== undefined && !hasBegun) return this.#repeat(named, once);
    const limited = hasBegun ? undefined : this.counters.take(admission);
    if (limited !== undefined) return limited;
    if (once !== undefined) {
      this.#named.set(once.key, { call, member, digest: once.digest }, Math.max(once.ttlMs, lifeMs));
    }
    if (session !== undefined) this.#open.set(call, admission, lifeMs);
    return { type: "open" };
  }

  async charge(charge: Charge): Promise<Limited | undefined> {
    return this.counters.take(charge);
  }

  async settle({ call, once, slots }: Settlement): Promise<readonly KeptRoom[] | undefined> {
    this.#open.delete(call);
    if (slots !== undefined) this.counters.free(call, slots);
    if (once === undefined) return undefined;
    const named = this.#named.get(once.key);
    if (named?.call !== call || named.member === NOBODY) return undefined;
    const { key, answer, ttlMs, rooms = [] } = once;
    if (answer === undefined) {
      this.#named.delete(key);
      return undefined;
    }
    this.#named.set(key, { ...named, answer }, ttlMs);
    const bytes = Buffer.byteLength(key) + Buffer.byteLength(answer);
    return this.#kept.keep(key, bytes, rooms, (old) => this.#named.delete(old));
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

  #repeat(named: Named, { key, digest, ttlMs }: NonNullable<Admission["once"]>): Admitted {
    if (named.digest !== digest) return { type: "mismatch" };
    if (named.answer !== undefined) return { type: "done", answer: named.answer };
    const home = this.#members.alive(named.member);
    if (home !== undefined) return { type: "running", call: named.call, home };
    this.#named.set(key, { ...named, member: NOBODY }, ttlMs);
    return { type: "lost", call: named.call };
  }
}

/** Whoever admitted it has not heard that it was, and asks once more. */
function isAgain(named: Named, call: string, digest: string): boolean {
  return named.call === call && named.digest === digest && named.answer === undefined && named.member !== NOBODY;
}
