import { randomUUID } from "node:crypto";
import {
  type Approval,
  type ApprovalChange,
  type ApprovalFilter,
  type ApprovalPage,
  type ApprovalRows,
  type ApprovalState,
  type AskedBy,
  type Change,
  isAskedBy,
  isLastingNo,
  isOpen,
  type ListedApproval,
  MAX_LISTED_INPUT,
  NO_INPUT,
} from "../../contract/index.ts";

/** How many that are over can be looked up. */
const MOST_ENDED = 200;

/** Approvals of a gateway that keeps nothing: they end with its process. */
export class MemoryApprovals implements ApprovalRows {
  readonly #gateway = randomUUID();
  readonly #approvals = new Map<string, Approval>();
  /** By their open keys, their ids; and the other way round. */
  readonly #open = new Map<string, string>();
  readonly #openKeys = new Map<string, string>();

  async get(id: string): Promise<Approval | undefined> {
    return this.#approvals.get(id);
  }

  async states(ids: readonly string[]): Promise<ReadonlyMap<string, ApprovalState>> {
    const found = ids.flatMap((id) => this.#approvals.get(id) ?? []);
    return new Map(found.map(({ id, state }) => [id, state]));
  }

  async find(openKey: string): Promise<Approval | undefined> {
    const id = this.#open.get(openKey);
    return id === undefined ? undefined : this.#approvals.get(id);
  }

  async denied(key: string, by: AskedBy, now: number): Promise<Approval | undefined> {
    return this.#of(key, by).findLast(({ state, expiresAt }) => state === "denied" && expiresAt > now);
  }

  async waiting(key: string, by: AskedBy): Promise<readonly string[]> {
    return this.#of(key, by).flatMap(({ id, state }) => (state === "waiting" ? [id] : []));
  }

  async list({ limit, inTurns = false, ...filter }: ApprovalPage): Promise<readonly ListedApproval[]> {
    const newest = this.#meant(filter).reverse();
    return (inTurns ? takingTurns(newest) : newest).slice(0, limit).map(listed);
  }

  async count(filter: ApprovalFilter): Promise<number> {
    return this.#meant(filter).length;
  }

  async overdue(now: number, limit: number): Promise<readonly Approval[]> {
    return this.#opened()
      .filter(({ expiresAt }) => expiresAt <= now)
      .slice(0, limit);
  }

  async forget(before: number, most: number): Promise<void> {
    const ended = [...this.#approvals.values()].filter((approval) => !isOpen(approval));
    const surplus = new Set(ended.slice(0, Math.max(0, ended.length - most)));
    for (const approval of ended) {
      if (approval.expiresAt < before || (surplus.has(approval) && !isLastingNo(approval)))
        this.#approvals.delete(approval.id);
    }
  }

  async gateway(): Promise<string> {
    return this.#gateway;
  }

  /** As `Records.write`; other tables are not kept here. */
  async write(changes: readonly Change[]): Promise<boolean> {
    const mine = changes.filter((change): change is ApprovalChange => change.table === "approval");
    if (!mine.every((change) => this.#fits(change))) return false;
    for (const change of mine) this.#apply(change);
    return true;
  }

  #meant(filter: ApprovalFilter): Approval[] {
    const all = filter.state === "open" ? this.#opened() : [...this.#approvals.values()];
    return all.filter((approval) => isMeant(approval, filter));
  }

  #of(key: string, by: AskedBy): Approval[] {
    return [...this.#approvals.values()].filter((one) => one.key === key && isAskedBy(one, by));
  }

  #opened(): Approval[] {
    return [...this.#open.values()].flatMap((id) => this.#approvals.get(id) ?? []);
  }

  #fits(change: ApprovalChange): boolean {
    if (change.type === "open") return !this.#open.has(openKeyOf(change));
    const found = this.#approvals.get(change.id);
    if (found?.state !== change.from) return false;
    if (change.policyVersion !== undefined && change.policyVersion !== found.policyVersion) return false;
    return found.expiresAt <= change.now === (change.to === "expired");
  }

  #apply(change: ApprovalChange): void {
    if (change.type === "open") {
      this.#open.set(openKeyOf(change), change.approval.id);
      this.#openKeys.set(change.approval.id, openKeyOf(change));
      return this.#put(change.approval);
    }
    const found = this.#approvals.get(change.id);
    if (!found) return;
    const input = isOpen({ state: change.to }) ? found.input : NO_INPUT;
    const { to: state, by: decidedBy, given, decider, until: expiresAt = found.expiresAt } = change;
    this.#put({ ...found, input, state, decidedBy, given, decider, expiresAt });
  }

  #put(approval: Approval): void {
    this.#approvals.set(approval.id, approval);
    if (isOpen(approval)) return;
    this.#open.delete(this.#openKeys.get(approval.id) ?? "");
    this.#openKeys.delete(approval.id);
    if (this.#approvals.size - this.#open.size > MOST_ENDED) this.#dropOldest();
  }

  #dropOldest(): void {
    for (const approval of this.#approvals.values()) {
      if (!isOpen(approval) && !isLastingNo(approval)) return void this.#approvals.delete(approval.id);
    }
  }
}

function isMeant(approval: Approval, { tenant, state, user, principal, idStart = "" }: ApprovalFilter): boolean {
  const has = (wanted: string | undefined, found: string) => wanted === undefined || wanted === found;
  const isOf = has(tenant, approval.tenant) && has(user, approval.user) && has(principal, approval.principal);
  const isAt = state === "open" ? isOpen(approval) : has(state, approval.state);
  return isOf && isAt && approval.id.startsWith(idStart);
}

function takingTurns(newest: readonly Approval[]): Approval[] {
  const seen = new Map<string, number>();
  const turns = newest.map((approval) => {
    const { tenant, user, principal } = approval;
    const caller = JSON.stringify([tenant, user, user === "" ? principal : ""]);
    const turn = seen.get(caller) ?? 0;
    seen.set(caller, turn + 1);
    return { approval, turn };
  });
  return turns.sort((one, other) => one.turn - other.turn).map(({ approval }) => approval);
}

/** A letter of two units is one character, as in the other stores. */
const PAIRS = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g;

function listed({ input, ...facts }: Approval): ListedApproval {
  const characters = input.length - (input.match(PAIRS)?.length ?? 0);
  const beginning = Array.from(input.slice(0, 2 * MAX_LISTED_INPUT))
    .slice(0, MAX_LISTED_INPUT)
    .join("");
  return { ...facts, beginning, characters };
}

function openKeyOf({ approval, openKey = approval.key }: ApprovalChange & { readonly type: "open" }): string {
  return openKey;
}
