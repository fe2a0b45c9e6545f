/** MGP's access methods, in its words. */
import * as z from "zod";
import {
  GatewayError,
  identityOf,
  type Operation,
  type OperationContext,
  type Principal,
} from "../../../contract/index.ts";
import { operation, schemaOf } from "../../schemas/index.ts";
import { agentOf } from "../caller-rank.ts";
import type { AccessDecision } from "../decide.ts";
import type { Grant } from "../policy.ts";
import { useOfGrant } from "../shown-names.ts";
import { readGrant, type StoredGrant } from "../stored-policy.ts";
import {
  type AccessOperationParts,
  edit,
  entriesOf,
  isoTime,
  isThere,
  keyOf,
  name,
  offeredNow,
  requireKnownName,
} from "./parts.ts";
import { isKnown, isOffered } from "./seen-by.ts";

const id = name.regex(/^(\*|[^*]+|[^*]+\.\*)$/, { error: 'expected an id, "*", or the beginning of ids and ".*"' });
const ONE_TOOL = 'expected the name of one tool, which takes no "*": a server_grant is about all tools of a server';
const entryType = z.enum(["tool_grant", "server_grant"]);
const toolName = (one: z.ZodString) => one.nullable().default(null).describe("null for a server_grant.");
const place = {
  entry_type: entryType,
  agent_id: id,
  server_id: id,
  tool_name: toolName(name),
};
const hasTool = ({ entry_type, tool_name }: { entry_type: string; tool_name: string | null }) =>
  (entry_type === "tool_grant") === (tool_name !== null);
const toolFault = { error: "expected a name for a tool_grant, and null for a server_grant", path: ["tool_name"] };
const isPattern = (tool: string | null) => tool?.includes("*") ?? false;
const revocation = z.strictObject(place).refine(hasTool, toolFault);
const granting = z
  .strictObject({
    ...place,
    // Grants compare whole names: one that looks like a pattern would be confirmed, and be about nothing.
    tool_name: toolName(name.regex(/^[^*]*$/, { error: ONE_TOOL })),
    permission: z.enum(["allow", "deny"]).default("allow"),
    granted_by: z.string().max(256).optional().describe("Who is named is kept in the record; who grants is who calls."),
    justification: z.string().max(1000).default(""),
    expires_at: z.iso.datetime({ offset: true }).nullable().default(null).describe("null: never."),
  })
  .refine(hasTool, toolFault);
const time = z.string().nullable();
const shape = z.object({
  entry_type: entryType,
  agent_id: z.string(),
  server_id: z.string(),
  tool_name: z.string().nullable(),
  permission: z.enum(["allow", "deny"]),
  granted_by: z.string(),
  granted_at: time,
  justification: z.string(),
  expires_at: time,
});
const answer = z.object({
  permission: z.enum(["allow", "deny"]),
  source: z.string(),
  granted_by: z.string().nullable(),
  granted_at: time,
  expires_at: time,
});

export function grantOperations(parts: AccessOperationParts): readonly Operation[] {
  const etag = () => String(parts.policy.version);
  return [
    operation({
      id: "access.query",
      method: "POST",
      path: "/api/access/query",
      summary:
        "Whether an agent may use a tool, and what says so. Callers without a role ask about themselves, and hear of what they cannot see the same as of what is not there; so do operators of a tenant of what nobody in it may have.",
      role: "caller",
      input: schemaOf(z.strictObject({ body: z.strictObject({ agent_id: name, server_id: name, tool_name: name }) })),
      output: schemaOf(answer),
      run: async ({ body }, { principal }) => ({ body: query(parts, body, principal), etag: etag() }),
    }),
    operation({
      id: "access.grants.list",
      method: "GET",
      path: "/api/access/grants",
      summary: "The grants of the caller's tenant that were made here; those of the config are not among them.",
      role: "viewer",
      input: schemaOf(z.strictObject({})),
      output: schemaOf(z.object({ grants: z.array(shape) })),
      run: async (_input, { principal }) => {
        const { tenant } = identityOf(principal);
        return {
          body: { grants: entriesOf(parts, tenant, "grant").map((entry) => shown(readGrant(entry))) },
          etag: etag(),
        };
      },
    }),
    operation({
      id: "access.grant",
      method: "POST",
      path: "/api/access/grant",
      summary: "Allows or denies an agent a tool, or all of a server. One for the same is replaced.",
      role: "admin",
      input: schemaOf(z.strictObject({ body: granting })),
      output: schemaOf(z.object({ granted: z.literal(true), entry: shape, isOffered: offeredNow })),
      run: async ({ body }, context) => {
        const { tag, grant } = await put(parts, body, context);
        const { server, tool } = grant;
        const isThereNow = tool === "" ? undefined : isOffered(parts, context.principal, { server, name: tool });
        const offered = isThereNow !== undefined && { isOffered: isThereNow };
        return { body: { granted: true as const, entry: shown(grant), ...offered }, etag: tag };
      },
    }),
    operation({
      id: "access.revoke",
      method: "POST",
      path: "/api/access/revoke",
      summary: "Takes a grant back.",
      role: "admin",
      input: schemaOf(z.strictObject({ body: revocation })),
      output: schemaOf(z.object({ revoked: z.boolean(), removed: z.number() })),
      run: async ({ body }, context) => {
        const { tenant } = identityOf(context.principal);
        const key = grantKey(body);
        if (!(await isThere(parts, { tenant, kind: "grant", key }))) {
          // Rows of older versions have such names, and can still be taken back.
          if (isPattern(body.tool_name)) throw new GatewayError("BAD_CALL", { message: `tool_name: ${ONE_TOOL}` });
          return { body: { revoked: false, removed: 0 }, etag: etag() };
        }
        const target = { server: body.server_id, name: body.tool_name ?? "" };
        const details = { entry_type: body.entry_type, agent_id: body.agent_id };
        const change = {
          tenant,
          kind: "grant",
          key,
          value: undefined,
          type: "ACCESS_REVOKED",
          target,
          details,
        } as const;
        return { body: { revoked: true, removed: 1 }, etag: (await edit(parts, context, change)).etag };
      },
    }),
  ];
}

