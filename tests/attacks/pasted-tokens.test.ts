/** A token that an operator pastes where its hash belongs: whoever reads the trail or the list of blocks would have it. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";

const config = `[auth]
tokens = true
[audit]
[access]
defaultPolicy = "opt-out"
${helloServer()}`;
const BOSSES = ["byHash", "byServer", "byClient", "byUser", "byHeader", "byLine", "byQuote", "byAddress"] as const;
const tokens = {
  op: ["--user", "op", "--role", "operator"],
  view: ["--user", "view", "--role", "viewer"],
  reason: ["--user", "reason", "--role", "admin"],
  loud: ["--user", "loud"],
  named: ["--user", "named"],
  ...Object.fromEntries(BOSSES.map((boss) => [boss, ["--user", boss, "--role", "admin"]])),
};

const revoke = (field: Attacked, body: object) => field.api("POST", "/api/revocations", body, { as: "op" });
const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");

/** All that a viewer can read of it, and the logs. */
async function readable(field: Attacked): Promise<string> {
  const paths = ["/api/audit?limit=1000", "/api/orgs/default/blocks"];
  const read = paths.map(async (path) => (await field.api("GET", path, undefined, { as: "view" })).text);
  return [...(await Promise.all(read)), field.log()].join("\n");
}

describeAttacks("a token that is pasted into a revocation", { config, tokens }, (field) => {
  test.each<[(typeof BOSSES)[number], (token: string) => object]>([
    ["byHash", (hash) => ({ type: "client", hash })],
    ["byServer", (hash) => ({ type: "downstream", hash })],
    ["byClient", (id) => ({ type: "client", id })],
    ["byUser", (id) => ({ type: "user", id })],
    ["byHeader", (token) => ({ type: "client", hash: `Bearer ${token}` })],
    ["byLine", (token) => ({ type: "user", id: `Authorization: Bearer ${token}` })],
    ["byQuote", (token) => ({ type: "client", id: `"${token}".` })],
    ["byAddress", (token) => ({ type: "user", id: `http://127.0.0.1/?token=${token}` })],
  ])("is refused, and nobody reads it anywhere (%s)", async (boss, body) => {
    const token = field.token(boss);
    const refused = await revoke(field, body(token));
    expect([refused.status, refused.text]).toEqual([422, expect.not.stringContaining(token)]);
    expect(refused.text).toContain("hash");
    // Its hash is what ends it, and what the trail has.
    expect((await revoke(field, { type: "client", hash: hashOf(token) })).status).toBe(201);
    await expect.poll(() => readable(field)).toContain(hashOf(token));
    expect(await readable(field)).not.toContain(token);
  });

  test("is not kept where it stands in the reason, and the block holds", async () => {
    const token = field.token("reason");
    expect((await revoke(field, { type: "user", id: "reason", reason: `found ${token} in a log` })).status).toBe(201);
    const status = async () => (await field.api("GET", "/api/tokens", undefined, { as: "reason" })).status;
    await expect.poll(status).toBe(401);
    await expect.poll(() => readable(field)).toContain("[redacted]");
    expect(await readable(field)).not.toContain(token);
  });

  test.each([
    ["loud", (hash: string) => hash.toUpperCase()],
    ["named", (hash: string) => `sha256:${hash}`],
  ] as const)("ends by its hash as programs print it (%s)", async (user, written) => {
    const list = async () => (await field.rpc({ id: 1, method: "tools/list" }, { as: user })).status;
    expect(await list()).toBe(200);
    expect((await revoke(field, { type: "client", hash: written(hashOf(field.token(user))) })).status).toBe(201);
    for (let at = 0; at < field.processes; at++) await expect.poll(list).toBe(401);
  });
});
