import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import {
  type AuditEvent,
  type Change,
  LOCAL,
  type Principal,
  type UpstreamToken,
  type UpstreamTokenRow,
  untracked,
} from "../../contract/index.ts";
import { sealEnvelope } from "./envelope.ts";
import { MemoryTokenRows } from "./memory-token-rows.ts";
import { MAX_TOKEN_MS, TokenVault, wordOf } from "./token-vault.ts";
import { wrappingKeys } from "./wrapping-keys.ts";

const NOW = 1_000_000;
const OLD_KEY = Buffer.alloc(32, 1);
const NEW_KEY = Buffer.alloc(32, 2);
const OWNER = { server: "crm", tenant: "acme", client: "hash", user: "ann", principal: "p", session: "" };
const FACTS = { ...OWNER, riskClass: 3, scopes: "read write", audience: "https://crm", expiresAt: NOW + 5000 } as const;
const SECRET = '{"accessToken":"at-1","refreshToken":"rt-1"}';

let rows: MemoryTokenRows;
let now: number;
let keys = wrappingKeys([OLD_KEY]);
let events: AuditEvent[];

function createVault(): TokenVault {
  const { write } = rows;
  const trail = untracked(write);
  const audit = {
    ...trail,
    commit: (event: AuditEvent, changes: readonly Change[]) => {
      events.push(event);
      return trail.commit(event, changes);
    },
  };
  return new TokenVault({ rows, write, audit, keys: async () => keys, now: () => now });
}

const all = () => rows.find({}, 0, 100);
const only = async () => (await all())[0] as UpstreamTokenRow;

/** As records were written before: their id is in what is bound to them. */
async function formerToken(owner: typeof OWNER): Promise<UpstreamToken> {
  const { riskClass, scopes, audience, expiresAt } = FACTS;
  const { server, tenant, client, user, principal, session } = owner;
  const id = formerId(owner);
  const bound = [id, server, tenant, client, user, principal, session, riskClass, scopes, audience, expiresAt];
  return { ...FACTS, ...owner, id, ...(await sealEnvelope(keys, SECRET, JSON.stringify(bound))) };
}

function formerId({ server, tenant, client, user, session }: typeof OWNER): string {
  return createHash("sha256")
    .update(JSON.stringify([server, tenant, client, user, session]))
    .digest("base64url");
}

beforeEach(() => {
  rows = new MemoryTokenRows();
  now = NOW;
  keys = wrappingKeys([OLD_KEY]);
  events = [];
});

