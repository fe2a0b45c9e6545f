/** Public keys as people have them: a line of OpenSSH, PEM, or a JWK. */
import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";

/** Signatures are Ed25519 or ECDSA over P-256: `alg` is what a proof by this key must say. */
export type TrustedKey = {
  readonly key: KeyObject;
  readonly alg: "EdDSA" | "ES256";
  /** SHA-256 of the key as a JWK (RFC 7638), as base64url. */
  readonly thumbprint: string;
};

/** Throws an Error that says what is wrong, and never holds the key. */
export function readPublicKey(text: string): TrustedKey {
  const written = text.trim();
  const key = written.startsWith("ssh-ed25519 ") ? sshKey(written) : parsedKey(written);
  const jwk = key.export({ format: "jwk" });
  if (jwk.kty === "OKP" && jwk.crv === "Ed25519") return { key, alg: "EdDSA", thumbprint: thumbprintOf(jwk) };
  if (jwk.kty === "EC" && jwk.crv === "P-256") return { key, alg: "ES256", thumbprint: thumbprintOf(jwk) };
  throw new Error("expected an Ed25519 or a P-256 key");
}

function parsedKey(text: string): KeyObject {
  if (text.includes("PRIVATE KEY")) throw new Error("expected a public key, found a private one");
  try {
    if (!text.startsWith("{")) return createPublicKey(text);
    const jwk = JSON.parse(text) as Record<string, unknown>;
    if ("d" in jwk) throw new Error("private");
    return createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    throw new Error('expected a public key: a line "ssh-ed25519 …", PEM, or a JWK');
  }
}

const SSH_TYPE = "ssh-ed25519";
const ED25519_BYTES = 32;

function sshKey(line: string): KeyObject {
  const blob = Buffer.from(line.split(/\s+/)[1] ?? "", "base64");
  const [type, key] = sshStrings(blob);
  if (type?.toString() !== SSH_TYPE || key?.length !== ED25519_BYTES) {
    throw new Error('expected a whole line "ssh-ed25519 AAAA… comment"');
  }
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: key.toString("base64url") }, format: "jwk" });
}

/** The strings of OpenSSH's wire format: each with its length before it. Stops at what does not fit. */
export function sshStrings(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let at = 0;
  while (at + 4 <= bytes.length) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) break;
    found.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return found;
}

function thumbprintOf({ crv, kty, x, y }: JsonWebKey): string {
  const members = kty === "EC" ? { crv, kty, x, y } : { crv, kty, x };
  return createHash("sha256").update(JSON.stringify(members)).digest("base64url");
}
