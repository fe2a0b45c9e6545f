/**
 * Calls that wait for somebody to say yes. One record, whoever asks and however the yes comes.
 *
 * Invariants:
 *  1. Of one caller, tool and arguments at most one approval is open; a repeat joins it.
 *  2. Each step is one change that must find the former state, together with its audit record: of two that race, one wins.
 *  3. A call is made only by whoever brought its approval from approved to consumed, and after that is durable.
 */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import {
  type Approval,
  type ApprovalFilter,
  type ApprovalRows,
  type ApprovalState,
  type AuditTrail,
  digestJson,
  type Evidence,
  faultPoint,
  GatewayError,
  identityOf,
  isEnough,
  JsonFault,
  type Log,
  type Meter,
  type Payload,
  type Principal,
  refuseRepeatedKeys,
  stringOf,
  type Target,
  type Timers,
  Turns,
} from "../../contract/index.ts";
import { type Actor, approvalEvent, GATEWAY, requester } from "./approval-events.ts";
import { ApprovalSweep } from "./approval-sweep.ts";
import { decidedPart } from "./decided-text.ts";
import type { Gate } from "./gate.ts";
import { HeldCalls } from "./held-calls.ts";
import type { ApprovalWatch } from "./watch.ts";

const MAX_INPUT = 256 * 1024;
/** How many calls of one caller may wait at once. */
const MAX_OPEN = 100;
const ATTEMPTS = 3;

export type ApprovalsOptions = {
  readonly rows: ApprovalRows;
  readonly trail: AuditTrail;
  readonly watch: ApprovalWatch;
  readonly timers: Timers;
  readonly log: Log;
  readonly meter: Meter;
  /** Everybody's clock, in ms. */
  readonly now: () => number;
  /** What decides about calls now. */
  readonly policyVersion: () => string;
  /** How long one stays open. */
  readonly ttlMs: () => number;
};

export type ApprovalOrder = {
  readonly principal: Principal;
  readonly target: Target;
  /** The name that the caller used. */
  readonly tool: string;
  readonly input: Payload;
  readonly gate: Gate;
};