describe("TokenVault", () => {
  test("[AP-125] [AP-126] [AP-127] [AP-129] [AP-130] keeps whom a token is for in plain", async () => {
    await createVault().put(FACTS, SECRET);
    expect(await only()).toMatchObject({
      tenant: "acme",
      client: "hash",
      user: "ann",
      riskClass: 3,
      scopes: "read write",
    });
  });

  test("[AP-117] [AP-131] [AP-132] [AP-133] keeps the token itself as ciphertext alone, with its key's id and its end", async () => {
    const vault = createVault();
    await vault.put(FACTS, SECRET);
    const row = await only();
    expect(JSON.stringify(row)).not.toMatch(/at-1|rt-1/);
    expect(row).toMatchObject({ keyId: keys.id, expiresAt: NOW + 5000 });
    expect((await vault.get(OWNER))?.text).toBe(SECRET);
    expect(JSON.stringify(events)).not.toMatch(/at-1|rt-1/);
  });

  test("seals the same token never twice alike", async () => {
    const vault = createVault();
    await vault.put(FACTS, SECRET);
    const first = await only();
    await vault.put(FACTS, SECRET);
    const second = await only();
    for (const name of ["ciphertext", "wrappedKey", "nonce"] as const) expect(first[name]).not.toBe(second[name]);
  });

  test.each([
    ["scopes", "admin"],
    ["server", "other"],
    ["tenant", "rival"],
    ["client", "x"],
    ["user", "bob"],
    ["principal", "q"],
    ["session", "s"],
    ["riskClass", 2],
    ["audience", "https://evil"],
    ["expiresAt", NOW + 900_000],
    ["keyId", "local:0"],
    ["ciphertext", "AAAA"],
    ["wrappedKey", "AAAA"],
    ["nonce", "AAAA"],
  ])("opens no record whose %s was changed", async (name, value) => {
    const vault = createVault();
    await vault.put(FACTS, SECRET);
    await rows.write([{ table: "upstreamTokens", type: "put", token: { ...(await only()), [name]: value } }]);
    expect(await vault.get(OWNER)).toBeUndefined();
  });

  test("does not open one holder's ciphertext in another's record", async () => {
    const vault = createVault();
    await vault.put(FACTS, SECRET);
    await vault.put({ ...FACTS, user: "bob" }, "{}");
    const [ann, bob] = await Promise.all(["ann", "bob"].map(async (user) => (await rows.find({ user }, 0, 1))[0]));
    const { ciphertext, wrappedKey, nonce, keyId } = ann as UpstreamTokenRow;
    const mixed = { ...(bob as UpstreamTokenRow), ciphertext, wrappedKey, nonce, keyId };
    await rows.write([{ table: "upstreamTokens", type: "put", token: mixed }]);
    expect(await vault.get({ ...OWNER, user: "bob" })).toBeUndefined();
  });

  test.each([
    ["of another issuer", "oidc:login.example:ann:app", "oidc:other.example:ann:app"],
    ["of another realm of one host", "oidc:login.example/a:ann:app", "oidc:login.example/b:ann:app"],
    ["with a token of the gateway", "oidc:login.example:ann:app", "token:acme/ann/0123456789ab"],
    ["with a certificate", "token:acme/ann/0123456789ab", "certificate:acme/ann/ab"],
    ["of this machine", "oidc:login.example:ann:app@acme", "local"],
  ])("gives a token to nobody of the same name, client and tenant who comes %s", async (_what, one, other) => {
    const vault = createVault();
    await vault.put({ ...FACTS, principal: one }, SECRET);
    expect(await vault.get({ ...OWNER, principal: other })).toBeUndefined();
    await vault.put({ ...FACTS, principal: other }, "{}");
    expect((await vault.get({ ...OWNER, principal: one }))?.text).toBe(SECRET);
    expect((await vault.get({ ...OWNER, principal: other }))?.text).toBe("{}");
  });

  test("gives a token to every token of the gateway that names the same user and client", async () => {
    const vault = createVault();
    await vault.put({ ...FACTS, principal: "token:acme/ann/aaaaaaaaaaaa" }, SECRET);
    expect((await vault.get({ ...OWNER, principal: "token:acme/ann/bbbbbbbbbbbb" }))?.text).toBe(SECRET);
  });

  describe("of tokens that a tenant's admin has named", () => {
    const bearer = (tenant: string, token: string, more: object = {}) => {
      const principal = {
        id: `token:${tenant}/ann/${token}`,
        identity: { ...LOCAL.identity, tenant, ...more },
      } as Principal;
      return { ...OWNER, tenant, principal: principal.id, source: wordOf(principal) };
    };
    const [given, taken, other] = [
      bearer("acme", "aaaaaaaaaaaa"),
      bearer("acme", "bbbbbbbbbbbb", { namedBy: "tenant" }),
      bearer("acme", "cccccccccccc", { namedBy: "tenant" }),
    ] as const;

    test.each([
      ["one that the platform has named", taken, given],
      ["one of these", given, taken],
      ["another of these", taken, other],
    ])("gives nothing to %s", async (_whom, one, another) => {
      const vault = createVault();
      await vault.put({ ...FACTS, ...one }, SECRET);
      expect(await vault.get(another)).toBeUndefined();
      expect((await vault.get(one))?.text).toBe(SECRET);
      expect((await vault.get({ ...given, source: wordOf(LOCAL) }))?.text).toBeUndefined();
    });

    test("takes nothing that was kept before that could be told apart, but in the platform's own tenant, where all are its", async () => {
      const vault = createVault();
      for (const owner of [taken, given, bearer("default", "dddddddddddd")]) {
        const { source: _none, ...former } = owner;
        await rows.write([{ table: "upstreamTokens", type: "put", token: await formerToken(former) }]);
        expect((await vault.get(owner))?.text).toBe(owner.tenant === "default" ? SECRET : undefined);
        await vault.put({ ...FACTS, ...former }, SECRET);
        expect((await vault.get(owner))?.text).toBe(owner.tenant === "default" ? SECRET : undefined);
      }
    });
  });

  describe("with a record from before ids told the source", () => {
    const FORMER = { ...OWNER, principal: "oidc:login.example:ann:app" };

    beforeEach(async () => {
      await rows.write([{ table: "upstreamTokens", type: "put", token: await formerToken(FORMER) }]);
    });

    test("gives it to whom it was got for, and keeps it as that of their source from then on", async () => {
      const vault = createVault();
      expect((await vault.get({ ...FORMER, principal: "oidc:login.example:ann:app@acme" }))?.text).toBe(SECRET);
      expect(await all()).toHaveLength(1);
      expect((await vault.get(FORMER))?.text).toBe(SECRET);
      expect((await only()).id).not.toBe(formerId(FORMER));
    });

    test("gives it to nobody of another source, and leaves it to its owner", async () => {
      const vault = createVault();
      for (const principal of ["oidc:other.example:ann:app", "token:acme/ann/0123456789ab", "local", "oidc:x"]) {
        expect(await vault.get({ ...OWNER, principal })).toBeUndefined();
        await vault.remove({ ...OWNER, principal }, "it was revoked");
      }
      expect((await vault.get(FORMER))?.text).toBe(SECRET);
    });

    test("removes it with what its owner has got since", async () => {
      const vault = createVault();
      await vault.put({ ...FACTS, principal: FORMER.principal }, "{}");
      await vault.remove(FORMER, "it was revoked");
      expect(await vault.get(FORMER)).toBeUndefined();
      expect(await all()).toEqual([]);
    });
  });

  test("[AP-134] [AP-135] [AP-136] rewrites no record for a new key, and writes what is written again with it", async () => {
    const vault = createVault();
    await vault.put(FACTS, SECRET);
    const old = await only();
    keys = wrappingKeys([NEW_KEY, OLD_KEY]);
    expect((await vault.get(OWNER))?.text).toBe(SECRET);
    expect(await only()).toEqual(old);
    await vault.put(FACTS, "{}", old.version);
    expect((await only()).keyId).toBe(keys.id);
    expect((await only()).keyId).not.toBe(old.keyId);
  });

  test("[AP-118] [AP-147] forgets a token at its end, and gives it to nobody after that", async () => {
    const vault = createVault();
    await vault.put(FACTS, SECRET);
    await vault.put({ ...FACTS, user: "bob", expiresAt: NOW + 50_000 }, SECRET);
    now += 5000;
    expect(await vault.get(OWNER)).toBeUndefined();
    expect(await vault.sweep()).toBe(1);
    expect(await all()).toHaveLength(1);
  });

  test("keeps nothing for longer than a key lives", async () => {
    await createVault().put({ ...FACTS, expiresAt: Number.MAX_SAFE_INTEGER }, SECRET);
    expect((await only()).expiresAt).toBe(NOW + MAX_TOKEN_MS);
  });

  test("lets one at a time make a new token of an old one", async () => {
    const vault = createVault();
    await vault.put(FACTS, SECRET);
    const row = await only();
    expect(await Promise.all([vault.lease(row, 1000), vault.lease(row, 1000)])).toEqual([true, false]);
    expect(await vault.put(FACTS, "{}", row.version)).toBe(false);
    expect(await vault.put(FACTS, "{}", row.version + 1)).toBe(true);
    expect((await only()).leasedUntil).toBe(0);
  });

  test("[AP-144] removes a token and notes why", async () => {
    const vault = createVault();
    await vault.put(FACTS, SECRET);
    await vault.remove(OWNER, "it was revoked");
    expect(await all()).toEqual([]);
    expect(events.map(({ type }) => type)).toEqual([
      "dev.isthmus.upstream_token_stored",
      "dev.isthmus.upstream_token_removed",
    ]);
    expect(events[1]).toMatchObject({ target: { server: "crm" }, details: { reason: "it was revoked" } });
  });
});
