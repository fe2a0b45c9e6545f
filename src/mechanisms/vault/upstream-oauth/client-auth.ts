/** How we prove to an issuer that we are the client it knows. */
import { createPrivateKey, randomUUID, sign } from "node:crypto";
import { OAuthFault } from "./oauth-fault.ts";

export type AuthMethod = "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "none";

/** As which client we speak to one issuer. */
export type OAuthClient = {
  readonly id: string;
  readonly method: AuthMethod;
  readonly secret?: string;
  /** PEM, PKCS 8. */
  readonly privateKey?: string;
};

const ASSERTION_SECONDS = 60;

/** What a request to the token endpoint needs beside its own parameters. Throws OAuthFault. */
export function clientProof(
  { id, method, secret, privateKey }: OAuthClient,
  issuer: string,
): { readonly headers: Record<string, string>; readonly parameters: Record<string, string> } {
  switch (method) {
    case "none":
      return { headers: {}, parameters: { client_id: id } };
    case "client_secret_post":
      return { headers: {}, parameters: { client_id: id, client_secret: needed(secret) } };
    case "client_secret_basic": {
      const pair = `${formEncoded(id)}:${formEncoded(needed(secret))}`;
      return { headers: { Authorization: `Basic ${Buffer.from(pair).toString("base64")}` }, parameters: {} };
    }
    case "private_key_jwt":
      return {
        headers: {},
        parameters: {
          client_id: id,
          client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
          client_assertion: signAssertion(id, issuer, privateKey ?? ""),
        },
      };
  }
}

/** Nothing is sent without it: an issuer may count that as an attack. */
function needed(secret: string | undefined): string {
  if (secret === undefined)
    throw new OAuthFault("[servers.auth] has no clientSecret any more for the issuer of this token.");
  return secret;
}

function formEncoded(text: string): string {
  return new URLSearchParams({ text }).toString().slice("text=".length);
}

/** Throws OAuthFault. */
function signAssertion(clientId: string, issuer: string, pem: string): string {
  const key = readKey(pem);
  const algorithm = ALGORITHMS[key.asymmetricKeyType ?? ""];
  if (!algorithm) throw new OAuthFault("The client's private key is of a kind that cannot sign assertions.");
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: issuer,
    jti: randomUUID(),
    iat: now,
    exp: now + ASSERTION_SECONDS,
  };
  const signed = [{ alg: algorithm.name, typ: "JWT" }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signature = sign(algorithm.digest, Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

const ALGORITHMS: Readonly<Record<string, { readonly name: string; readonly digest: string | null } | undefined>> = {
  ec: { name: "ES256", digest: "sha256" },
  rsa: { name: "RS256", digest: "sha256" },
  ed25519: { name: "EdDSA", digest: null },
};

function readKey(pem: string) {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new OAuthFault("The client's private key is not a PEM that can be read.");
  }
}
