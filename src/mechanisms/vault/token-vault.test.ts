import { beforeEach, describe, expect, test } from "vitest";
import { type AuditEvent, type Change, type UpstreamTokenRow, untracked } from "../../contract/index.ts";
import { MemoryTokenRows } from "./memory-token-rows.ts";
import { MAX_TOKEN_MS, TokenVault } from "./token-vault.ts";
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
