import { randomUUID } from "node:crypto";
import {
  type Approval,
  type ApprovalChange,
  type ApprovalFilter,
  type ApprovalRows,
  type ApprovalState,
  type Change,
  isOpen,
  NO_INPUT,
} from "../../contract/index.ts";

/** How many that are over can be looked up. */
const MOST_ENDED = 200;

/** Approvals of a gateway that keeps nothing: they end with its process. */
export class MemoryApprovals implements ApprovalRows {
  readonly #gateway = randomUUID();
  readonly #approvals = new Map<string, Approval>();
  readonly #open = new Map<string, string>();

  async get(id: string): Promise<Approval | undefined> {
    return this.#approvals.get(id);
  }

  async states(ids: readonly string[]): Promise<ReadonlyMap<string, ApprovalState>> {
    const found = ids.flatMap((id) => this.#approvals.get(id) ?? []);
    return new Map(found.map(({ id, state }) => [id, state]));
  }

  async find(key: string): Promise<Approval | undefined> {
    const id = this.#open.get(key);
    return id === undefined ? undefined : this.#approvals.get(id);
  }

  async list({ tenant, state, limit }: ApprovalFilter): Promise<readonly Approval[]> {
    const isMeant = (approval: Approval) =>
      (tenant === undefined || approval.tenant === tenant) && (state === undefined || approval.state === state);
    return [...this.#approvals.values()].filter(isMeant).reverse().slice(0, limit);
  }

  async count(principal: string): Promise<number> {
    return this.#opened().filter((approval) => approval.principal === principal).length;
  }

  async overdue(now: number, limit: number): Promise<readonly Approval[]> {
    return this.#opened()
      .filter(({ expiresAt }) => expiresAt <= now)
      .slice(0, limit);
  }

  async forget(before: number, most: number): Promise<void> {
    const ended = [...this.#approvals.values()].filter((approval) => !isOpen(approval));
    for (const [place, { id, expiresAt }] of ended.entries()) {
      if (expiresAt < before || place < ended.length - most) this.#approvals.delete(id);
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

  #opened(): Approval[] {
    return [...this.#open.values()].flatMap((id) => this.#approvals.get(id) ?? []);
  }

  #fits(change: ApprovalChange): boolean {
    if (change.type === "open") return !this.#open.has(change.approval.key);
    const found = this.#approvals.get(change.id);
    if (found?.state !== change.from) return false;
    if (change.policyVersion !== undefined && change.policyVersion !== found.policyVersion) return false;
    return found.expiresAt <= change.now === (change.to === "expired");
  }

  #apply(change: ApprovalChange): void {
    if (change.type === "open") return this.#put(change.approval);
    const found = this.#approvals.get(change.id);
    if (!found) return;
    const input = isOpen({ state: change.to }) ? found.input : NO_INPUT;
    this.#put({ ...found, input, state: change.to, decidedBy: change.by, given: change.given });
  }

  #put(approval: Approval): void {
    this.#approvals.set(approval.id, approval);
    if (isOpen(approval)) {
      this.#open.set(approval.key, approval.id);
      return;
    }
    this.#open.delete(approval.key);
    if (this.#approvals.size - this.#open.size > MOST_ENDED) this.#dropOldest();
  }

  #dropOldest(): void {
    for (const approval of this.#approvals.values()) {
      if (!isOpen(approval)) return void this.#approvals.delete(approval.id);
    }
  }
}
