/** Tokens that the gateway gives out itself: made, listed, taken back. */
import * as z from "zod";
import {
  type AuditEvent,
  type AuditTrail,
  DEFAULT_TENANT,
  GatewayError,
  hasRole,
  type Identity,
  identityOf,
  isTenantName,
  type Log,
  makerName,
  NAMED_BY,
  type NamedBy,
  namedByOf,
  type Operation,
  type Principal,
  parseDurationMs,
  ROLES,
  type TokenRow,
  type TokenRows,
  tenantOf,
} from "../../contract/index.ts";
import { operation, schemaOf } from "../schemas/index.ts";
import { OPERATOR } from "./local-operator.ts";
import { makerNamesBy } from "./maker-names.ts";
import { makeToken, principalOfToken, tokenHash, tokenId } from "./static-token.ts";

export type TokenParts = {
  readonly rows: TokenRows;
  readonly audit: AuditTrail;
  readonly log: Log;
  /** Everybody's clock. */
  readonly now: () => number;
  /** Whatever the bearer of a token that goes has open anywhere ends. May reject: the token goes all the same. */
  readonly onRevoke: (bearer: Principal, row: TokenRow, by: Principal) => Promise<void>;
  /** It is gone. */
  readonly onRevoked: (row: TokenRow) => void;
  /** What the platform has said about one of this name in a tenant; undefined: nothing. */
  readonly namedByPlatform: (one: NamedOne) => string | undefined;
  /** Whether the platform has blocked this one, so that no tenant's admin may lift it. */
  readonly isHeldByPlatform: (bearer: Principal) => boolean;
};

type NamedOne = { readonly tenant: string; readonly type: "user" | "client" | "group"; readonly id: string };

const MAX_LISTED = 1_000;
/** That are good, where its own admins make them. Those who make some at the same moment may be a few over it. */
const MAX_OF_TENANT = 10_000;
const name = z
  .string()
  .min(1)
  .max(128)
  .regex(/^\P{Cc}+$/u, { error: "expected no control characters" });
const tenantName = name.refine(isTenantName, { error: "expected the name of one tenant" });
const scopeName = z
  .string()
  .max(128)
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, { error: "expected a scope: no blanks, quotes or backslashes" });
const duration = z
  .string()
  .refine((text) => (parseDurationMs(text) ?? 0) > 0, { error: 'expected a duration such as "30d" or "12h"' });

const order = z.strictObject({
  user: name.describe("Who calls with it."),
  tenant: tenantName.optional().describe("By default that of whoever makes it."),
  client: name.optional().describe("The program it is for. By default the token itself stands for it."),
  groups: z.array(name).max(100).default([]),
  scopes: z.array(scopeName).max(100).default([]),
  role: z.enum(ROLES).optional().describe("What its bearer may do to the gateway itself. Unset: nothing, only call."),
  expiresIn: duration.optional().describe("Such as `30d`. Unset: it is good until it is revoked."),
});

const shape = z.object({
  id: z.string(),
  tenant: z.string(),
  user: z.string(),
  client: z.string().describe("Empty: nobody named it."),
  groups: z.array(z.string()),
  scopes: z.array(z.string()),
  role: z.enum(ROLES).optional(),
  createdAt: z.string(),
  createdBy: z.string(),
  namedBy: z.enum(NAMED_BY).describe("Whose word user, client and groups are."),
  expiresAt: z.string().optional(),
  lastUsedAt: z.string().optional().describe("To the hour."),
});
const created = shape.extend({ token: z.string().describe("Shown only now: it is kept as a hash.") });

