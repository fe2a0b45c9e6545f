/** Who may see and call what, made of `[access]` and of what operators have set while the gateway runs. */
import { createHash } from "node:crypto";
import {
  type AuditTrail,
  type Blocks,
  type Call,
  DEFAULT_TENANT,
  decodeString,
  type Evidence,
  type GatewayError,
  identityOf,
  type Operation,
  type PolicyEntry,
  type ReturnRefusal,
  type Target,
  type TokenRows,
} from "../../contract/index.ts";
import type { StageFactory } from "../../kernel/index.ts";
import {
  type AccessPolicy,
  ANY,
  accessRows,
  compileCondition,
  type InForce,
  isOfferedTo,
  joinPolicy,
  keyOfName,
  LiveAccess,
  type LivePolicy,
  misspelledPatterns,
  type NameOfNothing,
  type NameUse,
  namesOfNothing,
  type OfferedPrimitive,
  type Refusal,
  rowsOf,
  rowsThatHold,
  usesIn,
} from "../../mechanisms/access/index.ts";
import type { AccessOperationParts } from "../../mechanisms/access/operations/parts.ts";
import { authorizeStage, type MissingYes, presentDenial, presentRefusal, returnRefusal } from "../../stages/index.ts";
import { isAuthOn } from "../config/auth-config.ts";
import type { Config } from "../config/index.ts";
import type { Ports } from "../extensions.ts";
import { dottedName, serverByStem, stemOf, unprefixedNames, unprefixedServer } from "./dotted-name.ts";
import type { LiveParts } from "./live-parts.ts";
import { grantsNothing } from "./nothing-granted.ts";
import { noteReturn } from "./returns.ts";

export type AccessPorts = Ports & {
  readonly config: Config;
  readonly policy: LivePolicy;
  readonly trail: () => AuditTrail;
  readonly blocks: () => Blocks | undefined;
  readonly gateOf?: AccessOperationParts["gateOf"];
  /** Why a call that is not denied may not be sent; unset: nothing waits for a yes here. */
  readonly missingYes?: MissingYes;
  readonly live: Pick<LiveParts, "offered">;
  readonly state?: { readonly records: { readonly tokens: TokenRows } } | undefined;
  /** What other parts say about names. */
  readonly otherUses?: () => readonly NameUse[];
  /** Callers may reach something else than before. */
  readonly onReach: () => void;
};

export type OpenOptions = {
  /** Only the local user is served, on standard input. */
  readonly isLocal?: boolean;
};

