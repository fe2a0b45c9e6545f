import { describe, expect, test } from "vitest";
import type { AuditEvent, Principal, TokenRow } from "../../../contract/index.ts";
import { createMemorySharedState } from "../../../stores/memory/index.ts";
import { HASH, message, revokingProcess } from "./fixtures/revoking-process.ts";
import { caller, NOW, SharedBlocks } from "./fixtures/shared-blocks.ts";
import { ownWords, sharedWords } from "./heard-words.ts";
import { LEAST_LIFE_MS, LONGEST_LIFE_MS, makeBlock } from "./make-block.ts";

const EVE = caller("app", { user: "eve" });
const REFUSED = { code: "NOT_AUTHENTICATED" };

describe("a signed revocation", () => {
  test("that could not be written down is taken when it is sent again, and then no more", async () => {
    const shared = new SharedBlocks();
    const one = await revokingProcess(
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
    const one = await revokingProcess(shared, sharedWords(entries));
    await one.take(message("1"));
    await one.unblock("eve");
    const other = await revokingProcess(shared, sharedWords(entries));
    await expect(other.take(message("1"))).rejects.toMatchObject(REFUSED);
    expect(other.blocks.isRevoked(EVE)).toBeUndefined();
    expect(await other.take(message("2"))).toMatchObject({ status: 201 });
  });
});

describe("a block that the platform has set in a tenant", () => {
  test("is neither removed nor replaced by the tenant's operators, who remove their own", async () => {
    const shared = new SharedBlocks();
    const one = await revokingProcess(
      shared,
      ownWords(() => shared.now),
    );
    const acme = caller("boss", { tenant: "acme" });
    const eve = caller("app", { user: "eve", tenant: "acme" });
    await one.revoke({ type: "user", id: "eve", tenant: "acme" });
    await expect(one.unblock("eve", "acme", acme)).rejects.toMatchObject({ code: "NOT_ALLOWED" });
    await one.revoke({ type: "user", id: "eve" }, acme);
    await one.unblock("eve", "acme", acme);
    expect(one.blocks.isRevoked(eve)).toBeDefined();
    await one.unblock("eve", "acme");
    expect(one.blocks.isRevoked(eve)).toBeUndefined();
  });
});

describe("a block that remembers a revoked token", () => {
  test.each([
    ["operators of its tenant", caller("boss", { tenant: "acme" })],
    ["the platform's", caller("ops")],
  ])("is removed by nobody, neither by its id nor by the hash: %s", async (_who, by) => {
    const shared = new SharedBlocks();
    const one = await revokingProcess(
      shared,
      ownWords(() => NOW),
    );
    const acme = { key: HASH, tenant: "acme", reason: "" };
    const block = makeBlock({ subject: "client", ...acme, source: "token" }, "ops", NOW);
    await one.blocks.put(block, {} as AuditEvent);
    for (const name of [block.id, HASH]) {
      const removed = one.unblock(name, "acme", by);
      await expect(removed).rejects.toMatchObject({
        code: "NOT_ALLOWED",
        message: expect.stringContaining("was revoked"),
      });
    }
    await one.revoke({ type: "client", hash: HASH, tenant: "acme" }, by);
    await one.unblock(HASH, "acme", by);
    expect(one.blocks.list()).toEqual([block]);
  });
});

describe("a block about somebody who made tokens", () => {
  const boss = { id: "token:acme/boss/1", user: "boss", client: "boss-app", groups: [], scopes: [] };
  const told = async (about: Partial<TokenRow>, body: object, by?: Principal) => {
    const one = await revokingProcess(
      new SharedBlocks(),
      ownWords(() => NOW),
      { tenant: "acme", user: "zoe", client: "", makerNames: [boss], ...about },
    );
    const answer = await one.revoke(body, by);
    return (answer?.body as { tokensMade?: number } | undefined)?.tokensMade;
  };
  const blocked = { type: "user", id: "boss", tenant: "acme" };

  test.each<[string, number | undefined, Partial<TokenRow>, object, Principal?]>([
    ["it is about their maker", 1, {}, blocked],
    ["it is about their maker, in part", 1, {}, { ...blocked, server: "pay" }],
    ["it is about their maker, in all tenants", 1, {}, { ...blocked, tenant: "*" }],
    ["it is about whoever has them", 0, { user: "boss" }, blocked],
    ["it is about somebody else", 0, {}, { ...blocked, id: "chief" }],
    ["the platform says it about its own", undefined, {}, { ...blocked, tenant: "default" }],
    ["their own tenant says it", undefined, {}, blocked, caller("ops", { tenant: "acme" })],
    ["it is about everybody", undefined, {}, { type: "everybody", server: "pay", tenant: "acme" }],
  ])("says for how many more tokens it holds, where %s: %j", async (_when, count, about, body, by) => {
    expect(await told(about, body, by)).toBe(count);
  });

  test("holds also where nobody can tell for how many", async () => {
    const shared = new SharedBlocks();
    const one = await revokingProcess(
      shared,
      ownWords(() => NOW),
    );
    const put = one.blocks.put.bind(one.blocks);
    one.blocks.put = async (...given) => {
      await put(...given);
      shared.rows.isAway = true;
    };
    const answer = await one.revoke(blocked);
    expect(answer).toMatchObject({ status: 201 });
    expect(answer?.body).not.toHaveProperty("tokensMade");
  });
});

describe("a block of a token", () => {
  const DAYS = 3 * LEAST_LIFE_MS;
  const untilOf = async (about: Partial<TokenRow>, body: object = {}) => {
    const shared = new SharedBlocks();
    const one = await revokingProcess(
      shared,
      ownWords(() => NOW),
      about,
    );
    await one.revoke({ type: "client", hash: HASH, ...body });
    return (one.blocks.list()[0]?.until ?? 0) - NOW;
  };

  test.each([
    ["the token ends, as its row says", { expiresAt: NOW + DAYS }, {}, DAYS],
    ["a day has passed, where the token ends sooner", { expiresAt: NOW + 1_000 }, {}, LEAST_LIFE_MS],
    ["years have passed, where the token never ends", {}, {}, LONGEST_LIFE_MS],
    ["years have passed, where it is another tenant's", { expiresAt: NOW + DAYS, tenant: "acme" }, {}, LONGEST_LIFE_MS],
    [
      "years have passed, where it is not known here",
      { expiresAt: NOW + DAYS },
      { hash: "b".repeat(64) },
      LONGEST_LIFE_MS,
    ],
    [
      "years have passed, where others may have been made with it",
      { expiresAt: NOW + DAYS, tenant: "acme", role: "admin" },
      { tenant: "acme" },
      LONGEST_LIFE_MS,
    ],
  ] as const)("lives until %s", async (_when, about, body, life) => {
    expect(await untilOf(about, body)).toBe(life);
  });

  test("lives until the operator says", async () => {
    const until = new Date(NOW + DAYS).toISOString();
    expect(await untilOf({}, { until })).toBe(DAYS);
  });
});
