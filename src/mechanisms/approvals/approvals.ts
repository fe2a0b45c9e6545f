/**
 * Calls that wait for somebody to say yes. One record, whoever asks and however the yes comes.
 *
 * Invariants:
 *  1. Of one caller, tool and params at most one approval is open; a repeat joins it.
 *  2. Each step is one change that must find the former state, together with its audit record: of two that race, one wins.
 *  3. What was denied is not asked for again while that holds: a repeat gets the same no, with whatever token the same caller
 *     comes, or one that it made, and whomever it says that the call is for.
 *  4. A call is made only by whoever brought its approval from approved to consumed, and after that is durable.
 */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import {
  type Approval,
  type ApprovalFilter,
  type ApprovalPage,
  type ApprovalRows,
  type ApprovalState,
  type AuditTrail,
  DEFAULT_TENANT,
  type Evidence,
  faultPoint,
  GatewayError,
  identityOf,
  isEnough,
  JsonFault,
  type ListedApproval,
  type Log,
  type Meter,
  type Payload,
  type Principal,
  refuseRepeatedKeys,
  stringOf,
  type Target,
  type Timers,
  type TokenRows,
  Turns,
} from "../../contract/index.ts";
import { type Actor, approvalEvent, GATEWAY, requester } from "./approval-events.ts";
import { ApprovalSweep } from "./approval-sweep.ts";
import { type CallDigests, digestsOf } from "./decided-text.ts";
import { isSameDefinition } from "./definition.ts";
import type { Gate } from "./gate.ts";
import { HeldCalls } from "./held-calls.ts";
import { ShownInputs } from "./shown-inputs.ts";
import type { ApprovalWatch } from "./watch.ts";

const MAX_INPUT = 256 * 1024;
/** Keys of its objects, and items of its lists: nobody reads more. */
const MAX_PARTS = 2_000;
/** How many calls of one caller may wait at once. */
const MAX_OPEN = 100;
/** And of a user with all tokens: each more of them may not be room for as many calls. */
const MAX_OPEN_OF_USER = 200;
/** And of a tenant with all its callers, so that it does not fill the list of whoever decides. The platform's own has no bound. */
const MAX_OPEN_OF_TENANT = 500;
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
  /** What decides about calls of a tenant to a server now: nobody else's policy, and no other server, ends what was decided for it. */
  readonly policyVersion: (tenant: string, server: string) => string;
  /** How long one stays open. */
  readonly ttlMs: () => number;
  /** How long a no holds for the same call. */
  readonly denialMs: () => number;
  /** Whether nothing that somebody says is worth anything now. */
  readonly isRevoked: (principal: Principal) => boolean;
  /** That the gateway has given out; unset: none. */
  readonly tokens?: Pick<TokenRows, "find"> | undefined;
};

export type ApprovalOrder = {
  readonly principal: Principal;
  readonly target: Target;
  /** The name that rules have for it. */
  readonly tool: string;
  /** The name that the caller used; unset: that one, or nobody knows. */
  readonly calledAs?: string | undefined;
  readonly input: Payload;
  readonly gate: Gate;
  /** Which of its callers a gateway before us makes the call for: only a call of the same one is the same call. */
  readonly requester?: string | undefined;
  /** What the tool says of itself now, as `definitionPrint` has it. */
  readonly definition: string;
};

/** Why approvals end that nobody has ended. */
export const DEFINITION_CHANGED = "definition changed";
const APPROVER_BLOCKED = "whoever approved it was blocked since";
export const POLICY_CHANGED = "policy changed";

export class Approvals {
  /** The calls that wait here. */
  readonly held = new HeldCalls();
  readonly inputs = new ShownInputs();
  readonly #options: ApprovalsOptions;
  readonly #sweep: ApprovalSweep;
  /** Those of one user (of one caller where no user is known), or of one tenant where that has a bound, are counted and opened one after another. */
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