type Asked = { readonly agent_id: string; readonly server_id: string; readonly tool_name: string };

/** Of what is not there, and of what is concealed, whatever conceals it: nobody can tell them apart. */
const NOTHING_THERE: z.output<typeof answer> = {
  permission: "deny",
  source: "default_policy",
  granted_by: null,
  granted_at: null,
  expires_at: null,
};

function query(parts: AccessOperationParts, asked: Asked, principal: Principal): z.output<typeof answer> {
  const { access, dottedOf } = parts;
  const own = identityOf(principal);
  const isSelf = agentOf(own) === asked.agent_id;
  if (!isSelf && own.role === undefined) {
    throw new GatewayError("NOT_ALLOWED", { message: "Without a role you can ask about yourself only." });
  }
  const { server_id: server, tool_name: tool } = asked;
  // Of others only the name is known here: what their groups and tokens are good for is for the one who calls.
  const named = { ...own, user: asked.agent_id, client: "", groups: [], scopes: ["*"], proof: "token" as const };
  const about: Principal = isSelf ? principal : { id: asked.agent_id, identity: named };
  const dotted = dottedOf({ provider: server, kind: "tool", name: tool });
  const question = { server, kind: "tool", name: tool, dotted, protocol: "mcp", catalog: "" } as const;
  if (own.role !== undefined && !isKnown(parts, principal, question)) return NOTHING_THERE;
  const { decision } = access.ask(about, question);
  const { grant } = decision;
  if (own.role === undefined && access.conceals && !isVisible(parts, asked, decision)) return NOTHING_THERE;
  return {
    permission: decision.effect === "deny" ? "deny" : "allow",
    source: decision.source,
    granted_by: grant?.grantedBy ?? null,
    granted_at: grant?.grantedAt === undefined ? null : isoTime(grant.grantedAt),
    expires_at: grant?.expiresAt === undefined ? null : isoTime(grant.expiresAt),
  };
}

/** To whoever asks about itself, as far as a call of it would tell. */
function isVisible(parts: AccessOperationParts, asked: Asked, decision: AccessDecision): boolean {
  const { effect, isShown, missing, isUnreadable } = decision;
  if (effect === "deny" && !isShown && !missing && !isUnreadable) return false;
  return parts
    .primitives()
    .some(({ server, kind, name: own }) => kind === "tool" && server === asked.server_id && own === asked.tool_name);
}

async function put(
  parts: AccessOperationParts,
  body: z.output<typeof granting>,
  context: OperationContext,
): Promise<{ tag: string; grant: Grant }> {
  const { tenant } = identityOf(context.principal);
  const {
    entry_type: type,
    agent_id: agent,
    server_id: server,
    tool_name,
    permission,
    justification,
    expires_at,
  } = body;
  const tool = tool_name ?? "";
  requireKnownName(parts, context.principal, useOfGrant({ server, tool }));
  const until = expires_at === null ? {} : { expiresAt: Date.parse(expires_at) };
  const value: StoredGrant = { type, agent, server, tool, permission, justification, ...until };
  const { id: by } = context.principal;
  const details = {
    entry_type: type,
    agent_id: agent,
    permission,
    justification,
    expires_at,
    ...(body.granted_by !== undefined && body.granted_by !== by && { claimed_granted_by: body.granted_by }),
  };
  const target = { server, name: tool };
  const change = {
    tenant,
    kind: "grant",
    key: grantKey(body),
    value,
    type: "ACCESS_GRANTED",
    target,
    details,
  } as const;
  const { etag, updatedAt } = await edit(parts, context, change);
  const grant = { tenant, ...value, expiresAt: until.expiresAt, grantedBy: by, grantedAt: Date.parse(updatedAt) };
  return { tag: etag, grant };
}

function grantKey({ entry_type, agent_id, server_id, tool_name }: z.output<typeof revocation>): string {
  return keyOf([entry_type, agent_id, server_id, tool_name ?? ""]);
}

function shown({ type, agent, server, tool, permission, grantedBy, grantedAt, justification, expiresAt }: Grant) {
  return {
    entry_type: type,
    agent_id: agent,
    server_id: server,
    tool_name: tool === "" ? null : tool,
    permission,
    granted_by: grantedBy,
    granted_at: grantedAt === undefined ? null : isoTime(grantedAt),
    justification,
    expires_at: expiresAt === undefined ? null : isoTime(expiresAt),
  };
}
