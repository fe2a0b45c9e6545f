/** The key by which a person says yes to calls: their own file, which no gateway reads. */

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";
import { makePrivateFile, makePrivateFolder, replaceFile } from "../../contract/index.ts";
import { sshStrings } from "../../server/proof-format.ts";
import { Ending } from "../ending.ts";
import { PROGRAM } from "../program-name.ts";

export type OperatorKey = { readonly file: string; readonly key: KeyObject };

/** Where it is unless somebody says otherwise. */
export function defaultKeyFile(): string {
  return join(homedir(), ".config", "isthmus", "operator.key");
}

/** Makes a new one, and the public half beside it. A file that is there stays. Throws Ending. */
export function makeOperatorKey(file: string): OperatorKey {
  const { privateKey } = generateKeyPairSync("ed25519");
  try {
    makePrivateFolder(dirname(file));
    makePrivateFile(file, privateKey.export({ format: "pem", type: "pkcs8" }));
    writePublic(file, privateKey);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return readOperatorKey(file);
    throw new Ending("file", [`${file}: cannot be written (${code})`]);
  }
  return { file, key: privateKey };
}

/** For gateways that are told to look at a file. */
function writePublic(file: string, key: KeyObject): void {
  replaceFile(`${file.replace(/\.key$/, "")}.pub`, `${publicLine(key)}\n`, { mode: 0o644 });
}

/** Ours, or an Ed25519 key of OpenSSH without a passphrase. Throws Ending. */
export function readOperatorKey(named: string): OperatorKey {
  const file = resolve(named.replace(/^~(?=\/)/, homedir()));
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const hint = file === defaultKeyFile() ? `; "${PROGRAM} operator init" makes one` : "";
    throw new Ending("file", [`${file}: cannot be read (${(error as NodeJS.ErrnoException).code})${hint}`]);
  }
  refuseOpenToOthers(file);
  try {
    const key = text.includes("OPENSSH PRIVATE KEY") ? fromOpenSsh(text) : createPrivateKey(text);
    if (key.asymmetricKeyType !== "ed25519") throw new Error("expected an Ed25519 key");
    return { file, key };
  } catch (error) {
    const isOurs = error instanceof KeyFault;
    const what = isOurs ? error.message : "expected a private Ed25519 key in PEM or of OpenSSH";
    throw new Ending("file", [`${file}: ${what}`]);
  }
}

/** A key that others can read is not one person's. */
function refuseOpenToOthers(file: string): void {
  if (process.platform === "win32" || (statSync(file).mode & 0o077) === 0) return;
  throw new Ending("file", [`${file}: others can read this key; "chmod 600" it, or make a new one`]);
}

class KeyFault extends Error {}

const MAGIC = Buffer.from("openssh-key-v1\0");
const SEED_BYTES = 32;

function fromOpenSsh(text: string): KeyObject {
  const bytes = Buffer.from(text.replace(/-----[^-]+-----/g, "").replace(/\s/g, ""), "base64");
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new KeyFault("is no key of OpenSSH");
  const [cipher, , options] = sshStrings(bytes.subarray(MAGIC.length));
  if (cipher?.toString() !== "none" || options?.length !== 0) {
    throw new KeyFault(`is protected by a passphrase; use one without, or the key of ${PROGRAM} operator init`);
  }
  // Three strings with their lengths ("none", "none", ""), the number of keys, then the public and the private part.
  const [, secret] = sshStrings(bytes.subarray(MAGIC.length + 20 + 4));
  // Two check numbers stand before the fields of the key.
  const [type, x, pair] = sshStrings(secret?.subarray(8) ?? Buffer.alloc(0));
  if (type?.toString() !== "ssh-ed25519" || !x || !pair) throw new KeyFault("expected an Ed25519 key");
  const d = pair.subarray(0, SEED_BYTES).toString("base64url");
  return createPrivateKey({ key: { kty: "OKP", crv: "Ed25519", x: x.toString("base64url"), d }, format: "jwk" });
}

/** The public half as a line of OpenSSH. */
export function publicLine(key: KeyObject): string {
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  const blob = Buffer.concat([Buffer.from("ssh-ed25519"), Buffer.from(x, "base64url")].map(withLength));
  return `ssh-ed25519 ${blob.toString("base64")} ${operatorName()}`;
}

function withLength(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

export function operatorName(): string {
  return `operator:${userInfo().username}`;
}
