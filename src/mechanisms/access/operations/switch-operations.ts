/** Switches for servers and primitives, and what holds where nothing else was said. */
import * as z from "zod";
import type { Operation } from "../../../contract/index.ts";
import { operation, schemaOf } from "../../schemas/index.ts";
import { ANY, DEFAULT_POLICIES } from "../policy.ts";
import { DEFAULT_KEY, readDefault, readExposure, type StoredDefault, type StoredExposure } from "../stored-policy.ts";
import {
  type AccessOperationParts,
  edit,
  entriesOf,
  isoTime,
  isThere,
  keyOf,
  name,
  orgId,
  protocol,
  requireKnownName,
  requireTenant,
  setBy,
  setByOf,
  spokenBy,
} from "./parts.ts";

const exposure = z.strictObject({
  server: name.describe('The id of a server or catalog, or "*".'),
  protocol: protocol.describe("The protocol it is for."),
  enabled: z.boolean().describe("Whether it can be used at all."),
  primitive: name.optional().describe("One primitive of it, or several by `*`. Unset: the server itself."),
});
const stamps = { setBy, updatedAt: z.string(), updatedBy: z.string() };
const stored = z.object({ ...exposure.shape, ...stamps });
const setting = z.strictObject({
  server: name.default(ANY).describe('The id of a server, or "*".'),
  policy: z.enum(DEFAULT_POLICIES).nullable().describe("null: what the config says."),
});
const storedSetting = z.object({ server: z.string(), policy: z.enum(DEFAULT_POLICIES), ...stamps });

export function switchOperations(parts: AccessOperationParts): readonly Operation[] {
  const { policy } = parts;
  const etag = () => String(policy.version);
  const listExposures = (tenant: string) =>
    entriesOf(parts, tenant, "exposure").map((entry) => {
      const { server, protocol: over, enabled, primitive } = readExposure(entry);
      const more = primitive === "" ? {} : { primitive };
      const times = { setBy: setByOf(entry), updatedAt: isoTime(entry.updatedAt), updatedBy: entry.updatedBy };
      return { server, protocol: over as z.output<typeof protocol>, enabled, ...more, ...times };
    });
  return [
    operation({
      id: "policy.exposure.list",
      method: "GET",
      path: "/api/policy/orgs/{orgId}/exposure",
      summary: "The switches that were set here for a tenant; those of the config are not among them.",
      role: "viewer",
      input: schemaOf(z.strictObject({ orgId })),
      output: schemaOf(z.array(stored)),
      run: async ({ orgId: tenant }, { principal }) => {
        requireTenant(principal, tenant);
        return { body: listExposures(tenant), etag: etag() };
      },
    }),
    operation({
      id: "policy.exposure.put",
      method: "PUT",
      path: "/api/policy/orgs/{orgId}/exposure",
      summary:
        "Switches a server, a catalog or a primitive on or off for a tenant. One for the same things is replaced.",
      role: "admin",
      input: schemaOf(z.strictObject({ orgId, body: exposure })),
      output: schemaOf(stored),
      run: async ({ orgId: tenant, body }, context) => {
        const { server, primitive = "", protocol: over, enabled } = body;
        requireKnownName(parts, context.principal, { server, name: primitive });
        const said: StoredExposure = { server, primitive, protocol: over, enabled };
        const { key, value } = spokenBy(context.principal, tenant, [server, over, primitive], said);
        const target = { server, name: primitive };
        const details = { kind: "exposure", ...body };
        const change = { tenant, kind: "exposure", key, value, type: CHANGED, target, details } as const;
        const { etag: tag, ...stamped } = await edit(parts, context, change);
        return { body: { ...body, ...stamped }, etag: tag };
      },
    }),
    operation({
      id: "policy.default.list",
      method: "GET",
      path: "/api/policy/orgs/{orgId}/default",
      summary: "What was set here for callers about whom nothing else was said.",
      role: "viewer",
      input: schemaOf(z.strictObject({ orgId })),
      output: schemaOf(z.array(storedSetting)),
      run: async ({ orgId: tenant }, { principal }) => {
        requireTenant(principal, tenant);
        const own = entriesOf(parts, tenant, "setting").filter(({ key }) => key.startsWith(DEFAULT_KEY));
        const body = own.map((entry) => {
          const { server, policy: named } = readDefault(entry);
          return {
            server,
            policy: named,
            setBy: setByOf(entry),
            updatedAt: isoTime(entry.updatedAt),
            updatedBy: entry.updatedBy,
          };
        });
        return { body, etag: etag() };
      },
    }),
    operation({
      id: "policy.default.put",
      method: "PUT",
      path: "/api/policy/orgs/{orgId}/default",
      summary: "Says whether callers about whom nothing else was said may use what is there.",
      role: "admin",
      input: schemaOf(z.strictObject({ orgId, body: setting })),
      output: schemaOf(z.object({ server: z.string(), policy: z.enum(DEFAULT_POLICIES).nullable() })),
      run: async ({ orgId: tenant, body }, context) => {
        requireTenant(context.principal, tenant);
        const { server, policy: named } = body;
        const said: StoredDefault = { server, policy: named ?? "opt-in" };
        const { key, value } = spokenBy(context.principal, tenant, [server], said);
        const details = { kind: "default", ...body };
        const change = { tenant, kind: "setting", type: CHANGED, details } as const;
        if (named !== null) {
          const put = await edit(parts, context, { ...change, key: `${DEFAULT_KEY}${key}`, value });
          return { body, etag: put.etag };
        }
        // An operator of the platform takes back its own word first, then the tenant's.
        for (const one of new Set([key, keyOf([server])])) {
          const place = `${DEFAULT_KEY}${one}`;
          if (!(await isThere(parts, { tenant, kind: "setting", key: place }))) continue;
          const { etag: tag } = await edit(parts, context, { ...change, key: place, value: undefined });
          return { body, etag: tag };
        }
        return { body, etag: etag() };
      },
    }),
  ];
}

const CHANGED = "dev.isthmus.policy_changed";
