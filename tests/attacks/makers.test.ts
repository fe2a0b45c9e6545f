/** Being rid of what the platform says about those who made a token: of their names and of their blocks. */
import { createHash } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { toolCall } from "../e2e/kit/rpc.ts";
import { eventually } from "../kit/eventually.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { KeyIssuer } from "./kit/key-issuer.ts";

// Its address stands in the config, which is made before any hook runs.
const issuer = await KeyIssuer.start();
afterAll(() => issuer[Symbol.asyncDispose]());

const config = `
[auth]
tokens = true
samePeople = ["tokens"]
resource = "https://gateway.example"
${issuer.table('tenant = "acme"\nclaims = { groups = "groups", role = "role" }')}
[access]
defaultPolicy = "opt-out"
[[access.rules]]
match = "pay.*"
when = '"trial" in principal.scopes'
effect = "deny"
[[access.rules]]
match = "pay.*"
when = '"externs" in principal.groups'
effect = "deny"
${helloServer("pay")}${helloServer("free")}
`;
const tokens = {
  root: ["--user", "root", "--role", "admin"],
  chief: ["--user", "chief", "--tenant", "acme", "--role", "admin", "--scope", "*"],
};
type Made = { readonly id: string; readonly token: string };

describeAttacks("what the platform says about the maker of a token", { config, tokens }, (field) => {
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  /** The servers of which a token may use something, or the status with which it is turned away. */
  async function usable(token: string, at?: number): Promise<(string | number)[]> {
    const found: (string | number)[] = [];
    for (const id of ["pay", "free"]) {
      const way = { ...bearer(token), ...(at !== undefined && { at }) };
      const { status, messages } = await field.rpc(toolCall(1, `${id}.greet`, { name: "Ada" }), way);
      if (status === 401) found.push(status);
      else if (JSON.stringify(messages).includes("Hello, Ada!")) found.push(id);
    }
    return found;
  }
  async function make(by: string, body: object, path = "/api/tokens"): Promise<Made> {
    const answer = await field.api("POST", path, body, bearer(by));
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return answer.body as Made;
  }
  const rotate = (by: string, { id }: Made) => make(by, {}, `/api/tokens/${id}/rotate`);
  /** One of acme's, whom the platform makes. */
  const platformMakes = (body: object) => make(field.token("root"), { tenant: "acme", role: "admin", ...body });
  /** In every process: a change takes a moment to reach the others. */
  async function until(token: string, expected: readonly (string | number)[]): Promise<void> {
    const isAsExpected = (found: object) => JSON.stringify(found) === JSON.stringify(expected);
    for (let at = 0; at < field.processes; at++)
      expect(await eventually(() => usable(token, at), isAsExpected)).toEqual(expected);
  }

  test.each([
    ["somebody else", { user: "zoe" }],
    ["itself", { user: "tried" }],
    ["another program", { user: "tried", client: "other", groups: ["staff"] }],
  ])("holds by its scope for a token for %s, also after a colleague has rotated the maker's", async (_, body) => {
    const boss = await rotate(field.token("chief"), await platformMakes({ user: "tried", scopes: ["trial"] }));
    expect(await usable(boss.token)).toEqual(["free"]);
    expect(await usable((await make(boss.token, body)).token)).toEqual(["free"]);
    const deputy = await make(boss.token, { user: "deputy", role: "admin" });
    expect(await usable((await make(deputy.token, body)).token)).toEqual(["free"]);
    expect(await usable((await rotate(field.token("chief"), deputy)).token)).toEqual(["free"]);
  });

  test("holds for whoever a colleague made or rotated before it was said", async () => {
    const boss = await rotate(field.token("chief"), await platformMakes({ user: "mia", groups: ["contractors"] }));
    const deputy = await make(field.token("chief"), { user: "dep", role: "admin" });
    for (const [type, idOrPattern] of [
      ["group", "contractors"],
      ["user", "dep"],
    ]) {
      const denial = { target: { type, idOrPattern }, primitive: { name: "pay.*" }, allowed: false };
      const { status } = await field.api("PUT", "/api/policy/orgs/acme/bindings", denial, { as: "root" });
      expect(status).toBe(200);
    }
    for (const { token } of [boss, deputy]) await until(token, ["free"]);
    for (const [{ token }, user] of [
      [boss, "mia"],
      [boss, "yan"],
      [deputy, "yan"],
    ] as const)
      expect(await usable((await make(token, { user })).token)).toEqual(["free"]);
    expect(await usable((await make(field.token("chief"), { user: "yan" })).token)).toEqual(["pay", "free"]);
  });

  test("holds as it is when a token is rotated, not as it was when the token was made", async () => {
    const knownAs = (groups: readonly string[]) => issuer.token({ sub: "x", role: "admin", groups });
    const kim = await make(knownAs([]), { user: "kim", expiresIn: "9m" });
    expect(await usable(kim.token)).toEqual(["pay", "free"]);
    const again = await rotate(knownAs(["externs"]), kim);
    expect(await usable(again.token)).toEqual(["free"]);
    expect(await usable((await rotate(knownAs([]), again)).token)).toEqual(["free"]);
  });

  test.each<[string, (boss: Made) => object]>([
    ["its user", () => ({ type: "user", id: "blo" })],
    ["its client", () => ({ type: "client", id: "blo-app" })],
    ["the principal that its token is", ({ id }) => ({ type: "principal", id: `token:acme/blo/${id}` })],
    ["its token", ({ token }) => ({ type: "client", hash: createHash("sha256").update(token).digest("hex") })],
  ])("holds by a block of %s: for one server, and for everything", async (_, meant) => {
    const boss = await platformMakes({ user: "blo", client: "blo-app" });
    const early = await make(boss.token, { user: "early", role: "admin" });
    const block = async (more: object) => {
      const body = { ...meant(boss), tenant: "acme", ...more };
      const answer = await field.api("POST", "/api/revocations", body, { as: "root" });
      return answer.body as { id: string; tokensMade: number };
    };
    const inPart = await block({ server: "pay" });
    for (const { token } of [boss, early]) await until(token, ["free"]);
    for (const body of [{ user: "zoe" }, { user: "blo", client: "other" }])
      expect(await usable((await make(boss.token, body)).token)).toEqual(["free"]);
    expect(await usable((await make(early.token, { user: "late" })).token)).toEqual(["free"]);
    // Those of early, zoe and late; its own it may be about as it is.
    const whole = await block({});
    expect(whole.tokensMade).toBeGreaterThanOrEqual(3);
    for (const { token } of [boss, early]) await until(token, [401, 401]);
    expect((await field.api("POST", "/api/tokens", { user: "later" }, bearer(early.token))).status).toBe(401);
    for (const { id } of [inPart, whole])
      await field.api("DELETE", `/api/orgs/acme/blocks/${id}`, undefined, { as: "root" });
    await until(early.token, ["pay", "free"]);
  });

  test("ends nothing that somebody made whose token was rotated or revoked, or whom their own tenant has blocked", async () => {
    const leaver = await platformMakes({ user: "leaver" });
    const made = await make(leaver.token, { user: "service" });
    const next = await rotate(field.token("root"), leaver);
    const blocked = { type: "user", id: "leaver" };
    expect((await field.api("POST", "/api/revocations", blocked, { as: "chief" })).body).not.toHaveProperty(
      "tokensMade",
    );
    await until(next.token, [401, 401]);
    await until(made.token, ["pay", "free"]);
    await field.api("DELETE", `/api/tokens/${next.id}`, undefined, { as: "chief" });
    await until(made.token, ["pay", "free"]);
  });
});
