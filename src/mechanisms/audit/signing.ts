/** The key that blocks and checkpoints are signed with, and those that they are checked against. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFile, makePrivateFolder, replaceFile } from "../../contract/index.ts";

export type Signer = {
  readonly keyId: string;
  /** PEM. */
  readonly publicKey: string;
  /** The key's id, a dot, and Ed25519 as base64url. */
  sign(text: string): string;
};

/** By their ids. */
export type Keyring = ReadonlyMap<string, KeyObject>;

export const KEY_FILE = "audit-key.pem";
const PUBLIC_FILE = "audit-key.pub";

/** What every Ed25519 key begins with in PKCS #8, before its 32 bytes. */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

/** The key of a gateway that runs alone: made with the first start, in its state folder, for its user only. */
export function signerInFolder(folder: string): Signer {
  makePrivateFolder(folder);
  const file = join(folder, KEY_FILE);
  const { privateKey } = generateKeyPairSync("ed25519");
  try {
    makePrivateFile(file, privateKey.export({ type: "pkcs8", format: "pem" }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const signer = signerOf(createPrivateKey(readFileSync(file)));
  replaceFile(join(folder, PUBLIC_FILE), signer.publicKey);
  return signer;
}

/** The key of processes that are one gateway: each makes the same one of what they have in common. */
export function signerOfSecret(secret: string): Signer {
  const seed = Buffer.from(hkdfSync("sha256", secret, "", "isthmus audit", 32));
  return signerOf(createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: "der", type: "pkcs8" }));
}

/** For whoever keeps nothing beyond this process. */
export function passingSigner(): Signer {
  return signerOf(generateKeyPairSync("ed25519").privateKey);
}

function signerOf(privateKey: KeyObject): Signer {
  const publicKey = createPublicKey(privateKey);
  const keyId = keyIdOf(publicKey);
  return {
    keyId,
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
    sign: (text) => `${keyId}.${sign(null, Buffer.from(text, "utf8"), privateKey).toString("base64url")}`,
  };
}

/** Throws where one of them is no public key. */
export function keyringOf(pems: readonly string[]): Keyring {
  return new Map(
    pems.map((pem) => {
      const key = createPublicKey(pem);
      return [keyIdOf(key), key];
    }),
  );
}

export type SignatureFault = "unknown key" | "wrong signature";

/** Undefined: it was signed with one of these keys. */
export function signatureFault(text: string, signature: string, keys: Keyring): SignatureFault | undefined {
  const [keyId = "", value = ""] = signature.split(".");
  const key = keys.get(keyId);
  if (!key) return "unknown key";
  const isRight = verify(null, Buffer.from(text, "utf8"), key, Buffer.from(value, "base64url"));
  return isRight ? undefined : "wrong signature";
}

function keyIdOf(publicKey: KeyObject): string {
  const bytes = publicKey.export({ type: "spki", format: "der" });
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}
