import { describe, expect, test } from "vitest";
import { flush } from "../../../../tests/kit/test-kernel.ts";
import { caller, EVENT, NOW, SharedBlocks } from "./fixtures/shared-blocks.ts";
import { LEAST_LIFE_MS, LONGEST_LIFE_MS, makeBlock } from "./make-block.ts";

const revoked = (key: string, more: Partial<Parameters<typeof makeBlock>[0]> = {}) =>
  makeBlock({ subject: "client", key, reason: "lost", ...more }, "ops", NOW);

describe("a block", () => {
  test("lives until its token is over, and at least a day [AP-142]", () => {
    expect(revoked("a", { until: NOW + 1_000 }).until).toBe(NOW + LEAST_LIFE_MS);
    expect(revoked("a", { until: NOW + 3 * LEAST_LIFE_MS }).until).toBe(NOW + 3 * LEAST_LIFE_MS);
  });

  test.each(["client", "user", "principal", "upstream", "everybody"] as const)(
    "(%s) lives for years where nobody said when it ends",
    (subject) => expect(revoked("a", { subject }).until).toBe(NOW + LONGEST_LIFE_MS),
  );

  test("of the same subject and scope is the same one, and of another scope another", () => {
    expect(revoked("a", { reason: "again" }).id).toBe(revoked("a").id);
    expect(revoked("a", { server: "s" }).id).not.toBe(revoked("a").id);
    expect(revoked("a", { subject: "user" }).id).not.toBe(revoked("a").id);
  });
});

describe("the block list", () => {
  test("keeps a revoked client out everywhere, and nobody else", async () => {
    const list = await new SharedBlocks().process();
    await list.put(revoked("a"), EVENT);
    expect(list.isRevoked(caller("a"))).toMatchObject({ reason: "lost" });
    expect(list.isBlocked(caller("a"), "files", "mcp", "read")).toBeDefined();
    expect(list.isRevoked(caller("b"))).toBeUndefined();
  });

  test("keeps out who comes with one token of a client, and not who comes with another of its tokens", async () => {
    const list = await new SharedBlocks().process();
    await list.put(revoked("h1"), EVENT);
    const bearer = (tokenHash: string) => {
      const { id, identity } = caller("app");
      return { id, ...(identity && { identity: { ...identity, tokenHash } }) };
    };
    expect(list.isRevoked(bearer("h1"))).toBeDefined();
    expect(list.of(bearer("h1"))).toHaveLength(1);
    expect(list.isRevoked(bearer("h2"))).toBeUndefined();
  });

  test("keeps to its tenant, server, protocol and primitive", async () => {
    const list = await new SharedBlocks().process();
    const scope = { tenant: "t", server: "files", protocol: "mcp", primitive: "read" };
    await list.put(revoked("", { subject: "everybody", ...scope }), EVENT);
    const one = caller("a", { tenant: "t" });
    expect(list.isBlocked(one, "files", "mcp", "read")).toBeDefined();
    expect(list.isBlocked(one, "files", "mcp", "write")).toBeUndefined();
    expect(list.isBlocked(one, "files", "a2a", "read")).toBeUndefined();
    expect(list.isBlocked(one, "other", "mcp", "read")).toBeUndefined();
    expect(list.isBlocked(caller("a", { tenant: "u" }), "files", "mcp", "read")).toBeUndefined();
    expect(list.isRevoked(one)).toBeUndefined();
  });

  test("is about users, principals and upstream tokens, too, and never about a program without a user", async () => {
    const list = await new SharedBlocks().process();
    await list.put(revoked("eve", { subject: "user" }), EVENT);
    await list.put(revoked("", { subject: "user" }), EVENT);
    await list.put(revoked("token:default/u/z", { subject: "principal" }), EVENT);
    await list.put(revoked("h", { subject: "upstream" }), EVENT);
    expect(list.isRevoked(caller("a", { user: "eve" }))).toBeDefined();
    expect(list.isRevoked(caller("a", { user: "" }))).toBeUndefined();
    expect(list.isRevoked(caller("z"))).toBeDefined();
    expect([list.isUpstreamRevoked("h"), list.isUpstreamRevoked("i")]).toEqual([true, false]);
  });

  test("tells every process at once, and each hears of it once", async () => {
    const shared = new SharedBlocks();
    const [one, other] = [await shared.process(), await shared.process()];
    await one.put(revoked("a"), EVENT);
    await flush();
    expect(other.isRevoked(caller("a"))).toBeDefined();
    shared.time.advance(10_000);
    await flush();
    expect([one.heard.length, other.heard.length]).toEqual([1, 1]);
  });

  test("reaches a process that hears nothing within five seconds", async () => {
    const shared = new SharedBlocks();
    const [one, deaf] = [await shared.process(), await shared.process({ isDeaf: true })];
    await one.put(revoked("a"), EVENT);
    await flush();
    expect(deaf.isRevoked(caller("a"))).toBeUndefined();
    shared.time.advance(2_000);
    await flush();
    expect(deaf.isRevoked(caller("a"))).toBeDefined();
    expect(deaf.heard).toHaveLength(1);
  });

  test("holds where it was put while an older list was still being read", async () => {
    const shared = new SharedBlocks();
    const [one, other] = [await shared.process({ isDeaf: true }), await shared.process({ isDeaf: true })];
    await other.put(revoked("a"), EVENT);
    const [list, version] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    shared.rows.heldList = list.promise;
    shared.time.advance(2_000);
    await flush();
    shared.rows.heldVersion = version.promise;
    const put = one.put(revoked("b"), EVENT);
    await flush();
    list.resolve();
    await flush();
    version.resolve();
    await put;
    expect([one.isRevoked(caller("a")), one.isRevoked(caller("b"))]).not.toContain(undefined);
  });

  test("holds in a process that starts later, and is not news to it", async () => {
    const shared = new SharedBlocks();
    await (await shared.process()).put(revoked("a"), EVENT);
    const later = await shared.process();
    expect(later.isRevoked(caller("a"))).toBeDefined();
    expect(later.heard).toEqual([]);
  });

  test("lets in again who was unblocked, or whose block is over", async () => {
    const shared = new SharedBlocks();
    const list = await shared.process();
    await list.put(revoked("a"), EVENT);
    await list.put(revoked("b", { until: NOW }), EVENT);
    expect(await list.remove(revoked("a").id, EVENT)).toBe(true);
    expect(await list.remove(revoked("a").id, EVENT)).toBe(false);
    expect(list.isRevoked(caller("a"))).toBeUndefined();
    shared.now += LEAST_LIFE_MS;
    expect(list.isRevoked(caller("b"))).toBeUndefined();
    expect(list.list()).toEqual([]);
  });

  test("holds on to what it knows while the store is away, and blocks nobody it could not write down", async () => {
    const shared = new SharedBlocks();
    const list = await shared.process();
    await list.put(revoked("a"), EVENT);
    shared.rows.isAway = true;
    await expect(list.put(revoked("b"), EVENT)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    shared.time.advance(4_000);
    await flush();
    expect(list.isRevoked(caller("a"))).toBeDefined();
    expect(list.isRevoked(caller("b"))).toBeUndefined();
    expect(shared.events).toHaveLength(1);
  });

  test("leaves no timer behind, and looks no more once it is closed", async () => {
    const shared = new SharedBlocks();
    const list = await shared.process();
    await list.close();
    await list.close();
    expect(shared.time.pending).toBe(0);
  });
});
