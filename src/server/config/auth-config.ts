/** The `[auth]` table: how callers prove who they are. */
import * as z from "zod";
import { DEFAULT_TENANT, isTenantName, ROLES } from "../../contract/index.ts";
import { isSafeUrl } from "../../mechanisms/identity/bounded-json.ts";
import { CERTIFICATE_NAMES, type CertificateConfig } from "../../mechanisms/identity/certificate.ts";
import type { ClaimNames } from "../../mechanisms/identity/claims.ts";
import { isLoopback, parseListen } from "./listen-address.ts";
import { checkPeople } from "./people.ts";
import { type Problem, valueAt } from "./problem.ts";
import { type RevocationFeedConfig, revocationFeedSchema } from "./revocation-config.ts";

const scopes = z.array(
  z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, { error: "expected a scope: no blanks, quotes or backslashes" }),
);

const publicUrl = z.string().refine(isPlainUrl, { error: "expected an http(s) URL without query, fragment or user" });

const issuerUrl = z.string().refine(isIssuerUrl, {
  error: "expected an https URL, or an http one of this machine",
});

const tenantName = z.string().refine(isTenantName, { error: "expected the name of one tenant" });

const claimsSchema = z
  .strictObject({
    user: z.string().min(1).default("sub").describe("Whose value is the user."),
    groups: z.string().min(1).default("groups").describe("Whose values are the groups."),
    scopes: z.string().min(1).default("scope").describe("Whose words are the scopes; `scp` where it is not there."),
    tenant: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Whose value is the tenant, never `default`, which is the platform's own. Unset: `tenant` of the issuer.",
      ),
    role: z
      .string()
      .min(1)
      .optional()
      .describe("Whose value is the role: viewer, operator or admin. Unset: nobody of this issuer has one."),
  })
  .describe("Which claims of a token are read. Dots lead into nested ones.");

const issuerSchema = z.lazy(() =>
  z
    .strictObject({
      url: issuerUrl.describe(
        "As it stands in `iss` of its tokens, to the letter. Its metadata is looked for below it.",
      ),
      audience: z
        .array(z.string().min(1))
        .default([])
        .describe("Values of `aud` that mean this gateway, beside `resource` and the URLs of its endpoints."),
      tenant: tenantName.default(DEFAULT_TENANT).describe("The tenant of everybody whom it knows."),
      claims: claimsSchema.prefault({}),
    })
    .describe("Somebody who signs tokens: an OpenID provider, or an authorization server with JWT access tokens."),
);

const mtlsSchema = z
  .strictObject({
    user: z.enum(CERTIFICATE_NAMES).default("subject.CN").describe("Where the user stands in a client's certificate."),
    tenant: tenantName.default(DEFAULT_TENANT).describe("The tenant of everybody with a certificate."),
    groups: z.boolean().default(false).describe("Whether the organisational units (OU) are groups."),
    scopes: scopes.default([]).describe("What everybody with a certificate has."),
    role: z.enum(ROLES).optional().describe("What everybody with a certificate may do to the gateway itself."),
  })
  .describe("Client certificates, of the authority in `[gateway.tls] clientCa`.");

export const authSchema = z
  .strictObject({
    tokens: z
      .boolean()
      .default(false)
      .describe("Whether tokens that `isthmus token create` made are accepted. Kept in the database, as hashes."),
    local: z
      .boolean()
      .default(false)
      .describe(
        "Whether whoever connects from this machine, not through a proxy, is the local user without showing anything. Without any other way in this table everybody is, and only a loopback address can be listened on.",
      ),
    resource: publicUrl
      .optional()
      .describe(
        "The URL at which clients reach the gateway, such as `https://gateway.example.com`. Tokens of issuers must be for it, or for one of its endpoints.",
      ),
    scopes: scopes.default([]).describe("What tokens of issuers must have; clients are told to ask for it."),
    issuers: z.array(issuerSchema).default([]),
    samePeople: z
      .array(z.string())
      .default([])
      .describe(
        "Issuers (by their `url`), and `mtls`, that know the same people: a user of one is the user of that name of another. Two that name users of one tenant must both stand here; `tokens` must where tokens of the gateway stand beside any of them.",
      ),
    mtls: mtlsSchema.optional(),
    revocationFeeds: z.array(revocationFeedSchema).default([]),
  })
  .describe("How callers prove who they are.");