export type GovernedAccess = {
  readonly access: LiveAccess;
  readonly stage: StageFactory;
  /** Why a call that the stage has let in is denied by now; undefined: it is not. */
  readonly denial: (call: Call) => GatewayError | undefined;
  /** Why such a call may not be sent: it is denied, or needs a yes that it has not used. */
  readonly refusal: (call: Call) => GatewayError | undefined;
  /** What operations know of it. */
  readonly operationParts: () => AccessOperationParts;
  /** The same for somebody who comes back for it, as they are known now; that they may not is on the trail. */
  readonly returnRefusal: ReturnRefusal;
  operations(): Promise<readonly Operation[]>;
  /** Whether a rule may want somebody's yes. */
  readonly hasRules: () => boolean;
  /** Whether callers are known, and none of them may use anything. */
  readonly grantsNothing: () => boolean;
  /** Whether callers are asked who they are; if not, each is the local user. */
  readonly knowsCallers: () => boolean;
  /** What those rules want, one by one. */
  readonly ruleEvidence: () => readonly Evidence[];
  /** Stands for everything that is decided by about callers of a tenant. */
  readonly version: (tenant: string) => string;
  apply(config: Config): void;
  /** What policy, limits and catalogs say about names that nothing has. */
  misnamed(): readonly NameOfNothing[];
  /** Servers offer something else: what is said about names that nothing has is told. */
  checkNames(): void;
  /** After the policy was read. Throws where one of its rows cannot be: nobody is served by a part of it. */
  open(options?: OpenOptions): void;
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
  let told: ReadonlySet<string> = new Set();
  let toldPatterns: ReadonlySet<string> = new Set();
  const dottedOf = (target: Target) => dottedName(config, target);
  const access = new LiveAccess(
    { timers, now: Date.now, dottedOf, blocks: ports.blocks, onChange: ports.onReach, onRefused: refused },
    inForce(held),
  );
  const judging = { judge: (call: Call) => access.judge(call), conceals: () => config.access.conceal };
  const stage = authorizeStage(judging);
  policy.onChange(() => {
    takeOver();
    checkNames();
  });

  /** Throws where a row cannot be read. */
  function inForce(rows: readonly PolicyEntry[]): InForce {
    return {
      policy: joinPolicy(declared, rows),
      conceals: config.access.conceal,
    };
  }

  function takeOver(): void {
    const rows = accessRows((kind) => policy.entries(kind));
    access.use(readable(rows));
    checkPatterns();
  }

  function checkPatterns(): void {
    const now = misspelledPatterns(access.policy);
    for (const { written, reason, meant } of now) {
      if (toldPatterns.has(written)) continue;
      const instead = meant !== undefined && { meant };
      log.warn("a pattern is spelled as nothing is judged, and so fits nothing", { written, reason, ...instead });
    }
    toldPatterns = new Set(now.map(({ written }) => written));
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

  /**
   * A call that was never made, because its caller was told that there is no such thing. Where nobody of its tenant may have it, it is
   * on the platform's record alone: the tenant's has the name that was refused, as of what is not there.
   */
  function refused({ principal, target, decision, protocol }: Refusal): void {
    const { source, reason } = decision;
    const { tenant, user, client } = identityOf(principal);
    const isTenants = isOfferedToTenant(tenant, target, protocol);
    trail().note({
      type: "TOOL_BLOCKED",
      tenant: isTenants ? tenant : DEFAULT_TENANT,
      actor: { type: "agent", id: principal.id },
      target: { server: target.provider, name: target.name },
      result: "DENIED",
      details: {
        ...{ user, client, kind: target.kind, protocol, source, reason, concealed: true },
        ...(!isTenants && { callerTenant: tenant }),
      },
    });
  }

  function isOfferedToTenant(tenant: string, target: Target, protocol: string): boolean {
    if (tenant === DEFAULT_TENANT) return true;
    const { provider: server, kind, name } = target;
    const question = { server, kind, name, dotted: dottedOf(target), protocol, catalog: "" };
    return isOfferedTo(access.policy, tenant, question, Date.now());
  }

  function primitives(): readonly OfferedPrimitive[] {
    return ports.live.offered().flatMap(({ name: shown, target, primitive }) => {
      const { provider: server, kind, name } = target;
      if (kind === "agent" || kind === "operation") return [];
      const title = decodeString(primitive.definition.at(["title"]));
      return [{ server, kind, name, dotted: dottedOf(target), shown, title }];
    });
  }

  function targetOf(dotted: string): { readonly server: string; readonly name: string } | undefined {
    const found = serverByStem(config, dotted);
    if (found) return { server: found.id, name: dotted.slice(stemOf(found).length + 1) };
    const server = config.servers.find(({ segment }) => segment === "");
    return server && { server: server.id, name: dotted };
  }

  /** Names without a segment may be of any server. */
  function serverOf(dotted: string): string | undefined {
    return serverByStem(config, dotted)?.id;
  }

  /** Beside a catalog or "*" it is the name that tells the server. */
  function ofAnyServer(use: NameUse): NameUse {
    const isOfMany = use.server === ANY || config.catalogs.some(({ id }) => id === use.server);
    return isOfMany && !use.isOwn ? { name: use.name } : use;
  }

  /** Catalogs name what a server without a prefix offers as lists do. */
  function asListed(use: NameUse): NameUse {
    const bare = config.servers.find(({ segment }) => segment === "");
    const isIts =
      bare && ports.live.offered().some(({ target: { provider, name } }) => provider === bare.id && name === use.name);
    return isIts ? { ...use, server: bare.id } : use;
  }

  function misnamedNow(): readonly NameOfNothing[] {
    const { policy: inUse } = access;
    const ruled = [...usesIn({ ...inUse, ...rowsOf(inUse) }), ...(ports.otherUses?.() ?? [])];
    const uses = [...ruled.map(ofAnyServer), ...config.catalogs.flatMap(usesInCatalog).map(asListed)];
    return uses.length === 0 ? [] : namesOfNothing(uses, primitives(), serverOf);
  }

  function tellUnprefixed(): void {
    const server = access.isRestrictive || knowsCallers() ? unprefixedServer(config) : undefined;
    if (server) log.info("names of a server without a prefix", { server: server.id, inRules: unprefixedNames(server) });
  }

  function checkNames(): void {
    const now = misnamedNow();
    for (const one of now) {
      const { name: written, server, meant } = one;
      if (told.has(keyOfName(one))) continue;
      const fields = { written, ...(server !== undefined && { server }), meant };
      if (meant.length > 0)
        log.warn("a rule, grant, limit or catalog names what only lists call so: it does nothing", fields);
      else log.warn("a rule, grant, limit or catalog names what is not there now: it does nothing", fields);
    }
    told = new Set(now.map(keyOfName));
  }

  const knowsCallers = () => isAuthOn(config.auth);
  const operationParts = (): AccessOperationParts => {
    const hasServer = (one: string) => config.servers.some(({ id }) => id === one);
    const known = {
      dottedOf,
      targetOf,
      hasServer,
      primitives,
      tokens: ports.state?.records.tokens,
      gateOf: ports.gateOf,
    };
    return { access, policy, trail, now: Date.now, knowsCallers, ...known };
  };
  const hasBlocks = () => (ports.blocks()?.size ?? 0) > 0;

  return {
    access,
    stage: () => (access.isRestrictive || knowsCallers() || hasBlocks() ? stage : undefined),
    denial: (call) => presentDenial(judging, call),
    refusal: (call) => presentRefusal(judging, call, ports.missingYes ?? (() => undefined)),
    operationParts,
    returnRefusal(call, by) {
      const error = returnRefusal(judging, call, by);
      if (error) noteReturn(trail(), call, by, error);
      return error;
    },
    async operations() {
      const { accessOperations } = await import("../../mechanisms/access/operations/index.ts");
      return accessOperations(operationParts());
    },
    hasRules: () => access.policy.rules.some(({ effect }) => effect === "confirm"),
    knowsCallers,
    grantsNothing: () => grantsNothing(config, access.policy, { now: Date.now(), misnamed: misnamedNow() }),
    ruleEvidence: () =>
      access.policy.rules.flatMap(({ effect, evidence = "operator" }) => (effect === "confirm" ? [evidence] : [])),
    version: (tenant) => `${policy.versionFor(tenant)}.${digest}`,
    apply(next) {
      const isSame = digestOf(next) === digest;
      config = next;
      if (isSame) return;
      declared = declaredPolicy(config);
      digest = digestOf(config);
      takeOver();
      tellDefault(ports, config);
      tellUnprefixed();
    },
    misnamed: misnamedNow,
    checkNames,
    open({ isLocal = false } = {}) {
      if (fault !== undefined) throw fault;
      checkPatterns();
      tellDefault(ports, config, isLocal);
      tellUnprefixed();
    },
    close: () => access.close(),
  };
}

/** The names that a catalog shows, leaves out or says something else for. */
function usesInCatalog({ include, exclude, rename, descriptions }: Config["catalogs"][number]): NameUse[] {
  const names = [...include, ...exclude, ...Object.keys(rename), ...Object.keys(descriptions)];
  return names.map((name) => ({ name }));
}

/** Everything of a config that decisions depend on. */
function digestOf({ access, servers }: Config): string {
  const known = servers.map((server) => [server.id, stemOf(server), server.mgp?.trust_level]);
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
    tenants: new Map(),
  };
}

/** Patterns of a config that fit nothing as it is judged. */
export function misspelledIn(config: Pick<Config, "access" | "servers">): ReturnType<typeof misspelledPatterns> {
  return misspelledPatterns(declaredPolicy(config));
}

function tellDefault({ log }: Ports, { access, auth }: Config, isLocal = false): void {
  const { defaultPolicy } = access;
  const asks = isAuthOn(auth) && !isLocal;
  const inForce = defaultPolicy ?? (asks ? "opt-in" : "opt-out");
  const why = defaultPolicy ? "set in [access]" : asks ? "callers are authenticated" : "only the local user";
  log.info("default access policy", { policy: inForce, why });
}
