/**
 * Who calls, what they may, how much, and who said yes: every mechanism of it, put together. Each has a file beside this one
 * that makes it of its part of the config; what one needs of another is in `GovernancePorts`.
 */
import type {
  Access,
  AuditTrail,
  Blocks,
  Call,
  GatewayError,
  HttpRequest,
  LostAnswer,
  NoteRefusal,
  Operation,
  Principal,
  ResultReading,
  ReturnRefusal,
  TrailFeed,
} from "../../contract/index.ts";
import type { StageFactory } from "../../kernel/index.ts";
import {
  isBlockedNow,
  LivePolicy,
  MemoryPolicy,
  type NameOfNothing,
  namedByPlatform,
} from "../../mechanisms/access/index.ts";
import { LocalOperator, operatorOperations } from "../../mechanisms/identity/index.ts";
import { taskStage } from "../../stages/index.ts";
import { MemoryCounters } from "../../stores/memory/index.ts";
import { isAuthOn } from "../config/auth-config.ts";
import { beginsToKeep, type Config } from "../config/index.ts";
import type { Ports } from "../extensions.ts";
import { OnDemand } from "../on-demand.ts";
import type { GatewayState } from "../state/index.ts";
import { createAccess, type GovernedAccess, type OpenOptions } from "./access.ts";
import { AddedByOperators } from "./added-by-operators.ts";
import { createApprovals, type GovernedApprovals } from "./approvals.ts";
import { createAudit } from "./audit.ts";
import type { CalledAs } from "./called-as.ts";
import { createIdentity, type IdentityParts } from "./identity.ts";
import { createLimits, type GovernedLimits } from "./limits.ts";
import type { LiveParts } from "./live-parts.ts";
import { noteLost } from "./lost-answers.ts";
import { createOwnOperations } from "./operations.ts";
import { noteReadings } from "./result-readings.ts";
import { createRevocation } from "./revocation.ts";
import { joinFeeds, toldTrail } from "./told-trail.ts";
import { createVault, type GovernedVault } from "./vault.ts";

export type GovernancePorts = Ports & {
  readonly config: Config;
  /** Where it is kept; unset: in memory, until the process ends. */
  readonly state?: GatewayState | undefined;
  /** What the stages are chosen by has changed. */
  readonly onChange: () => void;
  /** Callers may reach something else than before. */
  readonly onReach: () => void;
  /** What lives in this process; nothing of it is used before `open`. */
  readonly live: LiveParts;
  /** Whether the gateway itself tells servers in which trace a call is. */
  readonly isTraced?: boolean;
  /** By which whoever runs the gateway is known, where nobody is asked who they are. */
  readonly operatorToken?: string | undefined;
  /** How people call the program; unset: as one that is installed. */
  readonly calledAs?: CalledAs | undefined;
};

/** Finds out who sends a request. Rejects, or throws, with NOT_AUTHENTICATED. */
export interface Authenticator {
  authenticate(request: HttpRequest): Principal | Promise<Principal>;
  /** The lines of an answer that says how to authenticate: status 401, or 403 for a scope that is missing. */
  challenge(request: HttpRequest, error: unknown): string;
  /** The same for a call that was refused; "" where another token would not help. */
  stepUp(request: HttpRequest, error: GatewayError): string;
  /** What clients are told about an endpoint before they are known, by RFC 9728; undefined: nobody gives out tokens by OAuth. */
  metadata(request: HttpRequest, path: string): object | undefined;
  /** For whoever looks for an authorization server at the gateway: where tokens are to be had. */
  readonly tokenAdvice: string;
}

/** Knows who brings a token in a form. Rejects with NOT_AUTHENTICATED, NOT_ALLOWED or STATE_UNAVAILABLE. */
interface TokenForms {
  signIn(request: HttpRequest, token: string): Promise<Principal>;
}

export type Governance = {
  /** Unset: everybody who can connect is the local user. */
  readonly authenticator?: Authenticator & TokenForms;
  /** Whoever runs a gateway that asks nobody who they are; unset: they have no word to be known by. */
  readonly operator?: LocalOperator & TokenForms;
  /** Unset: everybody may see everything. */
  readonly access?: Access;
  /** Why a call that was let in may not be sent any more, or not without a yes that it has not used; undefined: it may. */
  readonly refusal: (call: Call) => GatewayError | undefined;
  readonly audit?: AuditTrail;
  /** Who may not any more; asked before any other rule. */
  readonly blocks: Blocks;
  readonly approvals: GovernedApprovals;
  readonly limits: GovernedLimits;
  readonly vault: GovernedVault;
  /** Before the ledger: audit, authorize, task. */
  readonly judging: readonly StageFactory[];
  /** After it: limit, approve. */
  readonly releasing: readonly StageFactory[];
  /** What is done to all of this over HTTP: loaded when it is first asked for, and made once. */
  operations(): Promise<readonly Operation[]>;
  /** Whether callers are known, and none of them may use anything. */
  grantsNothing(): boolean;
  /** What policy and limits say about names that nothing has. */
  misnamed(): readonly NameOfNothing[];
  /** What is on the trail, as soon as it is kept there. */
  readonly kept: TrailFeed;
  /** A message was turned away before it became a call. */
  readonly refused: NoteRefusal;
  /** Another config is in force. */
  apply(config: Config): void;
  /** A server was reached, or lost. */
  serverChanged(id: string, isReached: boolean, status: string): void;
  readonly callLost: (lost: LostAnswer) => void;
  readonly resultRead: (reading: ResultReading) => void;
  readonly returnRefusal: ReturnRefusal;
  /** The config is followed from now on: what operators have added to it is taken over. */
  followed(): void;
  open(options?: OpenOptions): Promise<void>;
  close(): Promise<void>;
};