export type AuthConfig = {
  readonly tokens: boolean;
  readonly local: boolean;
  /** Without a slash at its end. */
  readonly resource?: string;
  readonly scopes: readonly string[];
  readonly issuers: readonly IssuerConfig[];
  readonly samePeople: readonly string[];
  readonly mtls?: CertificateConfig;
  readonly revocationFeeds: readonly RevocationFeedConfig[];
};

export type IssuerConfig = {
  readonly url: string;
  readonly audience: readonly string[];
  readonly tenant: string;
  readonly claims: ClaimNames;
};

/** Whether anybody is asked who they are. */
export function isAuthOn({ tokens, issuers, mtls }: AuthConfig): boolean {
  return tokens || issuers.length > 0 || mtls !== undefined;
}

/** How callers are known, in words. */
export function authWays({ tokens, issuers, mtls, local }: AuthConfig): readonly string[] {
  const ways = [
    ...(tokens ? ["tokens of this gateway"] : []),
    ...issuers.map(({ url }) => `tokens of ${url}`),
    ...(mtls ? ["client certificates"] : []),
  ];
  if (ways.length === 0) return ["nothing: everybody on this machine is the local user"];
  return local ? [...ways, "coming from this machine"] : ways;
}

/** What is wrong with the table beyond its form, and with the address for what it allows. */
export function checkAuth(table: unknown): Problem[] {
  const at = (...path: string[]) => valueAt(table, path);
  const problems: Problem[] = [];
  const add = (path: Problem["path"], text: string) => problems.push({ path, text });
  const issuers = at("auth", "issuers");
  const hasIssuers = Array.isArray(issuers) && issuers.length > 0;
  const hasClientCa = at("gateway", "tls", "clientCa") !== undefined;
  if (hasIssuers && at("auth", "resource") === undefined) {
    add(["auth", "resource"], "expected the URL at which clients reach the gateway: tokens of issuers must be for it");
  }
  if (hasIssuers) problems.push(...repeatedIssuers(issuers));
  problems.push(...checkPeople(table, isIssuerUrl));
  if (at("auth", "mtls") !== undefined && !hasClientCa) {
    add(["auth", "mtls"], "client certificates need [gateway.tls] clientCa: the authority that issues them");
  }
  if (hasClientCa && at("auth", "mtls") === undefined) {
    add(["gateway", "tls", "clientCa"], "expected [auth.mtls], which says what follows from a client's certificate");
  }
  const isOn = at("auth", "tokens") === true || hasIssuers || at("auth", "mtls") !== undefined;
  return isOn ? problems : [...problems, ...checkOpenListen(at("gateway", "listen"))];
}

function checkOpenListen(text: unknown): Problem[] {
  const address = typeof text === "string" ? parseListen(text) : undefined;
  if (!address || isLoopback(address.host)) return [];
  const reason = "other machines reach it, and nobody would be asked who they are";
  const cure = "set [auth] (`tokens = true` is the shortest), or listen on a loopback address such as 127.0.0.1:7411";
  return [{ path: ["gateway", "listen"], text: `found ${JSON.stringify(text)}: ${reason}; ${cure}` }];
}

function repeatedIssuers(issuers: readonly unknown[]): Problem[] {
  const urls = issuers.map((issuer) => valueAt(issuer, ["url"]));
  return urls.flatMap((url, index) =>
    typeof url === "string" && urls.indexOf(url) < index
      ? [{ path: ["auth", "issuers", index, "url"], text: `${JSON.stringify(url)} stands there twice` }]
      : [],
  );
}

export function shapeAuth({ resource, issuers, mtls, ...rest }: z.output<typeof authSchema>): AuthConfig {
  return {
    ...rest,
    issuers: issuers.map(({ claims: { tenant, role, ...claims }, ...issuer }) => ({
      ...issuer,
      claims: { ...claims, ...(tenant !== undefined && { tenant }), ...(role !== undefined && { role }) },
    })),
    ...(resource !== undefined && { resource: resource.replace(/\/$/, "") }),
    ...(mtls && { mtls: { ...mtls, hasGroups: mtls.groups, role: mtls.role } }),
  };
}

function isIssuerUrl(text: string): boolean {
  return isPlainUrl(text) && isSafeUrl(new URL(text));
}

function isPlainUrl(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { search, hash, username, password } = new URL(text);
  return search === "" && hash === "" && username === "" && password === "" && !/[?#"\\]/.test(text);
}