export function tokenOperations(parts: TokenParts): readonly Operation[] {
  return [
    operation({
      id: "tokens.create",
      method: "POST",
      path: "/api/tokens",
      summary: "Makes a token and shows it once.",
      role: "admin",
      input: schemaOf(z.strictObject({ body: order })),
      output: schemaOf(created),
      run: async ({ body }, { principal }) => ({ status: 201, body: await create(parts, body, principal) }),
    }),
    operation({
      id: "tokens.list",
      method: "GET",
      path: "/api/tokens",
      summary: "Lists the tokens that are good, without what they are.",
      role: "admin",
      input: schemaOf(z.strictObject({ after: z.string().optional().describe("The last id of the page before.") })),
      output: schemaOf(
        z.object({ tokens: z.array(shape), next: z.string().optional().describe("There are more, after this id.") }),
      ),
      run: async ({ after }, { principal }) => {
        const rows = await parts.rows.list(MAX_LISTED, after, tenantOf(principal));
        const next = rows.length === MAX_LISTED ? rows.at(-1)?.id : undefined;
        return { body: { tokens: rows.map(shown), ...(next !== undefined && { next }) } };
      },
    }),
    operation({
      id: "tokens.rotate",
      method: "POST",
      path: "/api/tokens/{id}/rotate",
      summary: "Makes a token for the same bearer and takes the old one back, in one step. Shows the new one once.",
      role: "admin",
      input: schemaOf(
        z.strictObject({ id: z.string(), body: z.strictObject({ expiresIn: duration.optional() }).optional() }),
      ),
      output: schemaOf(created),
      run: async ({ id, body }, { principal }) => ({
        status: 201,
        body: await rotate(parts, id, body?.expiresIn, principal),
      }),
    }),
    operation({
      id: "tokens.revoke",
      method: "DELETE",
      path: "/api/tokens/{id}",
      summary: "Takes a token back: it is refused everywhere from now on, and what its bearer has open ends.",
      role: "admin",
      input: schemaOf(z.strictObject({ id: z.string() })),
      run: async ({ id }, { principal }) => {
        await revoke(parts, id, principal);
        return {};
      },
    }),
  ];
}

async function create(parts: TokenParts, body: z.output<typeof order>, by: Principal) {
  const { row, token } = make(parts, body, by);
  await requireRoom(parts, by);
  await parts.audit.commit(eventOf("dev.isthmus.token_created", row, by), [{ table: "tokens", type: "add", row }]);
  return { ...shown(row), token };
}

/** Nobody fills the tables that are everybody's. What is rotated takes the place of another. */
async function requireRoom({ rows, now }: TokenParts, by: Principal): Promise<void> {
  const tenant = tenantOf(by);
  if (tenant === undefined || (await rows.count(tenant, now())) < MAX_OF_TENANT) return;
  throw new GatewayError("OVERLOADED", {
    message: `There are ${MAX_OF_TENANT} tokens of the tenant ${tenant}; revoke some.`,
  });
}

/** Whatever whoever makes it may not give away is refused, also where it is taken over from an older token. */
function make(
  parts: TokenParts,
  body: z.output<typeof order>,
  by: Principal,
  old?: TokenRow,
): { row: TokenRow; token: string } {
  const { now } = parts;
  const tenant = body.tenant ?? identityOf(by).tenant;
  if (!mayTouch(by, tenant)) throw new GatewayError("NOT_ALLOWED", { message: "This is another tenant's." });
  requireOwn(parts, body, by);
  const token = makeToken();
  const hash = tokenHash(token);
  const { user, client = "", groups, scopes, role, expiresIn } = body;
  const row: TokenRow = {
    hash,
    id: tokenId(hash),
    tenant,
    user,
    client,
    groups,
    scopes,
    role,
    createdAt: now(),
    createdBy: by.id,
    makers: makersBy(by),
    // Whoever rotates a token has it in hand: no name becomes more than the word of those who had it before.
    namedBy: old && namedByOf(old) === "tenant" ? "tenant" : namedByMaker(body, by),
    makerNames: makerNamesBy(by, old),
    expiresAt: endOf(expiresIn, old && lifeOf(old), by, now()),
    lastUsedAt: undefined,
  };
  return { row, token };
}

