import { GatewayError } from "../../contract/index.ts";

/** Why somebody is not known: what they are told, and which error of RFC 6750 it is. Never holds anything that they sent. */
export const REFUSALS = {
  missing: { message: "Credentials are needed: send Authorization: Bearer with a token.", error: undefined },
  scheme: { message: "Only bearer tokens are accepted in the Authorization header.", error: "invalid_request" },
  malformed: { message: "The bearer token is malformed.", error: "invalid_request" },
  query: {
    message:
      "A token in the URL is refused: it would be kept in logs. Send it as Authorization: Bearer, and replace it.",
    error: "invalid_request",
  },
  unknown: { message: "The token is not known, or was revoked.", error: "invalid_token" },
  expired: { message: "The token has expired.", error: "invalid_token" },
  early: { message: "The token is not valid yet.", error: "invalid_token" },
  issuer: { message: "The token is of an issuer that is not accepted here.", error: "invalid_token" },
  audience: { message: "The token is not for this resource.", error: "invalid_token" },
  algorithm: { message: "The token is signed in a way that is not accepted.", error: "invalid_token" },
  header: { message: "The token brings its own key, or demands what is not understood.", error: "invalid_token" },
  key: {
    message: "The token is signed with a key that its issuer does not publish, or that is too weak.",
    error: "invalid_token",
  },
  signature: { message: "The signature of the token is wrong.", error: "invalid_token" },
  claims: {
    message: "The token does not say who it is for, or says it in a way that is not accepted.",
    error: "invalid_token",
  },
  certificate: { message: "The client certificate is not accepted.", error: "invalid_token" },
  revoked: { message: "The caller is blocked.", error: "invalid_token" },
} as const satisfies Record<string, { message: string; error: string | undefined }>;

export type Refusal = keyof typeof REFUSALS;

export function refuse(reason: Refusal, cause?: unknown): GatewayError {
  return new GatewayError("NOT_AUTHENTICATED", { message: REFUSALS[reason].message, details: { reason }, cause });
}

export function refusalOf({ code, details }: GatewayError): Refusal | undefined {
  const { reason } = details;
  return code === "NOT_AUTHENTICATED" && typeof reason === "string" && Object.hasOwn(REFUSALS, reason)
    ? (reason as Refusal)
    : undefined;
}

/** The caller is known, but must come with more scopes than it has: it is told which, and may ask its issuer for them. */
export function scopesMissing(scopes: readonly string[]): GatewayError {
  return new GatewayError("NOT_ALLOWED", { message: "The token lacks a scope that this needs.", details: { scopes } });
}

/** Those that somebody lacks, as far as they are scopes of RFC 6749: they stand in a quoted string. */
export function scopesIn({ code, details: { scopes } }: GatewayError): readonly string[] {
  if (code !== "NOT_ALLOWED" || !Array.isArray(scopes)) return [];
  return scopes.filter((scope) => typeof scope === "string" && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
}
