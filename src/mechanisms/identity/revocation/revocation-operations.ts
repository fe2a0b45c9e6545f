/** Taking back what somebody may, and giving it back. */
import * as z from "zod";
import {
  type AuditEvent,
  type AuditTrail,
  type Block,
  DEFAULT_TENANT,
  GatewayError,
  identityOf,
  LOCAL,
  type Log,
  type Operation,
  type Principal,
  type TokenRows,
  tenantOf,
} from "../../../contract/index.ts";
import { operation, schemaOf } from "../../schemas/index.ts";
import type { BlockList } from "./block-list.ts";
import { atPlaceMeant, type BlockedPlaces } from "./blocked-place.ts";
import { countMade } from "./count-made.ts";
import { type BlockOrder, isPlatformsBlock, makeBlock, sourceOf } from "./make-block.ts";
import { RefusalNotes } from "./refusal-notes.ts";
import { hashIn, name, orderOf, type Revocation, revocation, withoutTokens, wrong } from "./said-revocation.ts";
import type { RevocationFeed, SignedRevocation, SignedRevocations } from "./signed-revocation.ts";

export type RevocationParts = {
  readonly blocks: BlockList;
  readonly signed: SignedRevocations;
  readonly feeds: () => readonly RevocationFeed[];
  readonly now: () => number;
  readonly trail: () => AuditTrail;
  readonly log: Log;
  readonly places: BlockedPlaces;
  /** Tokens that this gateway has given out: a block of one lives until it ends. */
  readonly tokens?: Pick<TokenRows, "find" | "list"> | undefined;
};

const PAGE = 1_000;
const blockShape = z.object({
  id: z.string(),
  type: z.string(),
  key: z.string(),
  tenant: z.string(),
  server: z.string(),
  protocol: z.string(),
  primitive: z.string(),
  reason: z.string(),
  createdAt: z.string(),
  createdBy: z.string(),
  until: z.string(),
});
const tokensMade = z
  .number()
  .optional()
  .describe(
    "Of what the platform says in other tenants: for how many more tokens it holds, which those that it is about have made or rotated.",
  );

const isOffered = z
  .boolean()
  .optional()
  .describe("With a `primitive`: whether a server has something of this name now; unset: that cannot be told.");

