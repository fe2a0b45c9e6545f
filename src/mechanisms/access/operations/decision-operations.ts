/** Why somebody may or may not: the decision about a call that nobody makes, step by step. */
import * as z from "zod";
import { GatewayError, type Operation, type Principal, tenantOf } from "../../../contract/index.ts";
import { operation, schemaOf } from "../../schemas/index.ts";
import { fitsOneOf } from "../by-template.ts";
import type { Question } from "../decide.ts";
import {
  type AccessOperationParts,
  name,
  type OfferedPrimitive,
  offeredNow,
  orgId,
  protocol,
  requireTenant,
} from "./parts.ts";
import { asMcp, isKnown, isOffered, isSeen, seenBy } from "./seen-by.ts";

const texts = z.array(name).max(200);
const step = z.object({ step: z.string(), effect: z.string().nullable(), reason: z.string().nullable() });
const decided = z.object({
  effect: z.enum(["allow", "deny", "confirm"]),
  source: z.string(),
  reason: z.string(),
  evidence: z.string().optional(),
  server: z.string(),
  primitive: z.string(),
  gate: z
    .object({ reason: z.string(), evidence: z.string() })
    .optional()
    .describe("Every call of it waits for a yes, by what the tool says of itself: why, and whose yes is enough."),
  isOffered: offeredNow,
  knowsCallers: z.boolean().describe("Whether callers are asked who they are; if not, each is the local user."),
  isConditional: z.boolean().describe("There are rules that depend on how it is called."),
  steps: z.array(step),
});
const offered = z.object({
  id: z.string(),
  name: z.string(),
  version: z.string().nullable(),
  type: z.enum(["tool", "resource", "template", "prompt"]),
  servers: z.array(z.string()),
  enabled: z.boolean(),
  state: z.literal("active"),
  exposure: z.object({ mcp: z.object({ enabled: z.boolean(), name: z.string() }) }),
  policy: z.object({ scopes: z.array(z.string()) }),
});

/** Who would call. */
type Caller = {
  readonly tenant: string;
  readonly user?: string | undefined;
  readonly client?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly isLocal?: boolean | undefined;
};

export function decisionOperations(parts: AccessOperationParts): readonly Operation[] {
  const etag = () => String(parts.policy.version);
  return [
    operation({
      id: "policy.decision",
      method: "GET",
      path: "/api/policy/orgs/{orgId}/decision",
      summary: "Whether a caller may use a primitive, and what every step of the decision says.",
      role: "viewer",
      input: schemaOf(
        z.strictObject({
          orgId,
          user: name.optional(),
          client: name.optional(),
          groups: z.string().max(10_000).optional().describe("Joined by commas."),
          scopes: z.string().max(10_000).optional().describe("Joined by blanks."),
          server: name.optional().describe("Unset: the primitive is named as lists show it."),
          primitive: name,
          protocol: protocol.exclude(["*"]).default("mcp"),
        }),
      ),
      output: schemaOf(decided),
      run: async (input, { principal }) => {
        requireTenant(principal, input.orgId);
        const { user, client, groups, scopes } = input;
        const caller = { tenant: input.orgId, user, client, groups: split(groups, ","), scopes: split(scopes, " ") };
        return { body: explain(parts, caller, input, principal), etag: etag() };
      },
    }),
    operation({
      id: "access.explain",
      method: "POST",
      path: "/api/access/explain",
      summary: "The same for a call with arguments.",
      role: "viewer",
      input: schemaOf(
        z.strictObject({
          body: z.strictObject({
            tenant: name,
            user: name.optional(),
            client: name.optional(),
            groups: texts.default([]),
            scopes: texts.default([]),
            isLocal: z.boolean().default(false),
            server: name.optional(),
            primitive: name,
            protocol: protocol.exclude(["*"]).default("mcp"),
            arguments: z.record(z.string(), z.unknown()).optional(),
          }),
        }),
      ),
      output: schemaOf(decided),
      run: async ({ body }, { principal }) => {
        requireTenant(principal, body.tenant);
        return { body: explain(parts, body, body, principal), etag: etag() };
      },
    }),
    operation({
      id: "registry.primitives.list",
      method: "GET",
      path: "/api/registry/orgs/{orgId}/primitives",
      summary: "What the servers offer now, and whether it is switched on for a tenant.",
      role: "viewer",
      input: schemaOf(z.strictObject({ orgId })),
      output: schemaOf(z.array(offered)),
      run: async ({ orgId: tenant }, { principal }) => {
        requireTenant(principal, tenant);
        return { body: seenBy(parts, principal).map((primitive) => describe(parts, tenant, primitive)), etag: etag() };
      },
    }),
  ];
}

