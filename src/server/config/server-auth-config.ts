/** The `[servers.auth]` table: how the gateway gets the tokens that a server wants. */

import * as z from "zod";
import type { RiskClass } from "../../contract/index.ts";
import type { Problem } from "./problem.ts";
import { READ_ONCE } from "./read-once.ts";
import { reference, secretReference } from "./reference-schema.ts";
import { type Resolver, resolveReferences } from "./references.ts";
import type { Secret } from "./secret.ts";

const webUrl = z.string().refine((text) => /^https?:\/\//.test(text) && URL.canParse(text), {
  error: "expected an http(s) URL",
});

export const serverAuthSchema = z
  .strictObject({
    type: z
      .enum(["oauth", "client_credentials", "exchange"])
      .describe(
        "`oauth`: each user signs in once, at a page that they are shown. `client_credentials`: the gateway has a token of its own. `exchange`: the token of each caller is exchanged for one of the server (RFC 8693).",
      ),
    risk: z
      .union([z.enum(["low", "medium", "high"]), z.literal([1, 2, 3])])
      .default("low")
      .describe(
        "What may be kept: `low` (3) for the user, in all their sessions; `medium` (2) for one session; `high` (1) nothing, each request gets a token of its own.",
      ),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, { error: "expected a scope without blanks" }))
      .default([])
      .describe("What is asked for, beside what the server wants. By default what the server's metadata names."),
    clientId: reference
      .optional()
      .describe("The gateway's own id at the issuer. By default its metadata document, or a registration of its own."),
    clientSecret: secretReference
      .optional()
      .describe("The secret that goes with `clientId`. It is sent to `issuer` alone, which has to be set, too."),
    privateKey: secretReference
      .optional()
      .describe("Instead of a secret: a PEM key with which the gateway signs that it is `clientId` (private_key_jwt)."),
    clientMetadataUrl: webUrl
      .optional()
      .describe(
        "Where a document describes this client. By default the one that the gateway serves itself, if its public URL is https.",
      ),
    issuer: webUrl
      .optional()
      .describe(
        "Who gives out the tokens. By default the one that the server names; with `clientSecret` or `exchange` it must be set, so that no server chooses who gets the secret or the tokens of callers. It may be private and have its endpoints at other origins, because an operator wrote it.",
      ),
    audience: z
      .string()
      .optional()
      .describe("For `exchange`: what the token is to be for, where the issuer wants that said."),
  })
  .describe("How the gateway gets tokens for the server (http, sse).");

type AuthTable = z.output<typeof serverAuthSchema>;

export type ServerAuth = Pick<AuthTable, "type" | "scopes" | "clientMetadataUrl" | "issuer" | "audience"> & {
  readonly riskClass: RiskClass;
  readonly secrets: AuthSecrets;
};

export type AuthSecrets = { readonly clientId?: Secret; readonly clientSecret?: Secret; readonly privateKey?: Secret };

const CLASSES: Readonly<Record<string, RiskClass>> = { high: 1, medium: 2, low: 3 };

/** What the table refers to. Problems go to the resolver. */
export function resolveServerAuth(table: unknown, path: Problem["path"], resolver: Resolver): AuthSecrets {
  const { clientId, clientSecret, privateKey } = Object(table) as Record<string, unknown>;
  const given = Object.entries({ clientId, clientSecret, privateKey }).filter(([, value]) => value !== undefined);
  return resolveReferences(Object.fromEntries(given), path, resolver);
}

export function shapeServerAuth(table: AuthTable | undefined, secrets: AuthSecrets): ServerAuth | undefined {
  if (!table) return undefined;
  const { type, scopes, clientMetadataUrl, issuer, audience, risk } = table;
  const riskClass = typeof risk === "number" ? risk : (CLASSES[risk] ?? 3);
  return { type, scopes, clientMetadataUrl, issuer, audience, riskClass, secrets };
}

/** What is wrong with the tables beyond their form. */
export function checkServerAuth(server: Readonly<Record<string, unknown>>, index: number): Problem[] {
  if (server.auth === undefined) return [];
  const parsed = serverAuthSchema.safeParse(server.auth, READ_ONCE);
  if (!parsed.success) return [];
  const { type, risk, clientId, clientSecret, privateKey, issuer } = parsed.data;
  const problems: Problem[] = [];
  const complain = (key: string, text: string) => problems.push({ path: ["servers", index, "auth", key], text });
  if (server.url === undefined) complain("type", "expected a server with a url; programs on stdio get no tokens");
  if (Object.keys(Object(server.headers)).some((name) => name.toLowerCase() === "authorization"))
    complain("type", "expected either this table or an Authorization header, found both");
  if (type === "oauth" && (risk === "high" || risk === 1))
    complain("risk", 'expected "low" or "medium": a token that nobody keeps would make each call ask for consent');
  if (type !== "oauth" && clientId === undefined) complain("clientId", `expected one for type "${type}", found none`);
  if (type === "client_credentials" && clientSecret === undefined && privateKey === undefined)
    complain("clientSecret", "expected a clientSecret or a privateKey, found none");
  if ((clientSecret !== undefined || privateKey !== undefined) && clientId === undefined)
    complain("clientId", "expected the id that the secret goes with, found none");
  if (issuer === undefined && type === "exchange")
    complain("issuer", "expected the URL of the only issuer that may get the tokens of callers, found none");
  else if (issuer === undefined && clientSecret !== undefined)
    complain("issuer", "expected the URL of the only issuer that may get the clientSecret, found none");
  return problems;
}
