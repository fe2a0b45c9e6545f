/** What can be made of a token that a real issuer gave out. None is let in, and each leaves a record. */
import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { post, toolCall } from "../kit/rpc.ts";
import { IssuerRig } from "./issuer-rig.ts";

const own = generateKeyPairSync("rsa", { modulusLength: 2048 });

let rig: IssuerRig;
let token = "";
let published: KeyObject;
let poisoned: Server;
let asked = 0;

beforeAll(async () => {
  rig = await IssuerRig.start();
  token = await rig.tokenFor("/hello/mcp");
  const { keys } = (await (await fetch(`${rig.issuer.issuer}/jwks`)).json()) as { keys: JsonWebKey[] };
  published = createPublicKey({ key: keys[0] as JsonWebKey, format: "jwk" });
  // Would have the attacker's key under the issuer's name.
  poisoned = createServer((_request, response) => {
    asked++;
    const key = { ...own.publicKey.export({ format: "jwk" }), kid: "one", use: "sig", alg: "RS256" };
    response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: [key] }));
  });
  await new Promise<void>((resolve) => poisoned.listen({ host: "127.0.0.1", port: 0 }, resolve));
}, 60_000);
afterAll(async () => {
  await rig[Symbol.asyncDispose]();
  poisoned.close();
});

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const header = () => JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString());
const claims = () => JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());

/** By the attacker's own key. */
function forged(more: object, change: object = {}): string {
  const text = `${part({ ...header(), ...more })}.${part({ ...claims(), ...change })}`;
  return `${text}.${sign("sha256", Buffer.from(text), own.privateKey).toString("base64url")}`;
}

function withSharedKey(): string {
  const text = `${part({ ...header(), alg: "HS256" })}.${part(claims())}`;
  const secret = published.export({ format: "pem", type: "spki" });
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

const call = (path: string, shown: string) =>
  post(rig.origin + path, toolCall(1, "greet", { name: "Ada" }), { authorization: `Bearer ${shown}` });

describe("a token that the issuer gave out", () => {
  test("is good where it is for", async () => {
    expect((await call("/hello/mcp", token)).status).toBe(200);
  });

  test.each<[string, string, () => string, string?]>([
    ["at another endpoint", "audience", () => token, "/mcp"],
    ["with another subject under its signature", "signature", () => changed({ sub: "root" })],
    ["with a later end under its signature", "signature", () => changed({ exp: claims().exp + 86_400 })],
    ["with another audience under its signature", "signature", () => changed({ aud: `${rig.origin}/mcp` }), "/mcp"],
    ["without a signature", "algorithm", () => `${part({ alg: "none" })}.${part(claims())}.`],
    ["signed with the issuer's public key as a secret", "algorithm", withSharedKey],
    ["signed by somebody else under the issuer's key id", "signature", () => forged({})],
    ["signed by somebody else under another key id", "key", () => forged({ kid: "two" })],
    ["with a key that it brings", "header", () => forged({ jwk: own.publicKey.export({ format: "jwk" }) })],
    ["with a key that it says where to find", "header", () => forged({ jku: elsewhere() })],
    ["with a certificate that it says where to find", "header", () => forged({ x5u: elsewhere() })],
    ["of an issuer that somebody else runs", "issuer", () => forged({}, { iss: elsewhere() })],
    ["of the issuer under another spelling", "issuer", () => forged({}, { iss: `${rig.issuer.issuer}/` })],
  ])("is refused %s (%s)", async (_what, why, make, path = "/hello/mcp") => {
    const shown = make();
    const trace = { type: "dev.isthmus.authentication_failed", why, actor: "unknown", details: { path } };
    const refused = await rig.trail.attack(() => call(path, shown), trace, [shown]);
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toContain('error="invalid_token"');
    expect(asked).toBe(0);
    expect(rig.log).not.toContain(shown.split(".")[2] || "nothing");
  });
});

function changed(change: object): string {
  const [first, , last] = token.split(".");
  return [first, part({ ...claims(), ...change }), last].join(".");
}

function elsewhere(): string {
  return `http://127.0.0.1:${(poisoned.address() as AddressInfo).port}`;
}
