import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { chmodSync, lstatSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readPublicKey } from "../../mechanisms/approvals/index.ts";
import { makeOperatorKey, publicLine, readOperatorKey } from "./operator-key.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-operator-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const text = (value: string | Buffer) => {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

/** As ssh-keygen writes it. */
function openSsh(key: KeyObject, cipher = "none"): string {
  const { x = "", d = "" } = key.export({ format: "jwk" });
  const [open, secret] = [Buffer.from(x, "base64url"), Buffer.from(d, "base64url")];
  const blob = Buffer.concat([text("ssh-ed25519"), text(open)]);
  const check = Buffer.from("0123456701234567", "hex");
  const inner = [check, text("ssh-ed25519"), text(open), text(Buffer.concat([secret, open])), text("alice@desk")];
  const kdf = cipher === "none" ? [text("none"), text("")] : [text("bcrypt"), text("salt and rounds")];
  const parts = [Buffer.from("openssh-key-v1\0"), text(cipher), ...kdf, Buffer.from([0, 0, 0, 1]), text(blob)];
  const whole = Buffer.concat([...parts, text(Buffer.concat([...inner, Buffer.from([1, 2, 3])]))]);
  const lines = whole.toString("base64").replace(/.{70}/g, "$&\n");
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

function put(content: string, mode = 0o600): string {
  const file = join(folder, "key");
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

describe("an operator's key", () => {
  test("is made once, readable by its owner alone, with its public half beside it", () => {
    const file = join(folder, "deep", "operator.key");
    const { key } = makeOperatorKey(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, "deep", "operator.pub"), "utf8")).toBe(`${publicLine(key)}\n`);
    expect(publicLine(makeOperatorKey(file).key)).toBe(publicLine(key));
  });

  test.each(["operator.pub", "operator.key"])("is written to nothing that a link in place of %s leads to", (name) => {
    const theirs = join(folder, "theirs");
    writeFileSync(theirs, "theirs", { mode: 0o600 });
    symlinkSync(theirs, join(folder, name));
    const make = () => makeOperatorKey(join(folder, "operator.key"));
    if (name === "operator.key") expect(make).toThrow(/expected a private Ed25519 key/);
    else {
      const { key } = make();
      expect(readFileSync(join(folder, name), "utf8")).toBe(`${publicLine(key)}\n`);
      expect(lstatSync(join(folder, name)).mode).toBe(0o100644);
    }
    expect(readFileSync(theirs, "utf8")).toBe("theirs");
    expect(statSync(theirs).mode).toBe(0o100600);
  });

  test("of OpenSSH signs what its public line verifies", () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const { key } = readOperatorKey(put(openSsh(privateKey)));
    const data = Buffer.from("yes");
    expect(verify(null, data, createPublicKey(privateKey), sign(null, data, key))).toBe(true);
    expect(verify(null, data, readPublicKey(publicLine(key)).key, sign(null, data, key))).toBe(true);
  });

  test.each([
    [
      "is protected by a passphrase",
      () => openSsh(generateKeyPairSync("ed25519").privateKey, "aes256-ctr"),
      /passphrase/,
    ],
    ["is no key", () => "hello", /expected a private Ed25519 key/],
    ["is cut short", () => openSsh(generateKeyPairSync("ed25519").privateKey).slice(0, 120), /expected|passphrase/],
    ["is of another kind", () => pem(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey), /Ed25519/],
  ])("is refused when it %s", (_what, content, reason) => {
    expect(() => readOperatorKey(put(content()))).toThrow(reason);
  });

  test("is refused when others can read it", () => {
    const file = put(pem(generateKeyPairSync("ed25519").privateKey), 0o640);
    expect(() => readOperatorKey(file)).toThrow(/others can read/);
  });
});

describe("a public key", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");

  test("is understood as PEM, as a JWK and as a line of OpenSSH, and is the same", () => {
    const forms = [
      publicKey.export({ format: "pem", type: "spki" }).toString(),
      JSON.stringify(publicKey.export({ format: "jwk" })),
      publicLine(privateKey),
    ];
    expect(new Set(forms.map((form) => readPublicKey(form).thumbprint)).size).toBe(1);
  });

  test.each([
    ["a private key", pem(privateKey)],
    ["a private JWK", JSON.stringify(privateKey.export({ format: "jwk" }))],
    [
      "an RSA key",
      generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "pem", type: "spki" }).toString(),
    ],
    [
      "a P-384 key",
      generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey.export({ format: "pem", type: "spki" }).toString(),
    ],
    ["half a line", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA"],
    ["a line of another kind", "ssh-ed25519 AAAAB3NzaC1yc2EAAAADAQABAAAAgQ=="],
    ["an empty text", ""],
  ])("is not %s, and no message shows any of it", (_what, written) => {
    let message = "";
    try {
      readPublicKey(written);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toMatch(/^expected /);
    expect(message).not.toContain(written.slice(30, 60) || "never");
  });
});

function pem(key: KeyObject): string {
  return createPrivateKey(key.export({ format: "pem", type: "pkcs8" }))
    .export({ format: "pem", type: "pkcs8" })
    .toString();
}
