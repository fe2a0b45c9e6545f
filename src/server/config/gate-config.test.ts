import { generateKeyPairSync } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkGate, gateSchema, shapeGate } from "./gate-config.ts";

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const key = publicKey.export({ format: "pem", type: "spki" }).toString();

describe("[gate]", () => {
  test("holds what declares itself, for 45 s and 300 s, until an operator says yes [AX-195]", () => {
    expect(shapeGate(gateSchema.parse({}), "/etc")).toEqual({
      mode: "declared",
      evidence: "operator",
      ask: "url",
      holdMs: 45_000,
      expiryMs: 300_000,
      denialMs: 300_000,
      anchors: [],
    });
  });

  test("wants a signature where somebody is trusted to sign, unless it says otherwise", () => {
    const evidenceOf = (table: object) => shapeGate(gateSchema.parse(table), "/etc").evidence;
    expect(evidenceOf({ anchors: [{ key }] })).toBe("external_proof");
    expect(evidenceOf({ anchors: [{ key }], evidence: "operator" })).toBe("operator");
    expect(evidenceOf({ evidence: "external_proof" })).toBe("external_proof");
  });

  test("looks for files beside the config, or at home", () => {
    const anchors = [{ file: "ops.pub" }, { file: "~/ops.pub" }, { key }];
    const shaped = shapeGate(gateSchema.parse({ anchors }), "/etc/isthmus");
    expect(shaped.anchors.map(({ file }) => file)).toEqual([
      "/etc/isthmus/ops.pub",
      join(homedir(), "ops.pub"),
      undefined,
    ]);
    expect(shaped.anchors[0]).toMatchObject({ type: "operator_signature", holders: [], tenants: [] });
  });

  test.each([
    ["neither key nor file", {}, "expected either `key` or `file`"],
    ["both", { key, file: "x" }, "expected either `key` or `file`"],
    [
      "a private key",
      { key: privateKey.export({ format: "pem", type: "pkcs8" }).toString() },
      "expected a public key, found a private one",
    ],
    ["no key", { key: "hello" }, 'expected a public key: a line "ssh-ed25519 …", PEM, or a JWK'],
  ])("says what is wrong with an anchor that has %s, and nothing of it", (_what, anchor, text) => {
    const [problem] = checkGate(gateSchema.parse({ anchors: [anchor] }));
    expect(problem).toMatchObject({ path: expect.arrayContaining(["gate", "anchors", 0]), text });
  });

  test.each([
    { mode: "gated" },
    { ask: "form" },
    { evidence: "none" },
    { hold: 45 },
    { anchors: [{ type: "password" }] },
    { mod: "open" },
  ])("does not take %j", (table) => {
    expect(gateSchema.safeParse(table).success).toBe(false);
  });
});
