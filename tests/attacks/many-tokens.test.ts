/** Hoarding tokens, and finding out those of others from the pages of a list. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";
import { openTables } from "./kit/kept-trail.ts";

const config = `[auth]\ntokens = true\n${helloServer()}`;
const tokens = {
  root: ["--user", "root", "--role", "admin"],
  acme: ["--user", "adm", "--tenant", "acme", "--role", "admin"],
  globex: ["--user", "adm", "--tenant", "globex", "--role", "admin"],
};
const COLUMNS =
  "user_name, client, group_names, scopes, role, created_at, created_by, makers, named_by, maker_names, last_used_at";

/** Tokens as if somebody had made them. One process locks its file: there they are made, which takes a while. */
async function fill(field: Attacked, tenant: string, count: number, expiresAt = 0): Promise<void> {
  if (field.processes === 1) {
    const make = () => field.api("POST", "/api/tokens", { user: "many", tenant }, { as: "root" });
    for (let at = 0; at < count; at += 50) await Promise.all(Array.from({ length: Math.min(50, count - at) }, make));
    return;
  }
  const [url = ""] = /postgres:\/\/[^"]+/.exec(readFileSync(join(field.folder(0), "isthmus.toml"), "utf8")) ?? [];
  const tables = await openTables({ url });
  await tables.query(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
     insert into tokens (hash, id, tenant, expires_at, ${COLUMNS})
     select '${tenant}' || ${expiresAt} || i, '${tenant}' || ${expiresAt} || i, '${tenant}', ${expiresAt}, ${COLUMNS}
     from n, (select ${COLUMNS} from tokens where tenant = 'acme' and role = 'admin' limit 1) t`,
  );
  await tables.close();
}

describeAttacks("a tenant with very many tokens", { config, tokens }, (field) => {
  type Page = { readonly tokens: readonly { readonly id: string; readonly tenant: string }[]; readonly next?: string };
  async function page(as: string, after?: string): Promise<Page> {
    const path = after === undefined ? "/api/tokens" : `/api/tokens?after=${encodeURIComponent(after)}`;
    return (await field.api("GET", path, undefined, { as })).body as Page;
  }
  const make = (as: string, body: object) => field.api("POST", "/api/tokens", body, { as });

  test("tells no other where its tokens are, by no page of a list", async () => {
    await fill(field, "globex", 1_200);
    for (const after of [undefined, "0", "globex01", "zzz"]) {
      const { tokens: found, next } = await page("acme", after);
      expect(next).toBeUndefined();
      expect(found.every(({ tenant }) => tenant === "acme")).toBe(true);
    }
    const first = await page("globex");
    expect(first.tokens.map(({ id }) => id)).toContain(first.next);
    let [count, next] = [first.tokens.length, first.next];
    for (; next !== undefined; ) {
      const more = await page("globex", next);
      count += more.tokens.length;
      next = more.next;
    }
    expect(count).toBe(1_201);
  });

  // In one process 10,000 would have to be made, which takes a minute: see token-operations.test.ts and the contract of the tables.
  test.runIf(field.processes === 3).each([
    ["for itself", { user: "adm" }],
    ["for others", { user: "zoe", client: "app" }],
    ["that can make more", { user: "dep", role: "admin" }],
    ["that end soon", { user: "zoe", expiresIn: "1h" }],
  ])("gets no more %s, until it revokes some; rotating and the platform go on, and so do others", async (_, body) => {
    // Those that are over do not count.
    if ((await page("acme")).tokens.length === 1) {
      await fill(field, "acme", 500, 1);
      await fill(field, "acme", 9_999);
    }
    const refused = await make("acme", body);
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining("10000 tokens of the tenant acme")]);
    expect((await make("globex", body)).status).toBe(201);
    const more = await make("root", { tenant: "acme", user: "pat" });
    const { id } = more.body as { id: string };
    const rotated = await field.api("POST", `/api/tokens/${id}/rotate`, {}, { as: "acme" });
    expect([more.status, rotated.status]).toEqual([201, 201]);
    const last = rotated.body as { id: string };
    for (const gone of [last.id, "acme01"]) await field.api("DELETE", `/api/tokens/${gone}`, undefined, { as: "acme" });
    const made = await make("acme", body);
    expect(made.status).toBe(201);
    await field.api("DELETE", `/api/tokens/${(made.body as { id: string }).id}`, undefined, { as: "acme" });
    await fill(field, "acme", 1);
  });
});
