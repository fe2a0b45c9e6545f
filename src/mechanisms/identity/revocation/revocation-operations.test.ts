import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { TokenRow } from "../../../contract/index.ts";
import { createMemorySharedState } from "../../../stores/memory/index.ts";
import { caller, NOW, SharedBlocks } from "./fixtures/shared-blocks.ts";
import { type HeardWords, ownWords, sharedWords } from "./heard-words.ts";
import { LEAST_LIFE_MS, LONGEST_LIFE_MS } from "./make-block.ts";
import { revocationOperations } from "./revocation-operations.ts";
import { SignedRevocations } from "./signed-revocation.ts";

const KEYS = generateKeyPairSync("ed25519");
const FEED = { id: "hub", keys: [KEYS.publicKey], tenants: ["default"] };
const HASH = "a".repeat(64);

/** What one process of the gateway does with a request. */
async function process(shared: SharedBlocks, heard: HeardWords, expiresAt?: number, tenant = "default") {
  const blocks = await shared.process();
  const now = () => shared.now;
  const row: Partial<TokenRow> = { hash: HASH, tenant, expiresAt };
  const operations = revocationOperations({
    blocks,
    now,
    signed: new SignedRevocations(now, heard),
    feeds: () => [FEED],
    trail: () => ({ note: () => undefined, commit: async () => true }),
    tokens: { find: async (hash) => (hash === row.hash ? (row as TokenRow) : undefined) },
  });
  const run = async (id: string, input: object) => {
    const found = operations.find((one) => one.id === id);
    return await found?.run(input as never, { principal: caller("ops") });
  };
  return {
    blocks,
    revoke: (body: object) => run("revocations.add", { body: { reason: "", ...body } }),
    take: (jws: string) => run("revocations.addSigned", { body: { jws } }),
    unblock: (hash: string) => run("blocks.remove", { orgId: "default", hash }),
  };
}

function message(jti: string): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { type: "user", id: "eve", jti, iat: NOW / 1000 };
  const text = `${encode({ typ: "isthmus-revocation+jwt", alg: "EdDSA" })}.${encode(claims)}`;
  return `${text}.${sign(null, Buffer.from(text), KEYS.privateKey).toString("base64url")}`;
}

const EVE = caller("app", { user: "eve" });
const REFUSED = { code: "NOT_AUTHENTICATED" };

describe("a signed revocation", () => {
  test("that could not be written down is taken when it is sent again, and then no more", async () => {
    const shared = new SharedBlocks();
    const one = await process(
      shared,
      ownWords(() => shared.now),
    );
    shared.rows.isAway = true;
    await expect(one.take(message("1"))).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    shared.rows.isAway = false;
    expect(await one.take(message("1"))).toMatchObject({ status: 201 });
    expect(one.blocks.isRevoked(EVE)).toBeDefined();
    await expect(one.take(message("1"))).rejects.toMatchObject(REFUSED);
  });

  test("does not undo what an operator has unblocked, at another process or after a start", async () => {
    const shared = new SharedBlocks();
    const { entries } = createMemorySharedState({ clock: shared.time });
    const one = await process(shared, sharedWords(entries));
    await one.take(message("1"));
    await one.unblock("eve");
    const other = await process(shared, sharedWords(entries));
    await expect(other.take(message("1"))).rejects.toMatchObject(REFUSED);
    expect(other.blocks.isRevoked(EVE)).toBeUndefined();
    expect(await other.take(message("2"))).toMatchObject({ status: 201 });
  });
});

describe("a block of a token", () => {
  const DAYS = 3 * LEAST_LIFE_MS;
  const untilOf = async (expiresAt: number | undefined, tenant?: string, body: object = {}) => {
    const shared = new SharedBlocks();
    const one = await process(
      shared,
      ownWords(() => NOW),
      expiresAt,
      tenant,
    );
    await one.revoke({ type: "client", hash: HASH, ...body });
    return (one.blocks.list()[0]?.until ?? 0) - NOW;
  };

  test.each([
    ["the token ends, as its row says", NOW + DAYS, "default", {}, DAYS],
    ["a day has passed, where the token ends sooner", NOW + 1_000, "default", {}, LEAST_LIFE_MS],
    ["years have passed, where the token never ends", undefined, "default", {}, LONGEST_LIFE_MS],
    ["years have passed, where the token is another tenant's", NOW + DAYS, "acme", {}, LONGEST_LIFE_MS],
    ["years have passed, where it is not known here", NOW + DAYS, "default", { hash: "b".repeat(64) }, LONGEST_LIFE_MS],
  ])("lives until %s", async (_when, expiresAt, tenant, body, life) => {
    expect(await untilOf(expiresAt, tenant, body)).toBe(life);
  });

  test("lives until the operator says", async () => {
    const until = new Date(NOW + DAYS).toISOString();
    expect(await untilOf(undefined, "default", { until })).toBe(DAYS);
  });
});
