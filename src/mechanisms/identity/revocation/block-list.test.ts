import { describe, expect, test } from "vitest";
import { flush } from "../../../../tests/kit/test-kernel.ts";
import type { Block } from "../../../contract/index.ts";
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

  test("keeps out who respells the signature of a token, whichever of the two spellings was revoked", async () => {
    const list = await new SharedBlocks().process();
    await list.put(revoked("h1"), EVENT);
    const { id, identity } = caller("app");
    const bearer = (tokenHash: string, twinHash: string) => ({
      id,
      ...(identity && { identity: { ...identity, tokenHash, twinHash } }),
    });
    for (const one of [bearer("h1", "h2"), bearer("h2", "h1")]) {
      expect(list.isRevoked(one)).toBeDefined();
      expect(list.of(one)).toHaveLength(1);
    }
    expect(list.isRevoked(bearer("h3", "h4"))).toBeUndefined();
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

  test.each<[Parameters<typeof revoked>[1], boolean]>([
    [{ source: "platform" }, true],
    [{ source: "platform", server: "files" }, true],
    [{ source: "platform", subject: "user", key: "u" }, true],
    [{ source: "platform", subject: "principal", key: "token:acme/u/a" }, true],
    [{ tenant: "" }, true],
    [{ source: "platform", subject: "everybody", key: "", server: "files" }, false],
    [{ source: "platform", key: "b" }, false],
    [{ source: "platform", until: NOW - LEAST_LIFE_MS }, true],
    [{}, false],
    [{ source: "token" }, false],
  ])("knows of %j whether the platform holds just this caller: %j", async (more, isHeld) => {
    const list = await new SharedBlocks().process();
    await list.put(revoked("a", { tenant: "acme", ...more }), EVENT);
    expect(list.isHeldByPlatform(caller("a", { tenant: "acme" }))).toBe(isHeld);
  });

  test.each<[Parameters<typeof revoked>[1], boolean]>([
    [{ source: "platform", subject: "user", key: "boss" }, true],
    [{ source: "platform", subject: "user", key: "boss", server: "files" }, true],
    [{ source: "platform", subject: "user", key: "boss", tenant: "other" }, false],
    [{ source: "platform", subject: "principal", key: "token:acme/boss/1" }, true],
    [{ source: "platform", key: "boss-app" }, true],
    [{ source: "platform", key: "boss-hash" }, true],
    [{ source: "platform", subject: "user", key: "" }, false],
    [{ subject: "user", key: "boss", tenant: "" }, true],
    [{ subject: "user", key: "boss" }, false],
    [{ source: "token", key: "boss-hash" }, false],
  ])("keeps out, by %j about those who made a token, whoever has it: %j", async (more, isMeant) => {
    const list = await new SharedBlocks().process();
    await list.put(revoked("a", { tenant: "acme", ...more }), EVENT);
    const { id, identity } = caller("app", { tenant: "acme", user: "zoe" });
    const names = { groups: [], scopes: [] };
    const makerNames = [
      { id: "oidc:x", user: "", client: "", ...names },
      { id: "token:acme/boss/1", user: "boss", client: "boss-app", tokenHash: "boss-hash", ...names },
    ];
    const made = { id, ...(identity && { identity: { ...identity, makerNames } }) };
    expect(list.isBlocked(made, "files", "mcp", "read") !== undefined).toBe(isMeant);
    expect(list.of(made)).toHaveLength(isMeant ? 1 : 0);
    expect(list.isRevoked(made) !== undefined).toBe(isMeant && more?.server === undefined);
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

  test("looks at none of the others when one more is put or removed", async () => {
    const shared = new SharedBlocks();
    let looks = 0;
    for (const key of ["a", "b", "c"]) {
      const get = (kept: Block, name: string) => {
        looks++;
        return Reflect.get(kept, name);
      };
      const block = new Proxy(revoked(key), { get });
      shared.rows.write([{ table: "blocks", type: "put", block }]);
    }
    const [list, other] = [await shared.process(), await shared.process()];
    looks = 0;
    await list.put(revoked("d"), EVENT);
    await flush();
    expect(other.isRevoked(caller("d"))).toBeDefined();
    await list.remove(revoked("d").id, EVENT);
    await flush();
    expect(other.isRevoked(caller("d"))).toBeUndefined();
    expect(looks).toBe(0);
  });

  test("is read as a whole where the store does not tell what has changed", async () => {
    const shared = new SharedBlocks();
    const [one, other] = [await shared.process(), await shared.process()];
    await one.put(revoked("a"), EVENT);
    await flush();
    const before = shared.rows.loads;
    shared.rows.hasForgotten = true;
    await one.remove(revoked("a").id, EVENT);
    await one.put(revoked("b"), EVENT);
    await flush();
    expect(shared.rows.loads).toBeGreaterThan(before);
    expect([other.isRevoked(caller("a")), other.isRevoked(caller("b"))]).toMatchObject([undefined, { key: "b" }]);
    expect(other.heard.map(({ key }) => key)).toEqual(["a", "b"]);
  });

  const fill = (shared: SharedBlocks, count: number, more: Parameters<typeof revoked>[1]) => {
    const blocks = Array.from({ length: count }, (_none, at) => revoked(`${more?.tenant}-${at}`, more));
    shared.rows.write(blocks.map((block) => ({ table: "blocks", type: "put", block })));
    return blocks;
  };

  test("has 1,000 of each tenant's operators: one tenant's fill nobody else's room", async () => {
    const shared = new SharedBlocks();
    const [first] = fill(shared, 1_000, { tenant: "acme" });
    const list = await shared.process();
    const another = revoked("x", { tenant: "acme" });
    await expect(list.put(another, EVENT)).rejects.toMatchObject({ code: "OVERLOADED" });
    for (const more of [
      { tenant: "acme", source: "platform" },
      { tenant: "acme", source: "token" },
      { tenant: "other" },
      { tenant: "default" },
      { tenant: "" },
    ] as const) {
      await list.put(revoked("x", more), EVENT);
    }
    if (!first) throw new Error("nothing was put");
    await list.put({ ...first, reason: "again" }, EVENT);
    await list.remove(first.id, EVENT);
    await list.put(another, EVENT);
    expect(list.find(another.id)).toBeDefined();
  });

  test("has room for the platform and for revoked tokens when all tenants have filled theirs", async () => {
    const shared = new SharedBlocks();
    for (let at = 0; at < 50; at++) fill(shared, 1_000, { tenant: `t${at}` });
    const list = await shared.process();
    await expect(list.put(revoked("x", { tenant: "other" }), EVENT)).rejects.toMatchObject({ code: "OVERLOADED" });
    await list.put(revoked("x", { tenant: "other", source: "token" }), EVENT);
    await list.put(revoked("x"), EVENT);
    await list.put(revoked("x", { tenant: "other", source: "platform" }), EVENT);
  });

  test("lets the oldest of a tenant's revoked tokens go for another one, and what is over for any", async () => {
    const shared = new SharedBlocks();
    const [oldest, next] = fill(shared, 1_000, { tenant: "acme", source: "token" });
    const [over] = fill(shared, 1_000, { tenant: "acme", until: NOW });
    const [list, other] = [await shared.process(), await shared.process({ isDeaf: true })];
    const token = revoked("x", { tenant: "acme", source: "token" });
    await list.put(token, EVENT);
    // The other one has not heard that the oldest is gone.
    const another = revoked("y", { tenant: "acme", source: "token" });
    await other.put(another, EVENT);
    const isThere = (block: Block | undefined) => block !== undefined && other.find(block.id) !== undefined;
    expect([oldest, next, token, another].map(isThere)).toEqual([false, true, true, true]);
    shared.now += LEAST_LIFE_MS;
    await list.put(revoked("z", { tenant: "acme", until: shared.now + 2 * LEAST_LIFE_MS }), EVENT);
    expect((await shared.rows.load(0, 10_000)).blocks.some(({ id }) => id === over?.id)).toBe(false);
  });

  test("stays within its room where the tables have forgotten what was to go", async () => {
    const shared = new SharedBlocks();
    fill(shared, 1_000, { tenant: "acme", until: NOW });
    const list = await shared.process();
    shared.now += LEAST_LIFE_MS;
    await shared.rows.expire(shared.now);
    for (const key of ["x", "y"]) await list.put(revoked(key, { tenant: "acme" }), EVENT);
    expect(list.size).toBe(1_000);
    for (let look = 0; look < 1_800; look++) {
      shared.time.advance(2_000);
      await flush();
    }
    expect(list.size).toBe(2);
  });

  test("leaves no timer behind, and looks no more once it is closed", async () => {
    const shared = new SharedBlocks();
    const list = await shared.process();
    await list.close();
    await list.close();
    expect(shared.time.pending).toBe(0);
  });
});
