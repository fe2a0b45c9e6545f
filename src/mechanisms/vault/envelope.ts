/** Envelopes: a text under a data key of its own, which a key provider wraps. What is bound to it is not in it. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { KeyProvider } from "../../contract/index.ts";

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export type Envelope = {
  readonly ciphertext: string;
  readonly wrappedKey: string;
  readonly nonce: string;
  readonly keyId: string;
};

/** `bound`: must be the same when it is opened. */
export async function sealEnvelope(keys: KeyProvider, text: string, bound: string): Promise<Envelope> {
  const [dataKey, nonce] = [randomBytes(KEY_BYTES), randomBytes(NONCE_BYTES)];
  const { keyId, wrapped } = await keys.wrap(dataKey);
  const cipher = createCipheriv("aes-256-gcm", dataKey, nonce).setAAD(boundTo(keyId, bound));
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return {
    ciphertext: sealed.toString("base64url"),
    wrappedKey: wrapped,
    nonce: nonce.toString("base64url"),
    keyId,
  };
}

/** Undefined: it was changed, is bound to something else, or its key is gone. */
export async function openEnvelope(keys: KeyProvider, envelope: Envelope, bound: string): Promise<string | undefined> {
  const dataKey = await keys.unwrap(envelope.keyId, envelope.wrappedKey);
  const sealed = Buffer.from(envelope.ciphertext, "base64url");
  const nonce = Buffer.from(envelope.nonce, "base64url");
  const end = sealed.length - TAG_BYTES;
  if (dataKey?.length !== KEY_BYTES || nonce.length !== NONCE_BYTES || end < 0) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", dataKey, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(boundTo(envelope.keyId, bound)).setAuthTag(sealed.subarray(end));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}

function boundTo(keyId: string, bound: string): Buffer {
  return Buffer.from(JSON.stringify([keyId, bound]), "utf8");
}