/**
 * What a tenant's admin calls others is the tenant's word. What it is called itself is whose word that is; but one whom an issuer
 * or a certificate names is somebody else under the same name in a token.
 */
function namedByMaker({ tenant, user, client, groups }: z.output<typeof order>, by: Principal): NamedBy {
  const own = identityOf(by);
  if (own.tenant === DEFAULT_TENANT) return "platform";
  const isItself =
    own.proof === "token" &&
    (tenant === undefined || tenant === own.tenant) &&
    user === own.user &&
    (client === undefined || clientsOf(own).includes(client)) &&
    groups.every((group) => own.groups.includes(group));
  return isItself ? (own.namedBy ?? "platform") : "tenant";
}

/** The hash that stands for the client of whoever has none is no name: another token would have it as one. */
function clientsOf({ client, tokenHash }: Identity): readonly string[] {
  return client === tokenHash ? [] : [client];
}

/** It lives as long as the old one was made to, unless it is told otherwise. */
function lifeOf({ expiresAt, createdAt }: TokenRow): number | undefined {
  return expiresAt === undefined ? undefined : expiresAt - createdAt;
}

/** What a tenant's admin makes ends with its own token at the latest. `lifeMs`: where nobody asks for another. */
function endOf(expiresIn: string | undefined, lifeMs: number | undefined, by: Principal, now: number) {
  const life = expiresIn === undefined ? lifeMs : parseDurationMs(expiresIn);
  const end = life === undefined ? undefined : now + life;
  const own = identityOf(by);
  if (own.tenant === DEFAULT_TENANT || own.expiresAt === undefined) return end;
  if (expiresIn !== undefined && end !== undefined && end > own.expiresAt) {
    const message = `You cannot give away a life of ${expiresIn}: what you came with yourself ends at ${timeOf(own.expiresAt)}.`;
    throw new GatewayError("NOT_ALLOWED", { message });
  }
  return Math.min(end ?? own.expiresAt, own.expiresAt);
}

/** Whoever runs the gateway is nobody's maker: they can do everything as it is, and make no calls. */
function makersBy(by: Principal): readonly string[] {
  const { tenant, user, proof, makers = [] } = identityOf(by);
  if (proof === "local" || by.id === OPERATOR.id) return [];
  return [...new Set([...makers, makerName({ tenant, user, principal: by.id })])];
}

/** What a tenant's admin gives away is bounded by what it has, so that no token of its making is more than its own. */
function requireOwn({ namedByPlatform }: TokenParts, body: z.output<typeof order>, by: Principal): void {
  const own = identityOf(by);
  if (own.tenant === DEFAULT_TENANT) return;
  const { user, client, groups, scopes, role } = body;
  const refuse = (what: string): never => {
    throw new GatewayError("NOT_ALLOWED", { message: `You cannot give away ${what}.` });
  };
  if (role !== undefined && !hasRole(by, role)) refuse(`the role ${role}: it is more than you have`);
  const lacked = scopes.find((scope) => !own.scopes.includes(scope) && !own.scopes.includes("*"));
  if (lacked !== undefined) refuse(`the scope "${lacked}": you do not have it`);
  const has = { user: [own.user], client: clientsOf(own), group: own.groups };
  const named = [
    { type: "user", id: user } as const,
    ...(client === undefined ? [] : [{ type: "client", id: client } as const]),
    ...groups.map((id) => ({ type: "group", id }) as const),
  ];
  for (const { type, id } of named) {
    if (has[type].includes(id)) continue;
    const said = namedByPlatform({ tenant: own.tenant, type, id });
    if (said !== undefined)
      refuse(`the name of the ${type} "${id}": the platform has said something about it (${said})`);
  }
}

