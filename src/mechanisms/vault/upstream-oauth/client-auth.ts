/** How we prove to an issuer that we are the client it knows. */
import { createPrivateKey, type KeyObject } from "node:crypto";
import type { ClientAuth } from "oauth4webapi";
import type { OAuthLibrary } from "./issuer-request.ts";
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

/** Throws OAuthFault, and nothing is sent: an issuer may count a request without proof as an attack. */
export function clientAuth(oauth: OAuthLibrary, { method, secret, privateKey }: OAuthClient): ClientAuth {
  switch (method) {
    case "none":
      return oauth.None();
    case "client_secret_post":
      return oauth.ClientSecretPost(needed(secret));
    case "client_secret_basic":
      return basic(needed(secret));
    case "private_key_jwt": {
      const { key, name } = readKey(privateKey ?? "");
      return oauth.PrivateKeyJwt(key, {
        // Issuers know this key's algorithm by its older name.
        [oauth.modifyAssertion]: (header) => Object.assign(header, { typ: "JWT", alg: name ?? header.alg }),
      });
    }
  }
}

/**
 * Not the library's own: servers on the Python SDK look the client up by `client_id` in the body before they read the header,
 * and there are servers that do not decode it, for which an id with a dash must stay as it is.
 */
function basic(secret: string): ClientAuth {
  return (_issuer, { client_id: id }, body, headers) => {
    const pair = `${formEncoded(id)}:${formEncoded(secret)}`;
    headers.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
    body.set("client_id", id);
  };
}

function needed(secret: string | undefined): string {
  if (secret === undefined)
    throw new OAuthFault("[servers.auth] has no clientSecret any more for the issuer of this token.");
  return secret;
}

function formEncoded(text: string): string {
  return new URLSearchParams({ text }).toString().slice("text=".length);
}

/** `name`: of the algorithm, where issuers do not take the library's. */
type SigningKey = { readonly key: ReturnType<KeyObject["toCryptoKey"]>; readonly name?: string };

/** Throws OAuthFault. */
function readKey(pem: string): SigningKey {
  const key = parsed(pem);
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === "rsa") return { key: key.toCryptoKey({ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, false, ["sign"]) };
  if (type === "ed25519") return { key: key.toCryptoKey("Ed25519", false, ["sign"]), name: "EdDSA" };
  const namedCurve = CURVES[details?.namedCurve ?? ""];
  if (type === "ec" && namedCurve) return { key: key.toCryptoKey({ name: "ECDSA", namedCurve }, false, ["sign"]) };
  throw new OAuthFault("The client's private key is of a kind that cannot sign assertions.");
}

const CURVES: Readonly<Record<string, string | undefined>> = {
  prime256v1: "P-256",
  secp384r1: "P-384",
  secp521r1: "P-521",
};

function parsed(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new OAuthFault("The client's private key is not a PEM that can be read.");
  }
}
