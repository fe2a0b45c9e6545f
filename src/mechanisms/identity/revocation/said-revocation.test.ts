import { describe, expect, test } from "vitest";
import { makeToken, tokenHash } from "../static-token.ts";
import { HASH, message, revokingProcess } from "./fixtures/revoking-process.ts";
import { SharedBlocks } from "./fixtures/shared-blocks.ts";
import { ownWords } from "./heard-words.ts";

const TOKEN = makeToken();
const JWT = `eyJhbGciOiJFUzI1NiJ9.${Buffer.from('{"sub":"eve"}').toString("base64url")}.c2lnbmF0dXJl`;

async function rig() {
  const shared = new SharedBlocks();
  const one = await revokingProcess(
    shared,
    ownWords(() => shared.now),
  );
  const kept = () => JSON.stringify([one.blocks.list(), shared.events, one.log.lines]);
  return { ...one, kept, said: () => one.blocks.list().map(({ subject, key }) => [subject, key]) };
}

describe("a revocation by an operator", () => {
  test.each<[string, object]>([
    ["a token for the hash of a client", { type: "client", hash: TOKEN }],
    ["a token for the hash of a server's", { type: "downstream", hash: TOKEN }],
    ["a token of an issuer", { type: "client", hash: JWT }],
    ["a token as headers have it", { type: "client", hash: `Bearer ${TOKEN}` }],
    ["a token for a client's name", { type: "client", id: TOKEN }],
    ["a token for a user", { type: "user", id: TOKEN }],
    ["a token for a principal", { type: "principal", id: ` Bearer ${TOKEN}` }],
    ["half a hash", { type: "client", hash: HASH.slice(1) }],
    ["a client's name for a hash", { type: "client", hash: "blo-app" }],
    ["hash and name", { type: "client", hash: HASH, id: "blo-app" }],
  ])("is refused with what to write, and nothing of it is kept or given back: %s", async (_what, body) => {
    const one = await rig();
    const refused = await one.revoke(body).then(
      () => undefined,
      (error: unknown) => error as { code: string; message: string; details: object },
    );
    expect(refused).toMatchObject({
      code: "BAD_CALL",
      message: expect.stringMatching(/64 digits in hex|as `hash`|one of/),
    });
    const told = JSON.stringify([refused?.message, refused?.details, one.kept()]);
    for (const secret of [TOKEN, JWT]) expect(told).not.toContain(secret);
    expect(one.blocks.list()).toEqual([]);
  });

  test.each<[string, object, [string, string]]>([
    ["in capitals", { type: "client", hash: HASH.toUpperCase() }, ["client", HASH]],
    ["behind its method", { type: "client", hash: `sha256:${HASH}` }, ["client", HASH]],
    [
      "behind its method, in capitals",
      { type: "downstream", hash: `SHA256:${HASH.toUpperCase()}` },
      ["upstream", HASH],
    ],
    ["for a client's name", { type: "client", id: HASH.toUpperCase() }, ["client", HASH]],
  ])("takes a hash %s for the hash that it is, also to remove it", async (_how, body, block) => {
    const one = await rig();
    await one.revoke(body);
    expect(one.said()).toEqual([block]);
    await one.unblock(HASH.toUpperCase());
    expect(one.blocks.list()).toEqual([]);
  });

  test("names a client by its id, and anybody whose name looks like a secret", async () => {
    const one = await rig();
    await one.revoke({ type: "client", id: "blo-app" });
    await one.revoke({ type: "user", id: "sk-platform-engineers" });
    expect(one.said()).toEqual([
      ["client", "blo-app"],
      ["user", "sk-platform-engineers"],
    ]);
  });

  test("holds where its reason has a token, which is not kept", async () => {
    const one = await rig();
    await one.revoke({ type: "user", id: "eve", reason: `${TOKEN} was in a log` });
    expect(one.blocks.list()).toMatchObject([{ key: "eve", reason: "[redacted]" }]);
    expect(one.kept()).not.toContain(TOKEN);
  });
});

describe("a signed revocation", () => {
  test.each<[string, object, [string, string]]>([
    ["a token for its hash", { type: "client", hash: TOKEN }, ["client", tokenHash(TOKEN)]],
    ["a token as headers have it", { type: "client", hash: `Bearer ${TOKEN}` }, ["client", tokenHash(TOKEN)]],
    ["a token of an issuer for its hash", { type: "client", hash: JWT }, ["client", tokenHash(JWT)]],
    ["a token of a server for its hash", { type: "downstream", hash: "opaque" }, ["upstream", tokenHash("opaque")]],
    ["a token for a user", { type: "user", id: TOKEN }, ["client", tokenHash(TOKEN)]],
    ["a client's name for a hash", { type: "client", hash: "blo-app" }, ["client", "blo-app"]],
  ])("holds as it is meant, and the log says so: %s", async (_what, said, block) => {
    const one = await rig();
    expect(await one.take(message("1", said))).toMatchObject({ status: 201 });
    expect(one.said()).toEqual([block]);
    expect(one.log.lines).toMatchObject([{ level: "warn", fields: { feed: "hub" } }]);
    for (const secret of [TOKEN, JWT]) expect(one.kept()).not.toContain(secret);
  });

  test.each([HASH.toUpperCase(), `sha256:${HASH}`])("takes %s for the hash that it is", async (hash) => {
    const one = await rig();
    await one.take(message("1", { type: "client", hash }));
    expect(one.said()).toEqual([["client", HASH]]);
    expect(one.log.lines).toEqual([]);
  });
});
