/** Who may see and call what, made of `[access]` and of what operators have set while the gateway runs. */
import { createHash } from "node:crypto";
import {
  type AuditTrail,
  type Blocks,
  type Call,
  decodeString,
  type GatewayError,
  identityOf,
  joinName,
  type Operation,
  type PolicyEntry,
  type Target,
} from "../../contract/index.ts";
import type { StageFactory } from "../../kernel/index.ts";
import {
  type AccessPolicy,
  ANY,
  accessRows,
  compileCondition,
  type InForce,
  joinPolicy,
  LiveAccess,
  type LivePolicy,
  type OfferedPrimitive,
  type Refusal,
  rowsThatHold,
} from "../../mechanisms/access/index.ts";
import { authorizeStage, presentRefusal } from "../../stages/index.ts";
import { isAuthOn } from "../config/auth-config.ts";
import type { Config } from "../config/index.ts";
import type { Ports } from "../extensions.ts";
import type { LiveParts } from "./live-parts.ts";

export type AccessPorts = Ports & {
  readonly config: Config;
  readonly policy: LivePolicy;
  readonly trail: () => AuditTrail;
  readonly blocks: () => Blocks | undefined;
  readonly live: Pick<LiveParts, "offered">;
  /** Callers may reach something else than before. */
  readonly onReach: () => void;
};

export type GovernedAccess = {
  readonly access: LiveAccess;
  readonly stage: StageFactory;
  /** What the stage would say now of a call that it has let in: undefined, or why it is refused. */
  readonly refusal: (call: Call) => GatewayError | undefined;
  operations(): Promise<readonly Operation[]>;
  /** Whether a rule may want somebody's yes. */
  readonly hasRules: () => boolean;
  /** Stands for everything that is decided by. */
  readonly version: () => string;
  apply(config: Config): void;
  /** After the policy was read. Throws where one of its rows cannot be: nobody is served by a part of it. */
  open(): void;
  close(): void;
};

export function createAccess(ports: AccessPorts): GovernedAccess {
  const { policy, trail, log, timers } = ports;
  let config = ports.config;
  let declared = declaredPolicy(config);
  let digest = digestOf(config);
  /** What of the store is in force, and why that is not all of it. */
  let held: readonly PolicyEntry[] = [];
  let fault: unknown;
  const dottedOf = (target: Target) => dottedName(config, target);
  const access = new LiveAccess(
    { timers, now: Date.now, dottedOf, blocks: ports.blocks, onChange: ports.onReach, onRefused: refused },
    inForce(held),
  );
  const judging = { judge: (call: Call) => access.judge(call), conceals: () => config.access.conceal };
  const stage = authorizeStage(judging);
  policy.onChange(takeOver);

  /** Throws where a row cannot be read. */
  function inForce(rows: readonly PolicyEntry[]): InForce {
    return {
      policy: joinPolicy(declared, rows),
      version: `${policy.version}.${digest}`,
      conceals: config.access.conceal,
    };
  }

  function takeOver(): void {
    const rows = accessRows((kind) => policy.entries(kind));
    access.use(readable(rows));
  }

  /** Nobody may do more because of what cannot be read. */
  function readable(rows: readonly PolicyEntry[]): InForce {
    try {
      const next = inForce(rows);
      [held, fault] = [rows, undefined];
      return next;
    } catch (cause) {
      [held, fault] = [rowsThatHold(rows, held), cause];
      log.error("a row of the policy cannot be read: until it can, nothing more is allowed to anybody", { cause });
      return inForce(held);
    }
  }

  /** A call that was never made, because its caller was told that there is no such thing. */
  function refused({ principal, target, decision, protocol }: Refusal): void {
    const { source, reason } = decision;
    const { tenant, user, client } = identityOf(principal);
    trail().note({
      type: "TOOL_BLOCKED",
      tenant,
      actor: { type: "agent", id: principal.id },
      target: { server: target.provider, name: target.name },
      result: "DENIED",
      details: { user, client, kind: target.kind, protocol, source, reason, concealed: true },
    });
  }

  function primitives(): readonly OfferedPrimitive[] {
    return ports.live.offered().flatMap(({ target, primitive }) => {
      const { provider: server, kind, name } = target;
      if (kind === "agent" || kind === "operation") return [];
      const title = decodeString(primitive.definition.at(["title"]));
      return [{ server, kind, name, dotted: dottedOf(target), title }];
    });
  }

  function targetOf(dotted: string): { readonly server: string; readonly name: string } | undefined {
    const isOf = ({ segment }: { readonly segment: string }) => segment !== "" && dotted.startsWith(`${segment}.`);
    const server = config.servers.find(isOf) ?? config.servers.find(({ segment }) => segment === "");
    return (
      server && { server: server.id, name: server.segment === "" ? dotted : dotted.slice(server.segment.length + 1) }
    );
  }

  const hasBlocks = () => (ports.blocks()?.size ?? 0) > 0;

  return {
    access,
    stage: () => (access.isRestrictive || isAuthOn(config.auth) || hasBlocks() ? stage : undefined),
    refusal: (call) => presentRefusal(judging, call),
    async operations() {
      const { accessOperations } = await import("../../mechanisms/access/operations/index.ts");
      return accessOperations({ access, policy, trail, now: Date.now, dottedOf, targetOf, primitives });
    },
    hasRules: () => access.policy.rules.some(({ effect }) => effect === "confirm"),
    version: () => access.version,
    apply(next) {
      const isSame = digestOf(next) === digest;
      config = next;
      if (isSame) return;
      declared = declaredPolicy(config);
      digest = digestOf(config);
      takeOver();
      tellDefault(ports, config);
    },
    open() {
      if (fault !== undefined) throw fault;
      tellDefault(ports, config);
    },
    close: () => access.close(),
  };
}

