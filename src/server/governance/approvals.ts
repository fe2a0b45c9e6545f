/** Approvals, made of `[gate]`: where they are kept, whose yes counts, and which calls wait. */
import { createHash } from "node:crypto";
import type {
  Approval,
  AuditTrail,
  Call,
  Confirmations,
  Evidence,
  GatewayError,
  HeldCharges,
  IsHeld,
  Offer,
  Operation,
  Primitive,
  Principal,
  Steps,
  Target,
} from "../../contract/index.ts";
import { untracked } from "../../contract/index.ts";
import type { TokenCommands } from "../../fronts/approvals/index.ts";
import type { StageFactory } from "../../kernel/index.ts";
import {
  Anchors,
  ApprovalDesk,
  Approvals,
  ApprovalWatch,
  confirmUrl,
  Decider,
  type FindOffered,
  flagSafety,
  type Gate,
  type GateFacts,
  missingApprovers,
  safetyOf,
} from "../../mechanisms/approvals/index.ts";
import { plainTarget } from "../../mechanisms/audit/index.ts";
import { approveStage, gateBefore, type MissingYes, missingYes } from "../../stages/index.ts";
import { MemoryApprovals } from "../../stores/memory/index.ts";
import { type GateConfig, hasApprovers } from "../config/gate-config.ts";
import type { Config, ListenAddress } from "../config/index.ts";
import { FileFault, readBounded } from "../config/read-bounded.ts";
import { Secret } from "../config/secret.ts";
import type { Ports } from "../extensions.ts";
import type { GatewayState } from "../state/index.ts";
import { type CalledAs, urlToType } from "./called-as.ts";
import { dottedName } from "./dotted-name.ts";
import { ServerPlaces } from "./server-places.ts";
import { baseUrl } from "./vault-settings.ts";

const MAX_KEY_BYTES = 16 * 1024;
const EVERY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "::", "[::]", "*"]);

export type ApprovalPorts = Ports & {
  readonly config: Config;
  readonly state?: GatewayState | undefined;
  readonly audit?: AuditTrail | undefined;
  /** Which version of what operators have set decides about callers of a tenant now. */
  readonly policyVersion?: (tenant: string) => string;
  /** Whether nothing that somebody says is worth anything now. */
  readonly isRevoked: (principal: Principal) => boolean;
  /** What calls take that are made, for those that waited. */
  readonly charges?: () => HeldCharges | undefined;
  /** Why a call that was let in may not be made any more. */
  readonly refusal: (call: Call) => GatewayError | undefined;
  readonly isTraced?: boolean | undefined;
  readonly offered: FindOffered;
  /** Whether whoever runs the gateway can show that they do, where nobody is asked who they are. */
  readonly hasLocalOperator?: boolean;
  /** How people call the program; unset: as one that is installed. */
  readonly calledAs?: CalledAs | undefined;
  /** What rules want that say `confirm`. */
  readonly ruleEvidence?: () => readonly Evidence[];
  /** Whether access may say `confirm`: then every call may have to wait. */
  readonly hasRules: () => boolean;
};

export type GovernedApprovals = {
  readonly isHeld: IsHeld;
  readonly stage: StageFactory;
  /** What calls of this wait for, by what it says of itself; undefined: for nothing, or it is not offered now. */
  gateOf(target: Target): Gate | undefined;
  /** Of a call that came in before: whether it needs a yes by now that it has not used. */
  readonly missingYes: MissingYes;
  operations(): Promise<readonly Operation[]>;
  readonly confirmations: Confirmations;
  readonly desk: ApprovalDesk;
  /** What people type to see a token that the pages take. */
  tokenCommands(): TokenCommands;
  /** People reach the pages here, unless a setting says otherwise. */
  listensOn(address: ListenAddress): void;
  /** The offers as clients are shown them. `screen`: whoever else looks at them. */
  flag(
    offers: readonly Offer[],
    screen: (offers: readonly Offer[]) => Steps<readonly Offer[]>,
  ): Steps<readonly Offer[]>;
  /** Whether lists and pipelines must be made anew. */
  apply(config: Config): boolean;
  open(): void;
  /** The process is about to stop: callers that wait are told to come back. */
  leave(): void;
  close(): Promise<void>;
};

/** Calls of methods that nobody here knows: in strict mode they are not let through by being unknown. */
const UNKNOWN_METHOD: Omit<Gate, "evidence"> = { reason: "undeclared", capability: "{}" };

