/**
 * What somebody says who takes access back, as an order for a block. Whoever is there to hear it is told what to write instead; what
 * machines have signed is taken as it was meant, where that can be told. A token is neither kept nor given back, wherever it stands.
 */
import * as z from "zod";
import { GatewayError } from "../../../contract/index.ts";
import { looksSecret } from "../../audit/index.ts";
import { staticTokenIn, tokenHash } from "../static-token.ts";
import type { BlockOrder } from "./make-block.ts";

export const name = z.string().min(1).max(256);
const scope = { server: name.optional(), protocol: z.enum(["mcp", "a2a"]).optional(), primitive: name.optional() };

export const revocation = z
  .strictObject({
    type: z
      .enum(["client", "user", "principal", "downstream", "everybody"])
      .describe("Whom: a client or its token, a user, a principal, a token of a server, or everybody (with `server`)."),
    hash: name
      .optional()
      .describe("Of the token (client, downstream): its SHA-256, 64 digits in hex. Never the token itself."),
    id: name.optional().describe("Of the user, principal or client."),
    tenant: name.optional().describe("Default: the caller's own; a platform's operator may name another, or `*`."),
    ...scope,
    reason: z.string().max(1_000).default(""),
    until: z.iso
      .datetime()
      .optional()
      .describe(
        "When it ends; at least 24 h from now. Unset: with the token of that hash, if the gateway gave it out and it has an end; else after ten years.",
      ),
  })
  .describe("Who may not any more, and where.");

export type Revocation = z.output<typeof revocation>;

/** Throws BAD_CALL, which says what to write and nothing of what was written. */
export function orderOf(said: Revocation, tenant: string): BlockOrder {
  const { type, server, protocol, primitive, until, reason } = said;
  const key = keyOf(said);
  if (type === "everybody" && server === undefined)
    throw wrong("server", "everybody can be kept from a server, not from everything");
  return {
    subject: type === "downstream" ? "upstream" : type,
    key,
    tenant: tenant === "*" ? "" : tenant,
    reason: looksSecret("", reason) ? REDACTED : reason,
    ...(server !== undefined && { server }),
    ...(protocol !== undefined && { protocol }),
    ...(primitive !== undefined && { primitive }),
    ...(until !== undefined && { until: Date.parse(until) }),
  };
}

const REDACTED = "[redacted]";

/** By which tokens and blocks are found; undefined: it is no hash. */
export function hashIn(text: string): string | undefined {
  return HASH.exec(text)?.[1]?.toLowerCase();
}

/** As programs print it: some in capitals, some behind the name of the method. */
const HASH = /^(?:sha256:)?([0-9a-f]{64})$/i;

function keyOf({ type, hash, id }: Revocation): string {
  if (type === "everybody") return "";
  const isToken = type === "client" || type === "downstream";
  if (isToken && hash !== undefined && id !== undefined)
    throw wrong("hash", "it has a `hash` and an `id`, and a block is about one of them");
  if (isToken && hash !== undefined) {
    const found = hashIn(hash);
    if (found === undefined)
      throw wrong("hash", `expected the SHA-256 of the token, 64 digits in hex${type === "client" ? IS_CLIENT : ""}`);
    return found;
  }
  if (type === "downstream") throw wrong("hash", "downstream needs a hash");
  if (id === undefined) throw wrong("id", type === "client" ? "client needs a hash or an id" : `${type} needs an id`);
  if (isToken && hashIn(id) !== undefined) return hashIn(id) ?? id;
  // What else looks like a secret may be somebody's name.
  if (staticTokenIn(id) !== undefined)
    throw wrong("id", "this is a token: write `type` client, and its SHA-256 in hex as `hash`");
  return id;
}

const IS_CLIENT = "; a client's name goes into `id`";

/** The same about the same, with every token as its hash: what a machine has signed has to hold, and it is told nothing that it reads. */
export function withoutTokens(said: Revocation): Revocation {
  const { hash, id, ...rest } = said;
  const { type } = said;
  if (hash !== undefined && hashIn(hash) === undefined && (type === "client" || type === "downstream")) {
    const isName = type === "client" && !looksSecret("", hash) && id === undefined;
    return isName ? { ...rest, id: hash } : { ...rest, hash: tokenHash(staticTokenIn(hash) ?? hash) };
  }
  const token = id === undefined ? undefined : staticTokenIn(id);
  return token === undefined ? said : { ...rest, type: "client", hash: tokenHash(token) };
}

export function wrong(field: string, message: string): GatewayError {
  const problems = [{ path: `/body/${field}`, message }];
  return new GatewayError("BAD_CALL", {
    message: `The revocation cannot be taken: ${message}.`,
    details: { problems },
  });
}