/** The old one is refused from the moment in which the new one is good: there is no time with both, and none without. */
async function rotate(parts: TokenParts, id: string, expiresIn: string | undefined, by: Principal) {
  const { audit, onRevoked } = parts;
  const old = await touchable(parts, id, by);
  requireFree(parts, old, by);
  const { tenant, user, client, groups, scopes, role } = old;
  const more = {
    ...(client !== "" && { client }),
    ...(role && { role }),
    ...(expiresIn !== undefined && { expiresIn }),
  };
  const body = { tenant, user, groups: [...groups], scopes: [...scopes], ...more };
  const { row, token } = make(parts, body, by, old);
  const changes = [
    { table: "tokens", type: "add", row },
    { table: "tokens", type: "remove", id },
  ] as const;
  const event = eventOf("dev.isthmus.token_created", row, by);
  if (!(await audit.commit({ ...event, details: { ...event.details, replaces: id } }, changes))) throw unknown();
  // Only now: where the new one cannot be kept, the old one must go on.
  await endBearer(parts, old, by);
  onRevoked(old);
  return { ...shown(row), token };
}

/** A block of a token, or of the principal that it is, would not be about the new one. */
function requireFree({ isHeldByPlatform }: TokenParts, old: TokenRow, by: Principal): void {
  if (identityOf(by).tenant === DEFAULT_TENANT || !isHeldByPlatform(principalOfToken(old))) return;
  throw new GatewayError("NOT_ALLOWED", {
    message: "The platform has blocked whoever has or made this token. Only its operators may take that back.",
  });
}

const unknown = () => new GatewayError("NO_SUCH_TARGET", { message: "There is no token of this id." });

async function touchable({ rows }: TokenParts, id: string, by: Principal): Promise<TokenRow> {
  const row = await rows.get(id);
  if (!row || !mayTouch(by, row.tenant)) throw unknown();
  return row;
}

async function revoke(parts: TokenParts, id: string, by: Principal): Promise<void> {
  const { audit, onRevoked } = parts;
  const row = await touchable(parts, id, by);
  await endBearer(parts, row, by);
  const change = { table: "tokens", type: "remove", id } as const;
  if (!(await audit.commit(eventOf("dev.isthmus.token_revoked", row, by), [change]))) throw unknown();
  onRevoked(row);
}

/** Never rejects: what is open may be hard to end, and the token is to be refused all the same. */
async function endBearer({ onRevoke, log }: TokenParts, row: TokenRow, by: Principal): Promise<void> {
  try {
    await onRevoke(principalOfToken(row), row, by);
  } catch (cause) {
    log.warn("what the bearer of a revoked token has open could not be ended everywhere", { token: row.id, cause });
  }
}

/** Whoever is of the platform's own tenant looks after all of them. */
function mayTouch(principal: Principal, tenant: string): boolean {
  return (tenantOf(principal) ?? tenant) === tenant;
}

function eventOf(type: AuditEvent["type"], row: TokenRow, by: Principal): AuditEvent {
  const { id, user, client, groups, scopes, role, expiresAt } = row;
  return {
    type,
    tenant: row.tenant,
    actor: { type: "operator", id: by.id },
    target: { server: "", name: id },
    result: "SUCCESS",
    details: {
      user,
      client,
      groups,
      scopes,
      ...(role && { role }),
      ...(expiresAt && { expiresAt: timeOf(expiresAt) }),
    },
  };
}

function shown(row: TokenRow): z.output<typeof shape> {
  const { id, tenant, user, client, groups, scopes, role, createdBy, createdAt, expiresAt, lastUsedAt } = row;
  return {
    id,
    tenant,
    user,
    client,
    groups: [...groups],
    scopes: [...scopes],
    ...(role && { role }),
    createdAt: timeOf(createdAt),
    createdBy,
    namedBy: namedByOf(row),
    ...(expiresAt !== undefined && { expiresAt: timeOf(expiresAt) }),
    ...(lastUsedAt !== undefined && { lastUsedAt: timeOf(lastUsedAt) }),
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
