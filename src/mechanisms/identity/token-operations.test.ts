import { describe, expect, test } from "vitest";
import {
  type AuditEvent,
  type Change,
  LOCAL,
  type Operation,
  type Principal,
  type TokenRow,
} from "../../contract/index.ts";
import { MemoryTokens, NOW } from "./fixtures/identity-rig.ts";
import { tokenHash } from "./static-token.ts";
import { tokenOperations } from "./token-operations.ts";

const admin = (tenant: string): Principal => ({
  id: `admin of ${tenant}`,
  identity: { tenant, user: "root", client: "c", groups: [], scopes: [], role: "admin", proof: "token" },
});

function makeRig() {
  const rows = new MemoryTokens();
  const committed: { event: AuditEvent; changes: readonly Change[] }[] = [];
  const revoked: string[] = [];
  const operations = tokenOperations({
    rows,
    now: () => NOW,
    audit: {
      note: () => undefined,
      async commit(event, changes) {
        committed.push({ event, changes });
        for (const change of changes) apply(rows, change);
        return true;
      },
    },
    onRevoke: async ({ id }) => void revoked.push(`before ${id}`),
    onRevoked: ({ hash }) => void revoked.push(`after ${hash}`),
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

function apply(rows: MemoryTokens, change: Change): void {
  if (change.table !== "tokens") return;
  if (change.type === "add") rows.rows.set(change.row.hash, change.row);
  else for (const [hash, { id }] of rows.rows) if (id === change.id) rows.rows.delete(hash);
}

describe("token operations", () => {
  test("are for admins", () => {
    expect(makeRig().operations.map(({ role }) => role)).toEqual(["admin", "admin", "admin"]);
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

  test.each([
    { user: "" },
    { user: "a\nb" },
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
});
