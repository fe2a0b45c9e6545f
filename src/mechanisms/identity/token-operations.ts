/** Tokens that the gateway gives out itself: made, listed, taken back. */
import * as z from "zod";
import {
  type AuditEvent,
  type AuditTrail,
  DEFAULT_TENANT,
  GatewayError,
  identityOf,
  type Operation,
  type Principal,
  parseDurationMs,
  ROLES,
  type TokenRow,
  type TokenRows,
} from "../../contract/index.ts";
import { operation, schemaOf } from "../schemas/index.ts";
import { makeToken, principalOfToken, tokenHash, tokenId } from "./static-token.ts";

export type TokenParts = {
  readonly rows: TokenRows;
  readonly audit: AuditTrail;
  /** Everybody's clock. */
  readonly now: () => number;
  /** Before a token is gone: whatever its bearer has open anywhere ends. */
  readonly onRevoke: (bearer: Principal, row: TokenRow, by: Principal) => Promise<void>;
  /** It is gone. */
  readonly onRevoked: (row: TokenRow) => void;
};

const MAX_LISTED = 1_000;
const name = z
  .string()
  .min(1)
  .max(128)
  .regex(/^\P{Cc}+$/u, { error: "expected no control characters" });
const scopeName = z
  .string()
  .max(128)
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, { error: "expected a scope: no blanks, quotes or backslashes" });
const duration = z
  .string()
  .refine((text) => (parseDurationMs(text) ?? 0) > 0, { error: 'expected a duration such as "30d" or "12h"' });

const order = z.strictObject({
  user: name.describe("Who calls with it."),
  tenant: name.optional().describe("By default that of whoever makes it."),
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
        const rows = await parts.rows.list(MAX_LISTED, after);
        const tokens = rows.filter(({ tenant }) => mayTouch(principal, tenant)).map(shown);
        const next = rows.length === MAX_LISTED ? rows.at(-1)?.id : undefined;
        return { body: { tokens, ...(next !== undefined && { next }) } };
      },
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

async function create({ audit, now }: TokenParts, body: z.output<typeof order>, by: Principal) {
  const tenant = body.tenant ?? identityOf(by).tenant;
  if (!mayTouch(by, tenant)) throw new GatewayError("NOT_ALLOWED", { message: "This is another tenant's." });
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
    expiresAt: expiresIn === undefined ? undefined : now() + (parseDurationMs(expiresIn) ?? 0),
    lastUsedAt: undefined,
  };
  await audit.commit(eventOf("dev.isthmus.token_created", row, by), [{ table: "tokens", type: "add", row }]);
  return { ...shown(row), token };
}

async function revoke({ rows, audit, onRevoke, onRevoked }: TokenParts, id: string, by: Principal): Promise<void> {
  const row = await rows.get(id);
  const unknown = () => new GatewayError("NO_SUCH_TARGET", { message: "There is no token of this id." });
  if (!row || !mayTouch(by, row.tenant)) throw unknown();
  await onRevoke(principalOfToken(row), row, by);
  const change = { table: "tokens", type: "remove", id } as const;
  if (!(await audit.commit(eventOf("dev.isthmus.token_revoked", row, by), [change]))) throw unknown();
  onRevoked(row);
}

/** Whoever is of the platform's own tenant looks after all of them. */
function mayTouch(principal: Principal, tenant: string): boolean {
  const own = identityOf(principal).tenant;
  return own === DEFAULT_TENANT || own === tenant;
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
    ...(expiresAt !== undefined && { expiresAt: timeOf(expiresAt) }),
    ...(lastUsedAt !== undefined && { lastUsedAt: timeOf(lastUsedAt) }),
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
