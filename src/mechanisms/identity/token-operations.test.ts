import { describe, expect, test } from "vitest";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import {
  type AuditEvent,
  type Change,
  GatewayError,
  LOCAL,
  type Operation,
  type Principal,
  type TokenRow,
} from "../../contract/index.ts";
import { MemoryTokens, NOW } from "./fixtures/identity-rig.ts";
import { OPERATOR } from "./local-operator.ts";
import { principalOfToken, tokenHash } from "./static-token.ts";
import { type TokenParts, tokenOperations } from "./token-operations.ts";

const admin = (tenant: string): Principal => ({
  id: `admin of ${tenant}`,
  identity: { tenant, user: "root", client: "c", groups: [], scopes: [], role: "admin", proof: "token" },
});

function makeRig(more: Partial<TokenParts> = {}) {
  const rows = new MemoryTokens();
  const committed: { event: AuditEvent; changes: readonly Change[] }[] = [];
  const revoked: string[] = [];
  const operations = tokenOperations({
    rows,
    log: new KeptLog(),
    now: () => NOW,
    audit: {
      note: () => undefined,
      async commit(event, changes) {
        committed.push({ event, changes });
        for (const change of changes) apply(rows, change);
        return true;
      },
    },
    namedByPlatform: ({ type, id }) =>
      (type === "group" ? id.startsWith("ops") : id === "boss") ? "rule 7 may mean it" : undefined,
    isHeldByPlatform: () => false,
    onRevoke: async ({ id }) => void revoked.push(`before ${id}`),
    onRevoked: ({ hash }) => void revoked.push(`after ${hash}`),
    ...more,
  });
  const run = async (id: string, input: unknown, principal: Principal = LOCAL) => {
    const operation = operations.find((one) => one.id === id) as Operation<unknown>;
    const checked = operation.input.check(input);
    if ("problems" in checked) throw new Error(checked.problems.map(({ path }) => path).join());
    return (await operation.run(checked.value, { principal })).body as never;
  };
  const create = (body: object, principal?: Principal): Promise<{ id: string; token: string }> =>
    run("tokens.create", { body: { user: "ada", ...body } }, principal);
  return { rows, committed, revoked, operations, run, create };
}

const namesOf = (rows: MemoryTokens, hash: string) => rows.rows.get(hash)?.namedBy;