export class Approvals {
  /** The calls that wait here. */
  readonly held = new HeldCalls();
  readonly #options: ApprovalsOptions;
  readonly #sweep: ApprovalSweep;
  /** Those of one caller are counted and opened one after another. */
  readonly #openings = new Turns();
  readonly #releases = new Turns();

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    this.#sweep = new ApprovalSweep({ ...options, expire: (approval) => this.expire(approval) });
  }

  /** What is over is swept from now on. */
  open(): void {
    this.#sweep.start();
  }

  /** The approval that this call waits for: the one that is open for the same call, else a new one. */
  async request(order: ApprovalOrder): Promise<Approval> {
    const asked = this.#describe(order);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const found = await this.#options.rows.find(asked.key);
      if (found && this.#isGoodFor(found, asked)) return found;
      if (found) await this.#end(found);
      else if (await this.#openings.take(asked.principal, () => this.#open(asked))) return asked;
    }
    throw new GatewayError("CONFLICT", { message: "The same call is asked for too often at once." });
  }

  get(id: string): Promise<Approval | undefined> {
    return this.#options.rows.get(id);
  }

  list(filter: ApprovalFilter): Promise<readonly Approval[]> {
    return this.#options.rows.list(filter);
  }

  isOver({ expiresAt }: Approval): boolean {
    return expiresAt <= this.#options.now();
  }

  /**
   * Calls here that wait for the same yes try to use it one after another, each with the approval as it is then: whatever a call
   * takes before it uses the yes is taken for the one that is made.
   */
  inTurn<Result>({ id }: Approval, use: (present: Approval | undefined) => Promise<Result>): Promise<Result> {
    return this.#releases.take(id, async () => use(await this.get(id)));
  }

  /** Lets the call be made, once. False: it was made, is over, or the policy has changed since it was asked for. */
  async consume(approval: Approval, callId: string): Promise<boolean> {
    const isMine = await this.move(approval, {
      to: "consumed",
      actor: requester(approval),
      by: approval.decidedBy,
      given: approval.given,
      details: { call: callId, approvedBy: approval.decidedBy },
      policyVersion: this.#options.policyVersion(),
    });
    faultPoint("approvals.approval.consumed");
    if (!isMine) await this.#endOutdated(approval.id);
    return isMine;
  }

  /** The caller does not want it any more. Another one here that waits for the same keeps it open. */
  async withdraw(approval: Approval): Promise<void> {
    if (this.#options.watch.count(approval.id) > 0) return;
    const step = { to: "withdrawn", actor: requester(approval), by: approval.principal } as const;
    for (const state of ["waiting", "approved"] as const) {
      if (await this.move({ ...approval, state }, step)) return;
    }
  }

  /** False: it was not as `approval` says. */
  async move(approval: Approval, step: Step): Promise<boolean> {
    const { to, actor, by, given = "none", details, policyVersion } = step;
    const { id, state: from } = approval;
    const event = approvalEvent(approval, { ...EVENTS[to], actor, details: { given, ...details } });
    const now = this.#options.now();
    const change = { table: "approval", type: "move", id, from, to, now, by, given } as const;
    const isMoved = await this.#options.trail.commit(event, [
      policyVersion === undefined ? change : { ...change, policyVersion },
    ]);
    if (!isMoved) return false;
    this.#options.meter.count("isthmus_approvals_total", to);
    this.#options.watch.changed({ ...approval, state: to, decidedBy: by, given });
    return true;
  }

  /** Its time is over, and nobody has said so yet. */
  async expire(approval: Approval): Promise<void> {
    await this.move(approval, { to: "expired", actor: GATEWAY, by: GATEWAY.id });
  }

  /** It lets nothing through any more, whoever waits for it. */
  async revoke(approval: Approval, why: string): Promise<void> {
    await this.move(approval, { to: "withdrawn", actor: GATEWAY, by: GATEWAY.id, details: { why } });
  }

  close(): void {
    this.#sweep.close();
  }

  #isGoodFor(found: Approval, asked: Approval): boolean {
    const isStrict = isEnough(found.evidence, asked.evidence);
    return !this.isOver(found) && found.policyVersion === asked.policyVersion && isStrict;
  }

  /** A yes that was given under another policy is none any more. */
  async #endOutdated(id: string): Promise<void> {
    const present = await this.#options.rows.get(id);
    if (present?.state === "approved") await this.#end(present);
  }

  /** One that cannot be joined makes room for a new one. */
  async #end(found: Approval): Promise<void> {
    await (this.isOver(found) ? this.expire(found) : this.revoke(found, "policy changed"));
  }

  async #open(approval: Approval): Promise<boolean> {
    const { rows, trail, meter } = this.#options;
    if ((await rows.count(approval.principal)) >= MAX_OPEN) {
      const message = `This caller has ${MAX_OPEN} calls that wait for an approval.`;
      throw new GatewayError("OVERLOADED", { message });
    }
    const event = approvalEvent(approval, { ...EVENTS.waiting, actor: requester(approval) });
    const isOpen = await trail.commit(event, [{ table: "approval", type: "open", approval }]);
    if (isOpen) meter.count("isthmus_approvals_total", "waiting");
    return isOpen;
  }

  #describe({ principal, target, tool, input, gate }: ApprovalOrder): Approval {
    const { tenant, user, client } = identityOf(principal);
    const digest = digestOf(target, input);
    const rest = digestJson(input.splice(["arguments"]).splice(["_meta"]).text);
    const same = JSON.stringify([tenant, principal.id, target.provider, target.kind, target.name, digest, rest]);
    const createdAt = this.#options.now();
    return {
      id: randomUUID(),
      tenant,
      principal: principal.id,
      user,
      client,
      server: target.provider,
      name: target.name,
      tool,
      digest,
      input: stringOf(input.text),
      key: createHash("sha256").update(same).digest("base64url"),
      policyVersion: this.#options.policyVersion(),
      ...gate,
      nonce: randomBytes(16).toString("base64url"),
      createdAt,
      expiresAt: createdAt + this.#options.ttlMs(),
      state: "waiting",
      decidedBy: "",
      given: "none",
    };
  }
}

export type Step = {
  readonly to: Exclude<ApprovalState, "waiting">;
  readonly actor: Actor;
  readonly by: string;
  readonly given?: Evidence;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly policyVersion?: string;
};

const EVENTS = {
  waiting: { type: "dev.isthmus.approval.requested", result: "PENDING" },
  approved: { type: "PERMISSION_GRANTED", result: "SUCCESS" },
  denied: { type: "PERMISSION_DENIED", result: "DENIED" },
  expired: { type: "dev.isthmus.approval.expired", result: "DENIED" },
  withdrawn: { type: "dev.isthmus.approval.withdrawn", result: "DENIED" },
  consumed: { type: "dev.isthmus.approval.consumed", result: "SUCCESS" },
} as const satisfies Record<ApprovalState, object>;

/** Throws BAD_CALL for arguments that two readers could read differently, or that nobody could look through. */
function digestOf(target: Target, input: Payload): string {
  if (input.text.length > MAX_INPUT) {
    throw new GatewayError("BAD_CALL", { message: `A call that must be approved has at most ${MAX_INPUT} bytes.` });
  }
  try {
    refuseRepeatedKeys(input.text);
    return digestJson(decidedPart(target, input));
  } catch (cause) {
    if (!(cause instanceof JsonFault)) throw cause;
    throw new GatewayError("BAD_CALL", { message: `A call that must be approved is read: ${cause.message}.`, cause });
  }
}