  /** The approval that this call waits for: the one that is open for the same call, else a new one. Or the no to the same call. */
  async request(order: ApprovalOrder): Promise<Approval> {
    const asked = this.#describe(order);
    const openKey = openKeyOf(asked, order.requester);
    const { makers = [] } = identityOf(order.principal);
    const denied = await this.#options.rows.denied(asked.key, { ...asked, makers }, asked.createdAt);
    if (denied && isSameQuestion(denied, asked)) {
      const open = await this.#options.rows.find(openKey);
      // Somebody has said yes for one of the callers of a gateway, and no for another.
      return open?.state === "approved" && (await this.#isGoodFor(open, asked)) ? open : denied;
    }
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const found = await this.#options.rows.find(openKey);
      if (found && (await this.#isGoodFor(found, asked))) return found;
      if (found) await this.#end(found, await this.worthlessBecause(found, asked.definition));
      else if (await this.#openings.take(turnOf(asked), () => this.#open(asked, openKey, order.principal)))
        return asked;
    }
    throw new GatewayError("CONFLICT", { message: "The same call is asked for too often at once." });
  }

  get(id: string): Promise<Approval | undefined> {
    return this.#options.rows.get(id);
  }

  /** And how many there are in all. */
  async list(page: ApprovalPage): Promise<{ readonly found: readonly ListedApproval[]; readonly total: number }> {
    const { rows } = this.#options;
    const { limit, inTurns: _order, ...filter } = page;
    const found = await rows.list(page);
    return { found, total: found.length < limit ? found.length : await rows.count(filter) };
  }

  isOver({ expiresAt }: Pick<Approval, "expiresAt">): boolean {
    return expiresAt <= this.#options.now();
  }

  /**
   * Calls here that wait for the same yes try to use it one after another, each with the approval as it is then: whatever a call
   * takes before it uses the yes is taken for the one that is made.
   */
  inTurn<Result>({ id }: Approval, use: (present: Approval | undefined) => Promise<Result>): Promise<Result> {
    return this.#releases.take(id, async () => use(await this.get(id)));
  }

  /**
   * Why it lets nothing through, though its policy is the same and its time is not over; undefined: it may. `definition`: of the tool
   * now. Rejects with STATE_UNAVAILABLE: what nobody can look up lets nothing through.
   */
  async worthlessBecause({ definition: asked, decider }: Approval, definition: string): Promise<string | undefined> {
    if (!isSameDefinition(asked, definition)) return DEFINITION_CHANGED;
    if (decider === undefined) return undefined;
    const isOut = this.#options.isRevoked(decider) || !(await this.#hasGoodToken(decider));
    return isOut ? APPROVER_BLOCKED : undefined;
  }

  /** Lets the call be made, once. False: it was made, is over, or the policy has changed since it was asked for. */
  async consume(approval: Approval, callId: string): Promise<boolean> {
    const isMine = await this.move(approval, {
      to: "consumed",
      actor: requester(approval),
      by: approval.decidedBy,
      given: approval.given,
      details: { call: callId, approvedBy: approval.decidedBy },
      policyVersion: this.#options.policyVersion(approval.tenant, approval.server),
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
    const { to, actor, by, given = "none", decider, details, policyVersion } = step;
    const { id, state: from } = approval;
    const event = approvalEvent(approval, { ...EVENTS[to], actor, details: { given, ...details } });
    const now = this.#options.now();
    const until = to === "denied" ? { until: now + this.#options.denialMs() } : {};
    const version = policyVersion !== undefined && { policyVersion };
    const change = {
      table: "approval",
      type: "move",
      id,
      from,
      to,
      now,
      by,
      given,
      decider,
      ...version,
      ...until,
    } as const;
    if (!(await this.#options.trail.commit(event, [change]))) return false;
    this.#options.meter.count("isthmus_approvals_total", to);
    if (to !== "approved") this.inputs.forget(id);
    const { until: expiresAt = approval.expiresAt } = until;
    this.#options.watch.changed({ ...approval, state: to, decidedBy: by, given, decider, expiresAt });
    return true;
  }

  /** The no to this one is one to all that the same caller asks alike at this moment. */
  async denyAlike(denied: Approval, no: Pick<Step, "actor" | "by" | "given">): Promise<void> {
    const alike = await this.#options.rows.waiting(denied.key, { ...denied, makers: [] });
    for (const id of alike) {
      const approval = await this.get(id);
      if (approval?.state === "waiting" && isSameQuestion(approval, denied))
        await this.move(approval, { ...no, to: "denied", details: { as: denied.id } });
    }
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

  /** The block of a revoked token goes before a yes does: only the tokens that are there say which are good. */
  async #hasGoodToken(decider: Principal): Promise<boolean> {
    const { tokens, now } = this.#options;
    const { proof, tokenHash } = identityOf(decider);
    // Whoever is known by the operator's own token has none that was given out.
    if (!tokens || proof !== "token" || tokenHash === undefined) return true;
    const row = await tokens.find(tokenHash);
    return row !== undefined && (row.expiresAt === undefined || row.expiresAt > now());
  }

  async #isGoodFor(found: Approval, asked: Approval): Promise<boolean> {
    const { definition, evidence } = asked;
    const isWorthless = this.isOver(found) || (await this.worthlessBecause(found, definition)) !== undefined;
    // Whoever decides has read a name.
    const isSame = isSameQuestion(found, asked) && found.tool === asked.tool;
    return !isWorthless && isSame && isEnough(found.evidence, evidence);
  }

  /** A yes that was given under another policy is none any more. */
  async #endOutdated(id: string): Promise<void> {
    const present = await this.#options.rows.get(id);
    if (present?.state === "approved") await this.#end(present);
  }

  /** One that cannot be joined makes room for a new one. */
  async #end(found: Approval, why = POLICY_CHANGED): Promise<void> {
    await (this.isOver(found) ? this.expire(found) : this.revoke(found, why));
  }

  async #open(approval: Approval, openKey: string, by: Principal): Promise<boolean> {
    const { trail, meter } = this.#options;
    await this.#requirePlace(approval);
    // Whoever made the caller's token may approve what it asks for: who that is stands beside who does.
    const { makers } = identityOf(by);
    const made = makers && { details: { requesterMadeBy: makers } };
    const event = approvalEvent(approval, { ...EVENTS.waiting, actor: requester(approval), ...made });
    const isOpen = await trail.commit(event, [{ table: "approval", type: "open", approval, openKey }]);
    if (isOpen) meter.count("isthmus_approvals_total", "waiting");
    return isOpen;
  }

  /** Throws OVERLOADED. */
  async #requirePlace({ principal, user, tenant }: Approval): Promise<void> {
    const requireFewer = async (who: string, most: number, filter: ApprovalFilter) => {
      if ((await this.#options.rows.count({ tenant, state: "open", ...filter })) < most) return;
      throw new GatewayError("OVERLOADED", { message: `This ${who} has ${most} calls that wait for an approval.` });
    };
    await requireFewer("caller", MAX_OPEN, { principal });
    if (user !== "") await requireFewer("caller's user", MAX_OPEN_OF_USER, { user });
    if (tenant !== DEFAULT_TENANT) await requireFewer("caller's tenant", MAX_OPEN_OF_TENANT, {});
  }

  #describe({ principal, target, tool, calledAs = tool, input, gate, definition }: ApprovalOrder): Approval {
    const { tenant, user, client } = identityOf(principal);
    const { decided: digest, repeat } = requireReadable(target, input);
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
      calledAs: calledAs === tool ? "" : calledAs,
      digest,
      input: stringOf(input.text),
      key: hashOf([tenant, target.provider, target.kind, target.name, repeat]),
      definition,
      policyVersion: this.#options.policyVersion(tenant, target.provider),
      ...gate,
      nonce: randomBytes(16).toString("base64url"),
      createdAt,
      expiresAt: createdAt + this.#options.ttlMs(),
      state: "waiting",
      decidedBy: "",
      given: "none",
      decider: undefined,
    };
  }
}

export type Step = {
  readonly to: Exclude<ApprovalState, "waiting">;
  readonly actor: Actor;
  readonly by: string;
  readonly given?: Evidence;
  /** Unset: a signature, or nobody whose word it is. */
  readonly decider?: Principal | undefined;
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

function turnOf({ principal, user, tenant }: Approval): string {
  if (tenant !== DEFAULT_TENANT) return JSON.stringify([tenant]);
  return JSON.stringify(user === "" ? [tenant, "", principal] : [tenant, user]);
}

/** A yes is for one token; and whom a call is for is its caller's word alone: a yes is for no other one, and a no for all of them. */
function openKeyOf({ key, principal }: Approval, requester: string | undefined): string {
  return hashOf([key, principal, ...(requester === undefined ? [] : [requester])]);
}

function hashOf(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

/** Whether the same was asked: about the same tool, under the same policy. */
function isSameQuestion(one: Approval, other: Approval): boolean {
  return one.policyVersion === other.policyVersion && isSameDefinition(one.definition, other.definition);
}

/** Throws BAD_CALL for arguments that two readers could read differently, or that nobody could look through. */
function requireReadable(target: Target, input: Payload): CallDigests {
  // As long as the call is held, so is the message that it came in.
  if (Math.max(input.text.length, input.frame?.text.length ?? 0) > MAX_INPUT) {
    throw new GatewayError("BAD_CALL", { message: `A call that must be approved has at most ${MAX_INPUT} bytes.` });
  }
  try {
    refuseRepeatedKeys(input.text, MAX_PARTS, MAX_PARTS);
    return digestsOf(target, input);
  } catch (cause) {
    if (!(cause instanceof JsonFault)) throw cause;
    const bound =
      cause.reason === "members" ? `, and has at most ${MAX_PARTS} keys and ${MAX_PARTS} items in lists` : "";
    const message = `A call that must be approved is read${bound}: ${cause.message}.`;
    throw new GatewayError("BAD_CALL", { message, cause });
  }
}