describe("the names in a token", () => {
  const acme = admin("acme");
  const made = async (rig: ReturnType<typeof makeRig>, body: object, by: Principal) => {
    const { token } = await rig.create(body, by);
    return namesOf(rig.rows, tokenHash(token));
  };

  test("are the platform's word where it makes the token, whomever for", async () => {
    for (const by of [LOCAL, OPERATOR, admin("default")])
      expect(await made(makeRig(), { tenant: "acme", groups: ["vip"] }, by)).toBe("platform");
  });

  test.each<[string, object]>([
    ["another user", { user: "ann" }],
    ["a group of its own making", { user: "root", groups: ["vip"] }],
    ["a client of its own making", { user: "root", client: "editor" }],
  ])("are the tenant's where its admin makes one for %s, and for itself the platform's", async (_name, body) => {
    expect(await made(makeRig(), body, acme)).toBe("tenant");
    expect(await made(makeRig(), { user: "root" }, acme)).toBe("platform");
    const puppet = { ...acme, identity: { ...acme.identity, namedBy: "tenant" } } as Principal;
    expect(await made(makeRig(), { user: "root" }, puppet)).toBe("tenant");
  });

  test("are the tenant's where its admin, whose client nobody named, makes the hash that stands for it a name", async () => {
    const tokenHash = "a".repeat(64);
    const own = (client: string) => ({ ...acme, identity: { ...acme.identity, client, tokenHash } }) as Principal;
    expect(await made(makeRig(), { user: "root", client: tokenHash }, own(tokenHash))).toBe("tenant");
    expect(await made(makeRig(), { user: "root" }, own(tokenHash))).toBe("platform");
    expect(await made(makeRig(), { user: "root", client: "c" }, own("c"))).toBe("platform");
  });

  test.each(["oidc", "certificate"] as const)(
    "are the tenant's where its admin is known by %s, also under the name it has there",
    async (proof) => {
      const known = { ...acme, identity: { ...acme.identity, proof } } as Principal;
      expect(await made(makeRig(), { user: "root" }, known)).toBe("tenant");
      expect(await made(makeRig(), { user: "root", tenant: "acme" }, known)).toBe("tenant");
    },
  );

  test("stay a tenant's word when a token is rotated, by whomever, and become it when its admin rotates another's", async () => {
    const rig = makeRig();
    const first = await rig.create({ user: "ann" }, acme);
    const { token } = (await rig.run("tokens.rotate", { id: first.id }, LOCAL)) as { token: string };
    expect(namesOf(rig.rows, tokenHash(token))).toBe("tenant");
    expect(principalOfToken(rig.rows.rows.get(tokenHash(token)) as TokenRow).identity).toMatchObject({
      namedBy: "tenant",
    });
    const given = await rig.create({ user: "bob", tenant: "acme" }, LOCAL);
    const next = (await rig.run("tokens.rotate", { id: given.id }, acme)) as { token: string };
    expect(namesOf(rig.rows, tokenHash(next.token))).toBe("tenant");
  });

  test("stay the platform's word when it rotates a token, or an admin its own", async () => {
    const rig = makeRig();
    const given = await rig.create({ user: "root", tenant: "acme" }, LOCAL);
    const own = (await rig.run("tokens.rotate", { id: given.id }, acme)) as { id: string; token: string };
    expect(namesOf(rig.rows, tokenHash(own.token))).toBe("platform");
    const next = (await rig.run("tokens.rotate", { id: own.id }, LOCAL)) as { token: string };
    expect(namesOf(rig.rows, tokenHash(next.token))).toBe("platform");
  });

  test.each([
    ["local", "acme", undefined],
    ["operator", "acme", undefined],
    ["token:default/root/1", "acme", undefined],
    ["token:acme/boss/1", "default", undefined],
    ["token:acme/boss/1", "acme", "tenant"],
    ["oidc:https://id.example:boss:web", "acme", "tenant"],
    ["token:default/x/boss/1", "default/x", "tenant"],
  ])("of a token from before, that %s made in %s, are %s", async (createdBy, tenant, expected) => {
    const rig = makeRig();
    const { token } = await rig.create({}, LOCAL);
    const row = { ...(rig.rows.rows.get(tokenHash(token)) as TokenRow), createdBy, tenant, namedBy: undefined };
    expect(principalOfToken(row).identity?.namedBy).toBe(expected);
  });
});

function apply(rows: MemoryTokens, change: Change): void {
  if (change.table !== "tokens") return;
  if (change.type === "add") rows.rows.set(change.row.hash, change.row);
  else for (const [hash, { id }] of rows.rows) if (id === change.id) rows.rows.delete(hash);
}

