import { describe, expect, test } from "vitest";
import { LOCAL, type TokenRow } from "../../contract/index.ts";
import { bearer, IdentityRig, NOW, request } from "./fixtures/identity-rig.ts";

describe("a token of the gateway", () => {
  const row: Partial<TokenRow> = { tenant: "acme", user: "ada", groups: ["dev"], scopes: ["read"], role: "viewer" };

  test("makes its bearer a principal with tenant, user, hash, groups, scopes and role", async () => {
    const rig = new IdentityRig();
    const token = rig.addToken(row);
    const [{ hash, id }] = rig.tokens.rows.values() as Iterable<TokenRow> as [TokenRow];
    expect(await rig.who(bearer(token))).toEqual({
      id: `token:acme/ada/${id}`,
      identity: {
        tenant: "acme",
        user: "ada",
        client: hash,
        groups: ["dev"],
        scopes: ["read"],
        role: "viewer",
        proof: "token",
        tokenHash: hash,
      },
    });
  });

  test("names its client where somebody named it", async () => {
    const rig = new IdentityRig();
    expect((await rig.who(bearer(rig.addToken({ client: "editor" })))).identity?.client).toBe("editor");
  });

  test("is known at once with the next request, in the same headers and in others, without asking the store", async () => {
    const rig = new IdentityRig();
    const token = rig.addToken();
    const first = bearer(token);
    const known = await rig.who(first);
    expect(rig.identity.authenticate(first)).toBe(known);
    expect(rig.identity.authenticate(bearer(token))).toBe(known);
    expect(rig.tokens.finds).toBe(1);
  });

  test("is looked up once for all requests that come while that is under way", async () => {
    const rig = new IdentityRig();
    const token = rig.addToken();
    await Promise.all([rig.who(bearer(token)), rig.who(bearer(token)), rig.who(bearer(token))]);
    expect(rig.tokens.finds).toBe(1);
  });

  test("is looked up again behind the back of its bearer, who stays the same principal", async () => {
    const rig = new IdentityRig();
    const asked = bearer(rig.addToken());
    const known = await rig.who(asked);
    for (let times = 2; times <= 5; times++) {
      rig.time.advance(3_000);
      expect(rig.identity.authenticate(asked)).toBe(known);
      await settle();
      expect(rig.tokens.finds).toBe(times);
    }
  });

  test("that was revoked unnoticed is refused after five seconds at the latest", async () => {
    const rig = new IdentityRig();
    const asked = bearer(rig.addToken());
    await rig.who(asked);
    rig.tokens.rows.clear();
    rig.time.advance(4_999);
    expect(rig.identity.authenticate(asked)).toBeDefined();
    await settle();
    await expect(rig.who(asked)).rejects.toMatchObject({ details: { reason: "unknown" } });
  });

  test("that is revoked while it is looked up is not kept", async () => {
    const rig = new IdentityRig();
    const asked = bearer(rig.addToken());
    const checking = rig.who(asked);
    rig.identity.doubtAll();
    await checking;
    rig.tokens.rows.clear();
    await expect(rig.who(asked)).rejects.toMatchObject({ details: { reason: "unknown" } });
  });

  test.each(["hash", "principal", "client"] as const)("is forgotten by its %s", async (by) => {
    const rig = new IdentityRig();
    const asked = bearer(rig.addToken({ client: "editor" }));
    const { id } = await rig.who(asked);
    const [hash = ""] = rig.tokens.rows.keys();
    rig.tokens.rows.clear();
    rig.identity.forget({ [by]: { hash, principal: id, client: "editor" }[by] });
    await expect(rig.who(asked)).rejects.toMatchObject({ details: { reason: "unknown" } });
  });

  test("ends at its time, whoever knows it", async () => {
    const rig = new IdentityRig();
    const asked = bearer(rig.addToken({ expiresAt: NOW + 1_000 }));
    await rig.who(asked);
    rig.time.advance(1_000);
    await expect(rig.who(asked)).rejects.toMatchObject({ details: { reason: "expired" } });
  });

  test("goes on to be good for a while when the store is away, and is refused when it is back without it", async () => {
    const rig = new IdentityRig();
    const asked = bearer(rig.addToken());
    await rig.who(asked);
    rig.tokens.isAway = true;
    rig.time.advance(60_000);
    expect(await rig.who(asked)).toBeDefined();
    rig.tokens.isAway = false;
    rig.tokens.rows.clear();
    rig.time.advance(6_000);
    await expect(rig.who(asked)).rejects.toMatchObject({ details: { reason: "unknown" } });
  });

  test("goes on to be good when the store goes away just after somebody was revoked, unless that was its bearer", async () => {
    const rig = new IdentityRig();
    const [asked, other] = [bearer(rig.addToken()), bearer(rig.addToken({ user: "eve" }))];
    const known = await rig.who(asked);
    rig.revoked.add((await rig.who(other)).id);
    rig.identity.doubtAll();
    rig.tokens.isAway = true;
    expect(await rig.who(asked)).toBe(known);
    await expect(rig.who(other)).rejects.toMatchObject({ details: { reason: "revoked" } });
    rig.tokens.isAway = false;
    rig.tokens.rows.clear();
    rig.identity.doubtAll();
    await expect(rig.who(asked)).rejects.toMatchObject({ details: { reason: "unknown" } });
  });

  test("is not believed for ever while the store is away, nor at all where it was never seen", async () => {
    const rig = new IdentityRig();
    const asked = bearer(rig.addToken());
    await rig.who(asked);
    rig.tokens.isAway = true;
    rig.time.advance(10 * 60_000);
    await expect(rig.who(asked)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    await expect(rig.who(bearer(rig.addToken()))).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
  });

  test("is noted as used once an hour", async () => {
    const rig = new IdentityRig();
    await rig.who(bearer(rig.addToken({ lastUsedAt: NOW - 2 * 3_600_000 })));
    expect(rig.tokens.touched).toHaveLength(1);
    await rig.who(bearer(rig.addToken({ lastUsedAt: NOW - 60_000 })));
    expect(rig.tokens.touched).toHaveLength(1);
  });
});

describe("whoever comes from this machine", () => {
  const local = (address: string, headers: Record<string, string> = {}) =>
    request(undefined, { peer: { address }, headers: Object.freeze({ host: "localhost", ...headers }) });

  test.each(["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])(
    "by %s is the local user where that is allowed",
    async (address) => {
      expect(new IdentityRig({ allowsLocal: true }).identity.authenticate(local(address))).toBe(LOCAL);
      expect(() => new IdentityRig().identity.authenticate(local(address))).toThrow("Credentials are needed");
    },
  );

  test.each([
    ["another machine", local("10.0.0.1")],
    ["nowhere that is known", request(undefined, { peer: undefined })],
    ["a proxy that says so", local("127.0.0.1", { "x-forwarded-for": "10.0.0.1" })],
    ["a proxy by the standard", local("127.0.0.1", { forwarded: "for=10.0.0.1" })],
    ["something on the way", local("127.0.0.1", { via: "1.1 proxy" })],
  ])("is not: %s", (_what, asked) => {
    expect(() => new IdentityRig({ allowsLocal: true }).identity.authenticate(asked)).toThrow("Credentials are needed");
  });

  test("with a wrong token is not the local user", async () => {
    const rig = new IdentityRig({ allowsLocal: true });
    const asked = bearer(`isth_${"A".repeat(43)}`, { peer: { address: "127.0.0.1" } });
    await expect(rig.who(asked)).rejects.toMatchObject({ details: { reason: "unknown" } });
  });
});

describe("failed authentications", () => {
  test("are noted up to a bound, and the next note tells how many were left out", () => {
    const rig = new IdentityRig();
    const fail = () => expect(() => rig.identity.authenticate(request(undefined))).toThrow();
    for (let times = 0; times < 150; times++) fail();
    expect(rig.noted).toHaveLength(50);
    // Whoever tries something else is not hidden by it.
    expect(() => rig.identity.authenticate(request("Basic x"))).toThrow();
    expect(rig.noted).toHaveLength(51);
    rig.time.advance(1_000);
    fail();
    expect(rig.noted).toHaveLength(52);
    expect(rig.noted.at(-1)?.details).toMatchObject({ reason: "missing", skipped: 100, address: "203.0.113.7" });
  });
});

/** Lets what was begun behind somebody's back come to its end. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