type Wanted = {
  readonly server?: string | undefined;
  readonly primitive: string;
  readonly protocol: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
};

function explain(parts: AccessOperationParts, caller: Caller, wanted: Wanted, by: Principal): z.output<typeof decided> {
  const question = questionOf(parts, wanted);
  if (!question || !isKnown(parts, by, question)) throw noSuchName(by);
  const templates = templatesOf(parts, question);
  if (!templates.every((one) => isSeen(parts, by, one))) throw noSuchName(by);
  const given = wanted.arguments && Buffer.from(JSON.stringify(wanted.arguments)).toString("latin1");
  const { decision, steps, isConditional } = parts.access.ask(principalOf(caller), question, given, templates);
  const { effect, source, reason, evidence } = decision;
  const { server: provider, kind, name: own } = question;
  const gate = effect === "deny" ? undefined : parts.gateOf?.({ provider, kind, name: own });
  const isThere = isOffered(parts, by, question);
  return {
    effect,
    source,
    reason,
    ...(evidence !== undefined && { evidence }),
    server: question.server,
    primitive: question.dotted,
    ...(gate && { gate: { reason: gate.reason, evidence: gate.evidence } }),
    ...(isThere !== undefined && { isOffered: isThere }),
    knowsCallers: parts.knowsCallers?.() ?? true,
    isConditional,
    steps: steps.map(({ step: taken, said }) => ({
      step: taken,
      effect: said?.effect ?? null,
      reason: said?.reason ?? null,
    })),
  };
}

function principalOf({ tenant, user = "", client = "", groups = [], scopes = [], isLocal = false }: Caller): Principal {
  const proof = isLocal ? "local" : "token";
  return { id: user || client, identity: { tenant, user, client, groups, scopes, role: undefined, proof } };
}

/** By the server's own name of it, or as lists show it; undefined: no server has names like this. */
function questionOf(parts: AccessOperationParts, { server, primitive, protocol: over }: Wanted): Question | undefined {
  const found = parts
    .primitives()
    .find((one) =>
      server === undefined ? one.dotted === primitive : one.server === server && isNamed(one, primitive),
    );
  if (found) return { ...found, protocol: over, catalog: "" };
  const meant = server === undefined ? parts.targetOf(primitive) : { server, name: primitive };
  if (!meant) return undefined;
  const kind = meant.name.includes(":") ? "resource" : "tool";
  const dotted = parts.dottedOf({ provider: meant.server, kind, name: meant.name });
  return { ...meant, kind, dotted, protocol: over, catalog: "" };
}

/** Those that a URI fits which nobody lists. */
function templatesOf(parts: AccessOperationParts, { server, kind, name: uri, protocol: over }: Question): Question[] {
  const own = kind === "resource" ? parts.primitives().filter((one) => one.server === server) : [];
  if (own.some((one) => one.name === uri)) return [];
  const fits = fitsOneOf(uri);
  return own
    .filter((one) => one.kind === "template" && fits({ provider: server, kind: "template", name: one.name }))
    .map((one) => ({ ...asMcp(one), protocol: over }));
}

/** The same words for what is not there and for what nobody of the tenant may have. */
function noSuchName(by: Principal): GatewayError {
  const message =
    tenantOf(by) === undefined
      ? "No server has names that begin like this."
      : "Nothing that is called like this is offered to your tenant now.";
  return new GatewayError("NO_SUCH_TARGET", { message });
}

function isNamed({ name: own, dotted }: OfferedPrimitive, wanted: string): boolean {
  return own === wanted || dotted === wanted;
}

function split(text: string | undefined, by: string): readonly string[] {
  return (text ?? "").split(by).filter((part) => part !== "");
}

function describe(
  { access }: AccessOperationParts,
  tenant: string,
  primitive: OfferedPrimitive,
): z.output<typeof offered> {
  const { server, kind, name: own, dotted, title, version } = primitive;
  const { steps } = access.ask(principalOf({ tenant }), asMcp(primitive));
  const isOn = !steps.some(({ said }) => said?.effect === "deny" && said.source === "exposure");
  return {
    id: dotted,
    name: title ?? own,
    version: version ?? null,
    type: kind,
    servers: [server],
    enabled: isOn,
    state: "active",
    exposure: { mcp: { enabled: isOn, name: dotted } },
    policy: { scopes: access.scopesFor(dotted) },
  };
}