export function revocationOperations(parts: RevocationParts): readonly Operation[] {
  const { blocks, signed, feeds, now, trail, tokens, log, places } = parts;
  const add = async (order: BlockOrder, by: Principal["id"], tenant: string) => {
    const block = makeBlock({ ...order, until: order.until ?? (await endOf(order, tokens)) }, by, now());
    await blocks.put(block, eventOf("dev.isthmus.revocation.added", block, by, tenant));
    return { block, body: shown(block), status: 201 };
  };
  const offeredNow = (by: Principal, { server, primitive }: Revocation) => {
    const isThere = places.isOffered(by, { server, primitive });
    if (isThere === false) log.warn("a block is about a name that nothing has now", { written: primitive, server });
    return isThere === undefined ? {} : { isOffered: isThere };
  };
  const refusals = new RefusalNotes(trail, now);
  const opened = async (jws: string) => {
    try {
      return await signed.open(jws, feeds());
    } catch (error) {
      if (GatewayError.from(error).code === "NOT_AUTHENTICATED") refusals.note();
      throw error;
    }
  };
  const taken = async (message: SignedRevocation) => {
    const { feed, claims } = message;
    const { iat: _iat, jti: _jti, aud: _aud, iss: _iss, at: _at, ...said } = claims;
    const read = revocation.safeParse(said);
    if (!read.success)
      throw new GatewayError("BAD_CALL", { message: "The signed revocation says something else than one." });
    const hashed = withoutTokens(read.data);
    const { meant, fault } = atPlaceMeant(hashed, (place) => places.faultOf(LOCAL, place));
    if (fault?.isPattern) throw wrong(fault.field, fault.message);
    const about = { feed: feed.id };
    if (meant !== read.data) log.warn("a signed revocation is written as none is, and taken as meant", about);
    if (fault) log.warn("a signed revocation holds for nothing now", { ...about, reason: fault.message });
    const tenant = meant.tenant ?? feed.tenants[0] ?? DEFAULT_TENANT;
    if (!feed.tenants.includes("*") && !feed.tenants.includes(tenant)) {
      throw new GatewayError("NOT_ALLOWED", { message: "The feed may not speak about this tenant." });
    }
    const of = tenant === "*" ? DEFAULT_TENANT : tenant;
    const isPlatforms = tenant !== DEFAULT_TENANT && tenant !== "*";
    const order = { ...orderOf(meant, tenant), ...(isPlatforms && { source: "platform" as const }) };
    const { block: _block, ...answer } = await add(order, `feed:${feed.id}`, of);
    await signed.remember(message);
    offeredNow(LOCAL, meant);
    return answer;
  };
  return [
    operation({
      id: "revocations.add",
      method: "POST",
      path: "/api/revocations",
      summary: "Revokes a client's or server's token, a user or a principal, everywhere or in a part.",
      role: "operator",
      input: schemaOf(z.strictObject({ body: revocation })),
      output: schemaOf(blockShape.extend({ tokensMade, isOffered })),
      run: async ({ body }, { principal }) => {
        const own = identityOf(principal).tenant;
        const tenant = body.tenant ?? own;
        if (own !== DEFAULT_TENANT && tenant !== own)
          throw new GatewayError("NOT_ALLOWED", { message: "This is another tenant's." });
        const isPlatforms = own === DEFAULT_TENANT && tenant !== own && tenant !== "*";
        const fault = places.faultOf(principal, body);
        if (fault) throw wrong(fault.field, fault.message);
        const order = { ...orderOf(body, tenant), ...(isPlatforms && { source: "platform" as const }) };
        const { block, ...answer } = await add(order, principal.id, own);
        const made = await countMade(tokens, block);
        const told = { ...(made !== undefined && { tokensMade: made }), ...offeredNow(principal, body) };
        return { ...answer, body: { ...answer.body, ...told } };
      },
    }),
    operation({
      id: "revocations.addSigned",
      method: "POST",
      path: "/api/revocations/signed",
      summary: "Takes a revocation that a configured feed has signed (JWS, EdDSA or ES256).",
      role: "anyone",
      isOffered: () => feeds().length > 0,
      input: schemaOf(z.strictObject({ body: z.strictObject({ jws: z.string().min(1).max(8_192) }) })),
      output: schemaOf(blockShape),
      run: async ({ body }) => {
        const message = await opened(body.jws);
        try {
          return await taken(message);
        } catch (error) {
          const { code, message: reason } = GatewayError.from(error);
          // Its sender may be a program that reads no answers.
          if (code === "BAD_CALL") log.warn("a signed revocation cannot be taken", { feed: message.feed.id, reason });
          throw error;
        }
      },
    }),
    operation({
      id: "blocks.list",
      method: "GET",
      path: "/api/orgs/{orgId}/blocks",
      summary: "Who is blocked in a tenant, oldest first, in pages of 1000.",
      role: "viewer",
      input: schemaOf(
        z.strictObject({ orgId: name, after: name.optional().describe("The last id of the page before.") }),
      ),
      output: schemaOf(z.object({ blocks: z.array(blockShape), total: z.number() })),
      run: async ({ orgId, after }) => {
        const all = blocks.list().filter((block) => isOf(block, orgId));
        const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
        return { body: { blocks: all.slice(from, from + PAGE).map(shown), total: all.length } };
      },
    }),
    operation({
      id: "blocks.get",
      method: "GET",
      path: "/api/orgs/{orgId}/blocks/{hash}",
      summary: "One block, by its id or by the hash or name that it is about.",
      role: "viewer",
      input: schemaOf(z.strictObject({ orgId: name, hash: name })),
      output: schemaOf(blockShape),
      run: async ({ orgId, hash }) => ({ body: shown(found(blocks, orgId, hash)[0]) }),
    }),
    operation({
      id: "blocks.remove",
      method: "DELETE",
      path: "/api/orgs/{orgId}/blocks/{hash}",
      summary:
        "Lets somebody in again: removes the block of that id, or every one about that hash or name; those of revoked tokens stay.",
      role: "operator",
      input: schemaOf(z.strictObject({ orgId: name, hash: name })),
      run: async ({ orgId, hash }, { principal }) => {
        const all = found(blocks, orgId, hash);
        const others = all.filter((block) => sourceOf(block) !== "token");
        if (others.length === 0)
          throw new GatewayError("NOT_ALLOWED", {
            message: "This token was revoked, which nobody can take back: make another one. The block ends by itself.",
          });
        const own = tenantOf(principal) === undefined ? others : others.filter((block) => !isPlatformsBlock(block));
        if (own.length === 0)
          throw new GatewayError("NOT_ALLOWED", {
            message: "The platform has set this. Only its operators may take it back.",
          });
        for (const block of own) {
          await blocks.remove(block.id, eventOf("dev.isthmus.revocation.removed", block, principal.id, orgId));
        }
        return {};
      },
    }),
  ];
}

/** When the token that is meant ends by itself; undefined: nobody here knows, or others that were made with it may live longer. */
async function endOf({ subject, key, tenant }: BlockOrder, tokens: RevocationParts["tokens"]) {
  const row = subject === "client" && hashIn(key) !== undefined ? await tokens?.find(key) : undefined;
  if (row?.role === "admin" && row.tenant !== DEFAULT_TENANT) return undefined;
  return tenant === "" || row?.tenant === tenant ? row?.expiresAt : undefined;
}

/** Those of the platform's tenant see what holds for all. */
function isOf({ tenant }: Block, orgId: string): boolean {
  return tenant === orgId || (tenant === "" && orgId === DEFAULT_TENANT);
}

function found(blocks: BlockList, orgId: string, hash: string): [Block, ...Block[]] {
  const [first, ...more] = blocks
    .list()
    .filter((block) => isOf(block, orgId) && [block.id, block.key].some((one) => one === hash || one === hashIn(hash)));
  if (!first) throw new GatewayError("NO_SUCH_TARGET", { message: "There is no such block." });
  return [first, ...more];
}

function shown({ subject, createdAt, until, ...same }: Block): z.output<typeof blockShape> {
  const type = subject === "upstream" ? "downstream" : subject;
  return { ...same, type, createdAt: new Date(createdAt).toISOString(), until: new Date(until).toISOString() };
}

function eventOf(type: AuditEvent["type"], block: Block, by: string, tenant: string): AuditEvent {
  const { subject, key, server, protocol, primitive, reason, until } = block;
  return {
    type,
    tenant,
    actor: { type: "operator", id: by },
    target: { server, name: primitive },
    result: "SUCCESS",
    details: {
      block: block.id,
      subject,
      key,
      protocol,
      reason,
      of: block.tenant,
      until: new Date(until).toISOString(),
    },
  };
}