/** The name in the list of everything. URIs are not made to look like names. */
function dottedName({ servers }: Pick<Config, "servers">, { provider, kind, name }: Target): string {
  const segment = servers.find(({ id }) => id === provider)?.segment ?? provider;
  if (kind === "tool" || kind === "prompt") return joinName(segment, name);
  return segment === "" ? name : `${segment}.${name}`;
}

/** Everything of a config that decisions depend on. */
function digestOf({ access, servers }: Config): string {
  const known = servers.map(({ id, segment, mgp }) => [id, segment, mgp?.trust_level]);
  return createHash("sha256")
    .update(JSON.stringify([access, known]))
    .digest("base64url")
    .slice(0, 16);
}

export function declaredPolicy({ access, servers }: Pick<Config, "access" | "servers">): AccessPolicy {
  const { defaultPolicy, grants, bindings, exposure, scopes, rules } = access;
  return {
    grants: grants.map(({ tenant, agent, server, tool, permission, expires, justification }) => ({
      tenant,
      type: tool === undefined ? "server_grant" : "tool_grant",
      agent,
      server,
      tool: tool ?? "",
      permission,
      justification,
      grantedBy: "config",
      grantedAt: undefined,
      expiresAt: expires === undefined ? undefined : Date.parse(expires),
    })),
    bindings,
    exposures: exposure.map(({ primitive = "", ...rest }) => ({ ...rest, primitive })),
    scopes,
    rules: rules.map(({ when, ...rest }, place) => ({
      ...rest,
      id: `access.rules[${place}]`,
      condition: when === undefined ? undefined : compileCondition(when),
    })),
    defaults: [
      ...(defaultPolicy === undefined ? [] : [{ tenant: ANY, server: ANY, policy: defaultPolicy }]),
      ...Object.entries(access.servers).map(([server, named]) => ({ tenant: ANY, server, policy: named })),
    ],
    sandboxed: new Set(servers.filter(({ mgp }) => mgp?.trust_level === "sandboxed").map(({ id }) => id)),
  };
}

function tellDefault({ log }: Ports, { access, auth }: Config): void {
  const { defaultPolicy } = access;
  const inForce = defaultPolicy ?? (isAuthOn(auth) ? "opt-in" : "opt-out");
  const why = defaultPolicy ? "set in [access]" : isAuthOn(auth) ? "callers are authenticated" : "only the local user";
  log.info("default access policy", { policy: inForce, why });
}