describe("token operations", () => {
  test("are for admins", () => {
    expect(makeRig().operations.map(({ role }) => role)).toEqual(["admin", "admin", "admin", "admin"]);
  });

  test("keep who made a token, and who made theirs, also where it is rotated; but not whoever runs the gateway", async () => {
    const { rows, create, run } = makeRig();
    const made = async (making: Promise<{ token: string }>) =>
      principalOfToken(rows.rows.get(tokenHash((await making).token)) as TokenRow);
    const root = await made(create({ user: "root", role: "admin" }));
    const second = await made(create({ user: "root", role: "admin" }, OPERATOR));
    expect([root.identity?.makers, second.identity?.makers]).toEqual([undefined, undefined]);
    const puppet = await made(create({ user: "puppet", role: "admin" }, second));
    expect(puppet.identity?.makers).toEqual(["user:default/root"]);
    const next = await made(create({ user: "next", role: "operator" }, puppet));
    expect(next.identity?.makers).toEqual(["user:default/root", "user:default/puppet"]);
    const bob = await create({ user: "bob", role: "operator" });
    const rotated = await made(run("tokens.rotate", { id: bob.id }, puppet));
    expect(rotated.identity?.makers).toEqual(["user:default/root", "user:default/puppet"]);
  });

  test.each([
    ["token:default/ann/0123456789ab", ["user:default/ann"]],
    ["token:acme/team/ann/0123456789ab", ["user:acme/team/ann"]],
    ["token:acme//0123456789ab", ["token:acme//0123456789ab"]],
    ["oidc:https://issuer.example:ann:app", ["oidc:https://issuer.example:ann:app"]],
    ["local", undefined],
    ["operator", undefined],
  ])("take of a token from before makers were kept whoever made it: %s", async (createdBy, expected) => {
    const { rows, create } = makeRig();
    const { token } = await create({ user: "puppet", role: "admin" });
    const old = { ...(rows.rows.get(tokenHash(token)) as TokenRow), createdBy, makers: [] };
    expect(principalOfToken(old).identity?.makers).toEqual(expected);
    const { token: next } = await create({ user: "next" }, principalOfToken(old));
    expect(rows.rows.get(tokenHash(next))?.makers).toEqual([...(expected ?? []), "user:default/puppet"]);
  });

  test("replace a token by one for the same bearer, with as long a life, in one step", async () => {
    const { create, rows, run, committed, revoked } = makeRig();
    const bearer = {
      tenant: "acme",
      client: "bot",
      groups: ["ops"],
      scopes: ["read"],
      role: "viewer",
      expiresIn: "30d",
    };
    const old = await create(bearer);
    const fresh: { id: string; token: string } = await run("tokens.rotate", { id: old.id });
    expect(fresh.token).not.toBe(old.token);
    const row = rows.rows.get(tokenHash(fresh.token));
    expect(row).toMatchObject({ user: "ada", tenant: "acme", client: "bot", groups: ["ops"], scopes: ["read"] });
    expect(row).toMatchObject({ role: "viewer", expiresAt: NOW + 30 * 86_400_000 });
    expect([...rows.rows.values()].map(({ id }) => id)).toEqual([fresh.id]);
    expect(committed.at(-1)?.changes.map(({ table, ...change }) => [table, "type" in change && change.type])).toEqual([
      ["tokens", "add"],
      ["tokens", "remove"],
    ]);
    expect(committed.at(-1)?.event.details).toMatchObject({ replaces: old.id });
    expect(revoked).toEqual([`before token:acme/ada/${old.id}`, `after ${tokenHash(old.token)}`]);
    const { expiresAt } = await run("tokens.rotate", { id: fresh.id, body: { expiresIn: "1h" } });
    expect(expiresAt).toBe(new Date(NOW + 3_600_000).toISOString());
  });

  test("replace no token of another tenant, and none that is not there", async () => {
    const { create, run, rows } = makeRig();
    const { id, token } = await create({ tenant: "acme" });
    await expect(run("tokens.rotate", { id }, admin("other"))).rejects.toMatchObject({ code: "NO_SUCH_TARGET" });
    await expect(run("tokens.rotate", { id: "nobody" })).rejects.toMatchObject({ code: "NO_SUCH_TARGET" });
    expect(rows.rows.has(tokenHash(token))).toBe(true);
  });

  test("replace, for a tenant's admin, no token whose bearer the platform holds", async () => {
    const held: string[] = [];
    const isHeldByPlatform = ({ id }: Principal) => held.includes(id);
    const { create, run, rows } = makeRig({ isHeldByPlatform });
    const { id } = await create({ tenant: "acme" });
    held.push(`token:acme/ada/${id}`);
    await expect(run("tokens.rotate", { id }, admin("acme"))).rejects.toMatchObject({ code: "NOT_ALLOWED" });
    expect([...rows.rows.values()].map((row) => row.id)).toEqual([id]);
    await create({ tenant: "acme" }, admin("acme"));
    await run("tokens.rotate", { id }, admin("default"));
    expect([...rows.rows.values()].map((row) => row.id)).not.toContain(id);
  });

  describe("of a tenant's admin whose own token ends", () => {
    const HOUR = 3_600_000;
    const endsSoon = (tenant: string): Principal => {
      const { id, identity } = admin(tenant);
      return { id, ...(identity && { identity: { ...identity, expiresAt: NOW + HOUR } }) };
    };
    const at = (ms: number) => new Date(ms).toISOString();

    test("make none that lives longer", async () => {
      const { create, rows } = makeRig();
      const longer = create({ role: "admin", expiresIn: "2h" }, endsSoon("acme"));
      await expect(longer).rejects.toMatchObject({
        code: "NOT_ALLOWED",
        message: expect.stringContaining(at(NOW + HOUR)),
      });
      expect(rows.rows.size).toBe(0);
      expect(await create({ role: "admin" }, endsSoon("acme"))).toMatchObject({ expiresAt: at(NOW + HOUR) });
      expect(await create({ expiresIn: "10m" }, endsSoon("acme"))).toMatchObject({ expiresAt: at(NOW + HOUR / 6) });
      expect(await create({ expiresIn: "2h" }, endsSoon("default"))).toMatchObject({ expiresAt: at(NOW + 2 * HOUR) });
    });

    test.each([{}, { expiresIn: "30d" }])("replace none of %j by one that lives longer", async (life) => {
      const { create, run } = makeRig();
      const { id } = await create({ tenant: "acme", ...life });
      const longer = run("tokens.rotate", { id, body: { expiresIn: "3650d" } }, endsSoon("acme"));
      await expect(longer).rejects.toMatchObject({ code: "NOT_ALLOWED" });
      expect(await run("tokens.rotate", { id }, endsSoon("acme"))).toMatchObject({ expiresAt: at(NOW + HOUR) });
    });
  });

  test("make a token of 256 random bits, of which only a hash is kept", async () => {
    const { create, rows, committed } = makeRig();
    const { id, token } = await create({ expiresIn: "30d", scopes: ["read"], client: "editor" });
    expect(token).toMatch(/^isth_[A-Za-z0-9_-]{43}$/);
    const row = rows.rows.get(tokenHash(token)) as TokenRow;
    expect(row).toMatchObject({
      id,
      user: "ada",
      tenant: "default",
      client: "editor",
      expiresAt: NOW + 30 * 86_400_000,
    });
    expect(row.createdBy).toBe("local");
    expect(JSON.stringify([row, committed])).not.toContain(token);
    expect((await create({})).token).not.toBe(token);
  });

  test("put each token on record together with what it is", async () => {
    const { create, committed, run } = makeRig();
    const { id } = await create({ role: "viewer" });
    await run("tokens.revoke", { id });
    expect(committed).toMatchObject([
      { event: { type: "dev.isthmus.token_created", target: { name: id }, details: { user: "ada", role: "viewer" } } },
      { event: { type: "dev.isthmus.token_revoked", target: { name: id } }, changes: [{ type: "remove", id }] },
    ]);
    expect(committed.map(({ changes }) => changes.length)).toEqual([1, 1]);
  });

  test("end what a bearer has before the token is gone, and forget it afterwards", async () => {
    const { create, revoked, run } = makeRig();
    const { id, token } = await create({});
    await run("tokens.revoke", { id });
    expect(revoked).toEqual([`before token:default/ada/${id}`, `after ${tokenHash(token)}`]);
    await expect(run("tokens.revoke", { id })).rejects.toMatchObject({ code: "NO_SUCH_TARGET" });
  });

  test.each(["OVERLOADED", "STATE_UNAVAILABLE"] as const)(
    "end a token also where its block is refused (%s)",
    async (code) => {
      const log = new KeptLog();
      const onRevoke = () => Promise.reject(new GatewayError(code));
      const { create, revoked, run, rows } = makeRig({ log, onRevoke });
      const old = await create({});
      const fresh: { id: string; token: string } = await run("tokens.rotate", { id: old.id });
      expect([...rows.rows.keys()]).toEqual([tokenHash(fresh.token)]);
      await run("tokens.revoke", { id: fresh.id });
      expect(rows.rows.size).toBe(0);
      expect(revoked).toEqual([old, fresh].map(({ token }) => `after ${tokenHash(token)}`));
      expect(log.lines.map(({ level, fields }) => [level, fields.token])).toEqual([
        ["warn", old.id],
        ["warn", fresh.id],
      ]);
    },
  );

  test("keep tenants apart; the platform's own looks after all", async () => {
    const { create, run } = makeRig();
    const { id } = await create({}, admin("acme"));
    await expect(create({ tenant: "other" }, admin("acme"))).rejects.toMatchObject({ code: "NOT_ALLOWED" });
    await expect(run("tokens.revoke", { id }, admin("other"))).rejects.toMatchObject({ code: "NO_SUCH_TARGET" });
    expect(await run("tokens.list", {}, admin("other"))).toEqual({ tokens: [] });
    expect(await run("tokens.list", {}, admin("acme"))).toMatchObject({ tokens: [{ id, tenant: "acme" }] });
    expect(await run("tokens.list", {})).toMatchObject({ tokens: [{ id }] });
    await run("tokens.revoke", { id });
  });

  test("list to a tenant its own pages: the place where one ends is a token of its own", async () => {
    const { create, run, rows } = makeRig();
    const [sample] = [await create({ tenant: "acme" })].map(({ token }) => rows.rows.get(tokenHash(token)) as TokenRow);
    rows.rows.clear();
    const fill = (tenant: string, count: number) => {
      for (let at = 0; at < count; at++) {
        const id = `${String(at).padStart(5, "0")} of ${tenant}`;
        rows.rows.set(id, { ...(sample as TokenRow), hash: id, id, tenant });
      }
    };
    fill("globex", 1_500);
    fill("acme", 3);
    type Page = { tokens: readonly { tenant: string }[]; next?: string };
    const first: Page = await run("tokens.list", {}, admin("acme"));
    expect([first.tokens.map(({ tenant }) => tenant), first.next]).toEqual([["acme", "acme", "acme"], undefined]);
    fill("acme", 1_001);
    const page: Page = await run("tokens.list", {}, admin("acme"));
    expect([page.tokens.length, page.next]).toEqual([1_000, "00999 of acme"]);
    expect(await run("tokens.list", { after: page.next }, admin("acme"))).toMatchObject({
      tokens: [{ id: "01000 of acme" }],
    });
  });

  test("make no more than 10,000 that are good for a tenant's admin, who can still rotate; the platform goes on", async () => {
    const { create, run, rows } = makeRig();
    const made = await create({ tenant: "acme", expiresIn: "1h" });
    const one = rows.rows.get(tokenHash(made.token)) as TokenRow;
    for (let at = 1; at < 9_999; at++) rows.rows.set(`${at}`, { ...one, id: `${at}`, hash: `${at}` });
    rows.rows.set("over", { ...one, id: "over", hash: "over", expiresAt: NOW });
    await create({}, admin("acme"));
    await expect(create({}, admin("acme"))).rejects.toMatchObject({
      code: "OVERLOADED",
      message: expect.stringContaining("10000 tokens of the tenant acme"),
    });
    await create({}, admin("globex"));
    await run("tokens.rotate", { id: made.id }, admin("acme"));
    await create({ tenant: "acme" });
    await run("tokens.revoke", { id: "1" }, admin("acme"));
    await run("tokens.revoke", { id: "2" }, admin("acme"));
    await create({}, admin("acme"));
  });

  test.each([
    { user: "" },
    { user: "a\nb" },
    { tenant: "*" },
    { tenant: "acme*" },
    { tenant: " default" },
    { tenant: "acme\u00a0" },
    { tenant: "Default" },
    { tenant: "ｄｅｆａｕｌｔ" },
    { tenant: "ac\u200bme" },
    { tenant: "a\u202eb" },
    { user: "a".repeat(129) },
    { role: "root" },
    { scopes: ["a b"] },
    { scopes: ['a"'] },
    { expiresIn: "soon" },
    { expiresIn: "0d" },
    { token: "isth_mine" },
  ])("take no %j", async (body) => {
    await expect(makeRig().create(body)).rejects.toThrow("/body");
  });

  test("give away, by a tenant's admin, nothing that it does not have and that means something to the platform", async () => {
    const { create } = makeRig();
    const boss = admin("acme");
    const { identity } = boss;
    if (!identity) throw new Error("no identity");
    const scoped = { ...boss, identity: { ...identity, scopes: ["read"], groups: ["ops-acme"] } };
    for (const order of [
      { scopes: ["read"] },
      { scopes: ["*"] },
      { groups: ["dev", "ops"] },
      { user: "boss" },
      { client: "boss" },
      { tenant: "default" },
    ])
      await expect(create(order, boss), JSON.stringify(order)).rejects.toMatchObject({ code: "NOT_ALLOWED" });
    await expect(create({ scopes: ["read", "write"] }, scoped)).rejects.toMatchObject({ code: "NOT_ALLOWED" });
    await expect(create({ user: "boss" }, boss)).rejects.toThrow("rule 7 may mean it");
    const unnamed = { ...boss, identity: { ...identity, client: "boss", tokenHash: "boss" } };
    await expect(create({ client: "boss" }, unnamed)).rejects.toThrow('the name of the client "boss"');
    await create({ client: "boss" }, { ...boss, identity: { ...identity, client: "boss", tokenHash: "7d1f" } });
    const operator = { ...boss, identity: { ...identity, role: "operator" as const } };
    await expect(create({ role: "admin" }, operator)).rejects.toMatchObject({ code: "NOT_ALLOWED" });
    await create({ groups: ["dev"], role: "admin" }, boss);
    await create({ scopes: ["read"], groups: ["ops-acme"] }, scoped);
    await create({ scopes: ["*"], groups: ["ops"], user: "boss", tenant: "acme" }, admin("default"));
  });
});
