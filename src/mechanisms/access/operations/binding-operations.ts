/** Bindings: which users, clients and groups may use what. */
import * as z from "zod";
import { GatewayError, type Operation, type PolicyEntry } from "../../../contract/index.ts";
import { operation, schemaOf } from "../../schemas/index.ts";
import { readBinding, type StoredBinding } from "../stored-policy.ts";
import { countHeld } from "./held-names.ts";
import {
  type AccessOperationParts,
  edit,
  entriesOf,
  isoTime,
  isThere,
  name,
  orgId,
  protocol,
  requireKnownName,
  requireOwnWord,
  requireTenant,
  setBy,
  setByOf,
  spokenBy,
} from "./parts.ts";

const target = z.strictObject({
  type: z.enum(["user", "client", "wcit", "group"]).describe('"wcit" means "client".'),
  idOrPattern: name.describe("An id; `*` stands for any text."),
});
const binding = z.strictObject({
  target,
  primitive: z.strictObject({
    name: name.describe("As lists show it; `*` stands for any text."),
    protocol: protocol.default("*"),
  }),
  allowed: z.boolean(),
});
const stored = z.object({ id: z.string(), ...binding.shape, setBy, updatedAt: z.string(), updatedBy: z.string() });
const tenantTokens = z
  .number()
  .optional()
  .describe(
    "Where the platform allows by name in one tenant: how many tokens have that name already by the tenant's own word.",
  );
const bindingId = z.string().regex(/^[A-Za-z0-9_-]{22}$/);

export function bindingOperations(parts: AccessOperationParts): readonly Operation[] {
  const etag = () => String(parts.policy.version);
  const find = (tenant: string, id: string) => {
    const entry = entriesOf(parts, tenant, "binding").find(({ key }) => key === id);
    if (!entry) throw noSuchBinding();
    return entry;
  };
  return [
    operation({
      id: "policy.bindings.list",
      method: "GET",
      path: "/api/policy/orgs/{orgId}/bindings",
      summary: "The bindings that were set here for a tenant; those of the config are not among them.",
      role: "viewer",
      input: schemaOf(z.strictObject({ orgId })),
      output: schemaOf(z.array(stored)),
      run: async ({ orgId: tenant }, { principal }) => {
        requireTenant(principal, tenant);
        return { body: entriesOf(parts, tenant, "binding").map(shown), etag: etag() };
      },
    }),
    operation({
      id: "policy.bindings.put",
      method: "PUT",
      path: "/api/policy/orgs/{orgId}/bindings",
      summary:
        "Allows or denies users, clients or groups the use of primitives. One for the same target and primitive is replaced.",
      role: "admin",
      input: schemaOf(z.strictObject({ orgId, body: binding })),
      output: schemaOf(stored.extend({ tenantTokens })),
      run: async ({ orgId: tenant, body }, context) => {
        const { primitive, allowed } = body;
        const type = body.target.type === "wcit" ? "client" : body.target.type;
        const said: StoredBinding = {
          target: { type, pattern: body.target.idOrPattern },
          primitive: primitive.name,
          protocol: primitive.protocol,
          allowed,
        };
        requireKnownName(parts, context.principal, { name: primitive.name });
        const named = [type, body.target.idOrPattern, primitive.name, primitive.protocol];
        const { key, value } = spokenBy(context.principal, tenant, named, said);
        const details = { kind: "binding", id: key, ...body };
        const about = { server: "", name: primitive.name };
        const change = { tenant, kind: "binding", key, value, type: CHANGED, target: about, details } as const;
        const { etag: tag, ...stamped } = await edit(parts, context, change);
        const held = await countHeld(parts.tokens, context.principal, { tenant, ...said });
        const counted = held === undefined ? {} : { tenantTokens: held };
        return { body: { id: key, ...body, target: { ...body.target, type }, ...stamped, ...counted }, etag: tag };
      },
    }),
    operation({
      id: "policy.bindings.get",
      method: "GET",
      path: "/api/policy/orgs/{orgId}/bindings/{id}",
      summary: "One binding.",
      role: "viewer",
      input: schemaOf(z.strictObject({ orgId, id: bindingId })),
      output: schemaOf(stored),
      run: async ({ orgId: tenant, id }, { principal }) => {
        requireTenant(principal, tenant);
        return { body: shown(find(tenant, id)), etag: etag() };
      },
    }),
    operation({
      id: "policy.bindings.remove",
      method: "DELETE",
      path: "/api/policy/orgs/{orgId}/bindings/{id}",
      summary: "Removes a binding.",
      role: "admin",
      input: schemaOf(z.strictObject({ orgId, id: bindingId })),
      run: async ({ orgId: tenant, id }, context) => {
        requireTenant(context.principal, tenant);
        if (!(await isThere(parts, { tenant, kind: "binding", key: id }))) throw noSuchBinding();
        requireOwnWord(context.principal, find(tenant, id));
        const details = { kind: "binding", id, removed: true };
        await edit(parts, context, { tenant, kind: "binding", key: id, value: undefined, type: CHANGED, details });
        return {};
      },
    }),
  ];
}

function noSuchBinding(): GatewayError {
  return new GatewayError("NO_SUCH_TARGET", { message: "There is no such binding." });
}

const CHANGED = "dev.isthmus.policy_changed";

function shown(entry: PolicyEntry): z.output<typeof stored> {
  const { target: whom, primitive, protocol: over, allowed } = readBinding(entry);
  return {
    id: entry.key,
    target: { type: whom.type, idOrPattern: whom.pattern },
    primitive: { name: primitive, protocol: over as z.output<typeof protocol> },
    allowed,
    setBy: setByOf(entry),
    updatedAt: isoTime(entry.updatedAt),
    updatedBy: entry.updatedBy,
  };
}
