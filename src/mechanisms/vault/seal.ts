/**
 * Seals small texts that travel through clients: `"k" + keyId + "." + base64url(nonce, cipher, tag)`, AES-256-GCM.
 * Purpose and owner are bound to the text without being in it.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { GatewayError, type Keys } from "../../contract/index.ts";

const INFO = "isthmus mrtr 1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MIN_MASTER_BYTES = 32;
/** Nothing that we seal comes near this; a longer text is not ours. */
const MAX_SEALED = 128 * 1024;

export type SealOptions = {
  /** At least 32 bytes. Unset: random, so that what was sealed opens only until the process ends. */
  readonly master?: Uint8Array;
  /** A former master, whose seals still open while it is being replaced. */
  readonly former?: Uint8Array;
};

type SealKey = { readonly id: string; readonly bytes: Buffer };

/** Throws BAD_CALL when a master is too short. */
export function createSeal(options: SealOptions = {}): Keys {
  const current = keyOf(options.master ?? randomBytes(MIN_MASTER_BYTES));
  const known = options.former ? [current, keyOf(options.former)] : [current];
  return {
    seal(purpose, owner, text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", current.bytes, nonce).setAAD(boundTo(purpose, owner));
      const parts = [nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
      return `k${current.id}.${Buffer.concat(parts).toString("base64url")}`;
    },
    open(purpose, owner, sealed) {
      const match = sealed.length > MAX_SEALED ? null : /^k([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/.exec(sealed);
      const key = match && known.find(({ id }) => id === match[1]);
      if (!match || !key) return undefined;
      const bytes = Buffer.from(match[2] as string, "base64url");
      // Base64 has several spellings of the same bytes; only ours is what was sealed.
      if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString("base64url") !== match[2]) return undefined;
      return decipher(key, boundTo(purpose, owner), bytes);
    },
  };
}

function decipher(key: SealKey, bound: Buffer, bytes: Buffer): string | undefined {
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const end = bytes.length - TAG_BYTES;
  const opened = createDecipheriv("aes-256-gcm", key.bytes, nonce, { authTagLength: TAG_BYTES });
  opened.setAAD(bound).setAuthTag(bytes.subarray(end));
  try {
    return Buffer.concat([opened.update(bytes.subarray(NONCE_BYTES, end)), opened.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}

function keyOf(master: Uint8Array): SealKey {
  if (master.length < MIN_MASTER_BYTES) {
    throw new GatewayError("BAD_CALL", { message: `A seal key needs at least ${MIN_MASTER_BYTES} bytes.` });
  }
  const bytes = Buffer.from(hkdfSync("sha256", master, Buffer.alloc(0), INFO, 32));
  return { id: createHash("sha256").update(bytes).digest("hex").slice(0, 8), bytes };
}

function boundTo(purpose: string, owner: string): Buffer {
  return Buffer.from(`${purpose}\0${owner}`, "utf8");
}