export function createGovernance(ports: GovernancePorts): Governance {
  const { config, state, live, log } = ports;
  const memory = new MemoryPolicy();
  const audit = createAudit({ ...ports, write: (changes) => memory.write(changes) });
  const told = toldTrail(audit.trail);
  const trail = () => told.trail;
  const policy = new LivePolicy({ ...ports, rows: state?.records.policy ?? memory, channel: state?.shared.channel });
  const revocation = createRevocation({
    ...ports,
    trail,
    policy,
    revokers: () => [vault],
    accessParts: () => access.operationParts(),
    isBlockedCall: (call) => isBlockedNow(access.access, call),
    onChange() {
      identity.authenticator?.doubtAll();
      ports.onReach();
    },
  });
  const identity: IdentityParts = createIdentity({
    ...ports,
    audit: told.trail,
    blocks: revocation.blocks,
    namedByPlatform: (one) => namedByPlatform(access.access.policy, one),
    onProven: (principal, token) => vault.onProven(principal, token),
  });
  const { operatorToken } = ports;
  const isAmongOthers = identity.authenticator !== undefined;
  const operator =
    operatorToken !== undefined
      ? new LocalOperator({
          token: operatorToken,
          audit: told.trail,
          clock: ports.clock,
          log,
          now: Date.now,
          isAmongOthers,
        })
      : undefined;
  const vault: GovernedVault = createVault({
    ...ports,
    audit: told.trail,
    blocks: revocation.blocks,
    bearerOf: (hash) => identity.bearerOf(hash),
  });
  const added = new AddedByOperators(policy, live, log);
  const access: GovernedAccess = createAccess({
    ...ports,
    policy,
    trail,
    blocks: () => revocation.blocks,
    gateOf: (target) => approvals.gateOf(target),
    missingYes: (call, confirm) => approvals.missingYes(call, confirm),
    otherUses: () => [...limits.uses(), ...audit.uses()],
  });
  const own = createOwnOperations({
    ...ports,
    trail,
    feed: joinFeeds(told.feed, audit.calls),
    added,
    grantsNothing: access.grantsNothing,
    kept: () => (state ? "stores" : beginsToKeep(config, live.config()) ? "restart" : "memory"),
    knowsCallers: access.knowsCallers,
  });
  const approvals: GovernedApprovals = createApprovals({
    ...ports,
    audit: told.trail,
    policyVersion: (tenant) => access.version(tenant),
    hasRules: () => access.hasRules(),
    refusal: (call) => access.denial(call),
    isRevoked: (principal) => revocation.blocks.isRevoked(principal) !== undefined,
    charges: () => limits.held,
    offered: live.find,
    hasLocalOperator: operator !== undefined,
    ruleEvidence: () => access.ruleEvidence(),
  });
  const limits: GovernedLimits = createLimits({
    ...ports,
    policy,
    trail,
    member: live.member,
    accessParts: access.operationParts,
    isHeld: (call) => approvals.isHeld(call),
  });
  const asks = isAmongOthers && !config.auth.local;
  const aboutTasks = taskStage({
    counters: new MemoryCounters({ clock: ports.clock, isAlive: () => true }),
    trail: told.trail,
    hasPlain: config.audit.plain === "all",
  });
  const proving = { operations: async () => operatorOperations(operator, asks) };
  const operated = [own, proving, identity, revocation, approvals, limits, access, audit];
  const operations = new OnDemand(async () => (await Promise.all(operated.map((one) => one.operations()))).flat());
  return {
    ...(identity.authenticator && { authenticator: identity.authenticator }),
    ...(operator && { operator }),
    audit: told.trail,
    access: access.access,
    refusal: access.refusal,
    approvals,
    blocks: revocation.blocks,
    judging: [
      audit.around([access.stage, limits.stage, approvals.stage, () => limits.ledger]),
      access.stage,
      ({ target }) => (target.kind === "operation" ? aboutTasks : undefined),
    ],
    limits,
    vault,
    releasing: [limits.stage, approvals.stage],
    operations: () => operations.get(),
    grantsNothing: access.grantsNothing,
    misnamed: () => access.misnamed(),
    kept: audit.kept,
    refused: audit.refused,
    serverChanged(id, isReached, status) {
      audit.serverChanged(id, isReached, status);
      if (isReached) access.checkNames();
    },
    callLost: noteLost(told.trail, config.audit),
    returnRefusal: access.returnRefusal,
    resultRead: noteReadings(told.trail, ports.clock, config.audit),
    apply(next) {
      audit.apply(next);
      revocation.apply(next);
      vault.apply(next);
      limits.apply(next);
      access.apply(next);
      access.checkNames();
      if (approvals.apply(next)) ports.onChange();
    },
    followed: () => void added.takeOver(),
    async open(options) {
      identity.open();
      await audit.open();
      // Nobody is served by another policy than the one that was set, not even for a moment.
      await policy.open();
      access.open(options);
      approvals.open();
      const opening = Promise.all([revocation.open(), own.open(), limits.open(), vault.open()]);
      // Where nobody is asked who they are, a start need not wait for what only callers of others can be kept from.
      if (isAuthOn(config.auth) || state?.clusterKey !== undefined) await opening;
      else opening.catch((cause: unknown) => log.error("what operators have set could not be read", { cause }));
    },
    async close() {
      identity.close();
      access.close();
      await Promise.all([
        own.close(),
        revocation.close(),
        approvals.close(),
        limits.close(),
        vault.close(),
        policy.close(),
      ]);
      await audit.close();
    },
  };
}