export function createApprovals(ports: ApprovalPorts): GovernedApprovals {
  const { clock, timers, log, meter, state } = ports;
  const program = ports.calledAs?.program ?? "isthmus";
  let { config } = ports;
  let { gate } = config;
  let listen: ListenAddress | undefined;
  let anchors = anchorsOf(gate);
  let gateVersion = versionOf(gate);
  let anchorsVersion = digestOf(gate.anchors);
  const rows = state?.records.approvals ?? new MemoryApprovals();
  const places = new ServerPlaces(config);
  const trail = trailOf();
  const now = Date.now;
  // Alone with its stores, a process knows of every decision by itself.
  const channel = state?.clusterKey === undefined ? undefined : state.shared.channel;
  const watch = new ApprovalWatch({ rows, channel, timers, log });
  const approvals = new Approvals({
    rows,
    trail,
    watch,
    timers,
    log,
    meter,
    now,
    policyVersion: (tenant, server) => `${ports.policyVersion?.(tenant) ?? 0}.${gateVersion}.${places.of(server)}`,
    ttlMs: () => gate.expiryMs,
    denialMs: () => gate.denialMs,
    isRevoked: ports.isRevoked,
    tokens: state?.records.tokens,
  });
  const gateway = () => rows.gateway();
  const decider = new Decider({
    approvals,
    watch,
    trail,
    meter,
    anchors: () => anchors,
    gateway,
    offered: ports.offered,
    now,
  });
  const facts = async (): Promise<GateFacts> => ({
    gateway: await gateway(),
    proofTypes: anchors.types,
    now: now(),
    pages: pages(),
    isAlone: isAlone(),
    connectionOf: (id) => watch.connection(id),
    canBeSaid,
    commandFor,
  });
  const charged = ports.charges && { charges: ports.charges };
  const options = {
    approvals,
    decider,
    watch,
    clock,
    timers,
    now,
    holdMs: () => gate.holdMs,
    asksForVisits: () => gate.ask === "url",
    facts,
    onWait: tellWaiting,
    refusal: ports.refusal,
    offered: ports.offered,
    groundsOf: (server: string) => `${anchorsVersion}.${places.of(server)}`,
    dottedOf: (target: Target) => dottedName(config, target),
    isTraced: ports.isTraced,
    ...charged,
  };
  /** The gates of those entries that have one of their own, by their targets. */
  const gated = new WeakMap<Target, Gate>();
  /** For tools that declare nothing: one for all of them, so that they share their pipelines. */
  const byRules = approveStage(options, undefined, undefined);
  /** What was found about those that calls of which had to wait in line: a definition may be long. */
  let foundAgain = new WeakMap<Primitive, { readonly gate: Gate | undefined }>();
  let hasWarned = false;

  function anchorsOf({ anchors: configured }: GateConfig): Anchors {
    return new Anchors({ anchors: configured, log, read: readKey });
  }

  /** Without a socket there is no page, and behind an address that stands for all of them nobody knows its name. */
  function pages(): string | undefined {
    const isNamed = config.vault.publicUrl !== undefined || config.auth.resource !== undefined;
    return listen && (isNamed || !EVERY_ADDRESS.has(listen.host)) ? baseUrl(config, listen) : undefined;
  }

  /** Without a socket a client has this process to itself; only processes that share a store hear of each other's decisions. */
  function isAlone(): boolean {
    return listen === undefined && channel === undefined;
  }

  /** As the terminal of this gateway says it, which is told `url` with the call. */
  function commandFor(verb: string): string {
    const url = urlToType(ports.calledAs, config.gateway, listen);
    return `${program} ${verb}${url === undefined ? "" : ` --url ${url}`}`;
  }

  /** In memory nothing can be written together with anything else: the record follows. */
  function trailOf(): AuditTrail {
    const { audit } = ports;
    if (state) return audit ?? untracked((changes) => state.records.write(changes));
    const write = (changes: Parameters<MemoryApprovals["write"]>[0]) => (rows as MemoryApprovals).write(changes);
    return {
      note: (event) => audit?.note(event),
      async commit(event, changes) {
        const isWritten = await write(changes);
        if (isWritten) audit?.note(event);
        return isWritten;
      },
    };
  }

  /** Said once for each config: these calls end in nothing. */
  function warnAbout(offers: readonly Offer[]): void {
    if (hasWarned) return;
    const isGated = ({ definition }: Primitive) => definition.at(["_meta", "x-mcpax-gated"]) === "true";
    const isMute = !canBeSaid(gate.evidence);
    const tool = isMute && offers.flatMap(({ kind, primitives }) => (kind === "tool" ? primitives : [])).find(isGated);
    if (!tool && (ports.ruleEvidence?.() ?? []).every(canBeSaid)) return;
    hasWarned = true;
    const what = tool ? { tool: tool.name } : { rules: "access" };
    log.warn("nobody can approve", { ...what, evidence: gate.evidence, anchors: gate.anchors.length });
  }

  /** Who reads the log elsewhere than at the terminal of the gateway is not told the link: it opens the page. */
  function tellWaiting({ id, target }: Call, approval: Approval): void {
    const url = confirmUrl(approval, { pages: pages() });
    log.info("call waits for a yes", {
      callId: id,
      target: `${target.provider}/${plainTarget(target)}`,
      approval: approval.id,
      page: url === undefined ? undefined : new Secret(url),
      missing: missing(approval),
      url: urlToType(ports.calledAs, config.gateway, listen),
    });
  }

  /** No setting gives a client that has us to itself an operator to ask: it must reach another gateway, as it is told, too. */
  function missing(approval: Approval): string | undefined {
    const isElsewhere = isAlone() && approval.evidence === "operator" && !canBeSaid(approval.evidence);
    if (!isElsewhere) return missingApprovers(approval, { canBeSaid });
    const [up, connect] = [commandFor("up"), commandFor("import CLIENT --connect url")];
    return `start "${up}" and connect to that one ("${connect}"), or change [gate] in the config`;
  }

  function canBeSaid(evidence: Evidence): boolean {
    const isMute = isAlone() && gate.anchors.length === 0 && evidence === "operator";
    return !isMute && hasApprovers(config, evidence, ports.hasLocalOperator ?? false);
  }

  function gateOf({ kind, definition }: Primitive): Gate | undefined {
    if (kind === "tool") return safetyOf(definition, gate).gate;
    return kind === "operation" ? unknownGate() : undefined;
  }

  /** What calls wait for now of what this one is for; what is not offered at the moment declares what it did when the call came. */
  function presentGate({ target, session }: Call): Gate | undefined {
    if (target.kind !== "tool" && target.kind !== "operation") return undefined;
    const primitive = ports.offered(target, session)?.primitive;
    if (!primitive) return target.kind === "operation" ? unknownGate() : gated.get(target);
    let found = foundAgain.get(primitive);
    if (!found) {
      found = { gate: gateOf(primitive) };
      foundAgain.set(primitive, found);
    }
    return found.gate;
  }

  function unknownGate(): Gate | undefined {
    return gate.mode === "strict" ? { ...UNKNOWN_METHOD, evidence: gate.evidence } : undefined;
  }

  return {
    stage({ name, target, primitive }) {
      const found = gateOf(primitive);
      if (!found) {
        gated.delete(target);
        return ports.hasRules() ? byRules : undefined;
      }
      gated.set(target, found);
      return approveStage(options, primitive.kind === "tool" ? name : undefined, found);
    },
    gateOf(target) {
      const found = ports.offered(target);
      const gate = found && gateOf(found.primitive);
      return gate?.evidence === "none" ? undefined : gate;
    },
    missingYes: (call, confirm) =>
      missingYes(call, { tool: dottedName(config, call.target), gate: presentGate(call), confirm }),
    isHeld: (call) => gateBefore(call, gated.get(call.target)) !== undefined,
    async operations() {
      const { approvalOperations } = await import("../../mechanisms/approvals/approval-operations.ts");
      return approvalOperations({ approvals, decider, facts });
    },
    confirmations: decider,
    desk: new ApprovalDesk({ approvals, decider, facts, pages }),
    tokenCommands: () => ({
      // It lies in a file, and is printed without a gateway.
      ...(ports.hasLocalOperator && { own: `${program} operator token` }),
      ...(config.auth.tokens && { others: commandFor("token create --user NAME --role operator") }),
    }),
    listensOn(address) {
      listen = address;
    },
    *flag(offers, screen) {
      const flagged = yield* flagSafety(offers, gate, screen);
      warnAbout(flagged);
      return flagged;
    },
    apply(next) {
      const version = versionOf(next.gate);
      const isOther = version !== gateVersion;
      config = next;
      gate = next.gate;
      places.apply(next);
      hasWarned = false;
      if (isOther) {
        anchors = anchorsOf(gate);
        gateVersion = version;
        anchorsVersion = digestOf(gate.anchors);
        foundAgain = new WeakMap();
      }
      return isOther;
    },
    open: () => approvals.open(),
    leave: () => watch.leave(),
    async close() {
      approvals.close();
      await watch.close();
    },
  };
}

/** Approvals that were asked for under other rules are worth nothing: this tells them apart, also after a restart. */
function versionOf({ mode, evidence, anchors }: GateConfig): string {
  return digestOf([mode, evidence, anchors]);
}

function digestOf(settings: unknown): string {
  return createHash("sha256").update(JSON.stringify(settings)).digest("base64url").slice(0, 16);
}

function readKey(file: string): string | undefined {
  try {
    return readBounded(file, MAX_KEY_BYTES).toString("utf8");
  } catch (error) {
    if (error instanceof FileFault) return undefined;
    throw error;
  }
}
