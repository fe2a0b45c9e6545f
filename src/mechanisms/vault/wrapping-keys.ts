/** A key provider over keys that we have ourselves: the newest wraps, the others only unwrap. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import type { KeyProvider } from "../../contract/index.ts";

const INFO = "isthmus vault 1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

type WrappingKey = { readonly id: string; readonly bytes: Buffer };

/** `secrets`: the newest first, each at least 32 bytes. */
export function wrappingKeys(secrets: readonly [Uint8Array, ...Uint8Array[]]): KeyProvider {
  const [newest, ...older] = secrets.map(keyOf) as [WrappingKey, ...WrappingKey[]];
  const known = new Map([newest, ...older].map((key) => [key.id, key]));
  return {
    id: newest.id,
    async wrap(dataKey) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", newest.bytes, nonce).setAAD(Buffer.from(newest.id));
      const parts = [nonce, cipher.update(dataKey), cipher.final(), cipher.getAuthTag()];
      return { keyId: newest.id, wrapped: Buffer.concat(parts).toString("base64url") };
    },
    async unwrap(keyId, wrapped) {
      const key = known.get(keyId);
      return key && decipher(key, Buffer.from(wrapped, "base64url"));
    },
  };
}

/** For a gateway that remembers nothing: what it wraps opens until the process ends. */
export function fleetingKeys(): KeyProvider {
  return wrappingKeys([randomBytes(32)]);
}

function decipher({ id, bytes }: WrappingKey, wrapped: Buffer): Uint8Array | undefined {
  const end = wrapped.length - TAG_BYTES;
  if (end < NONCE_BYTES) return undefined;
  const nonce = wrapped.subarray(0, NONCE_BYTES);
  const opened = createDecipheriv("aes-256-gcm", bytes, nonce, { authTagLength: TAG_BYTES });
  opened.setAAD(Buffer.from(id)).setAuthTag(wrapped.subarray(end));
  try {
    return Buffer.concat([opened.update(wrapped.subarray(NONCE_BYTES, end)), opened.final()]);
  } catch {
    return undefined;
  }
}

function keyOf(secret: Uint8Array): WrappingKey {
  const bytes = Buffer.from(hkdfSync("sha256", secret, Buffer.alloc(0), INFO, 32));
  return { id: `local:${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}`, bytes };
}
