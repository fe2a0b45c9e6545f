/** What the claims of a verified token say about its bearer. */
import { DEFAULT_TENANT, isLocalUser, isTenantName, type Principal, ROLES, type Role } from "../../contract/index.ts";
import { refuse } from "./refusal.ts";

export type Claims = Readonly<Record<string, unknown>>;

/** Which claims are read. Unset: everybody has the tenant of the issuer, nobody has a role. */
export type ClaimNames = {
  readonly tenant?: string;
  readonly user: string;
  readonly groups: string;
  readonly scopes: string;
  readonly role?: string;
};

export type ClaimSource = { readonly issuer: string; readonly tenant: string; readonly claims: ClaimNames };

const MAX_TEXT = 256;
const MAX_TEXTS = 200;
/** What issuers call it that do not say `scope`. */
const OTHER_SCOPES = "scp";

/** Throws NOT_AUTHENTICATED. `expiresAt`: in ms of everybody's clock. */
export function principalOfClaims(payload: Claims, source: ClaimSource, expiresAt: number): Principal {
  const { claims } = source;
  const subject = textOf(payload.sub);
  const user = textOf(claimAt(payload, claims.user));
  const client = textOf(payload.azp) ?? textOf(payload.client_id) ?? "";
  const tenant = claims.tenant === undefined ? source.tenant : tenantOf(claimAt(payload, claims.tenant));
  if (subject === undefined || user === undefined || tenant === undefined) throw refuse("claims");
  if (isLocalUser({ tenant, user })) throw refuse("claims");
  // An address that nobody has shown to be theirs may be anybody's.
  if (claims.user === "email" && !isVerified(payload.email_verified)) throw refuse("claims");
  const scopes = textsOf(claimAt(payload, claims.scopes) ?? payload[OTHER_SCOPES], " ");
  const groups = textsOf(claimAt(payload, claims.groups));
  const role = claims.role === undefined ? undefined : roleOf(claimAt(payload, claims.role));
  return {
    id: principalId(source.issuer, subject, client, tenant),
    identity: { tenant, user, client, groups, scopes, role, proof: "oidc", expiresAt },
  };
}

/** Some issuers say it as text, and some not at all. */
function isVerified(said: unknown): boolean {
  return said === undefined || said === true || said === "true";
}

/** Parts are escaped, so that no part can be taken for two. */
function principalId(issuer: string, subject: string, client: string, tenant: string): string {
  const place = tenant === DEFAULT_TENANT ? "" : `@${encodeURIComponent(tenant)}`;
  return `oidc:${issuerPlace(issuer)}:${encodeURIComponent(subject)}:${encodeURIComponent(client)}${place}`;
}

/** By which an issuer is known in ids. */
export function issuerPlace(issuer: string): string {
  const { host, pathname } = new URL(issuer);
  return `${host}${pathname.replace(/\/$/, "")}`;
}

/** A claim of that very name, else the way to it: issuers nest (`realm_access.roles`), and name claims with URLs. */
function claimAt(payload: Claims, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  return name
    .split(".")
    .reduce<unknown>(
      (value, key) =>
        typeof value === "object" && value !== null && Object.hasOwn(value, key) ? (value as Claims)[key] : undefined,
      payload,
    );
}

/** Never the platform's own, nor that of all: an issuer says which tenant somebody is of, not that they look after others'. */
function tenantOf(value: unknown): string | undefined {
  const tenant = textOf(value);
  return tenant !== undefined && tenant !== DEFAULT_TENANT && isTenantName(tenant) ? tenant : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= MAX_TEXT && !/\p{Cc}/u.test(value)
    ? value
    : undefined;
}

/** A list, or one text: of several where there is a separator. What is no text is left out: it grants nothing. */
function textsOf(value: unknown, separator?: string): readonly string[] {
  const parts = typeof value === "string" ? splitText(value, separator) : Array.isArray(value) ? value : [];
  const texts = parts.map((part) => textOf(part)).filter((text) => text !== undefined);
  if (texts.length > MAX_TEXTS) throw refuse("claims");
  return texts;
}

function splitText(text: string, separator: string | undefined): readonly string[] {
  return separator === undefined ? [text] : text.split(separator);
}

/** The highest of those that are claimed; what is no role of ours is none. */
function roleOf(value: unknown): Role | undefined {
  const claimed = Array.isArray(value) ? value : [value];
  return ROLES.findLast((role) => claimed.includes(role));
}
