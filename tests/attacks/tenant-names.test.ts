/** A tenant's admin takes names before the platform speaks of them, or names that no rule of it writes out. */
import { beforeAll, expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { post, toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[[access.rules]]
match = "hello.greet"
when = '!(args.name in principal.groups)'
effect = "deny"
[[access.rules]]
match = "hello.count"
when = 'principal.groups.size() == 0'
effect = "deny"
[[access.rules]]
match = "hello.add"
when = 'principal.user.size() < 20'
effect = "deny"
[access.servers]
hidden = "opt-in"
${helloServer()}
${helloServer("hidden")}`;

const acme = ["--tenant", "acme"];
const tokens = {
  root: ["--user", "root", "--role", "admin"],
  boss: ["--user", "boss", "--role", "admin", ...acme],
};

const NAMES = { user: "a-very-long-name-of-somebody", client: "late-editor", groups: ["late-vip", "Ada"] };

type Made = { readonly id: string; readonly token: string };

describeAttacks("names that a tenant gives", { config, tokens }, (field) => {
  const make = async (body: object, bearer: string) => {
    const headers = { authorization: `Bearer ${bearer}` };
    const { status, body: made } = await field.api("POST", "/api/tokens", body, { headers });
    expect(status).toBe(201);
    return made as Made;
  };
  const isCalledAt = async (at: number, name: string, { token }: Made) => {
    const call = toolCall(1, name, { name: "Ada", to: 1, a: 1, b: 2 });
    const { messages } = await post(`${field.origin(at)}/mcp`, call, { authorization: `Bearer ${token}` });
    return messages[0]?.result?.isError !== true && messages[0]?.error === undefined;
  };
  const isCalled = async (name: string, made: Made) => {
    const all = await Promise.all(Array.from({ length: field.processes }, (_none, at) => isCalledAt(at, name, made)));
    return all.includes(true);
  };
  const isCalledEverywhere = async (name: string, made: Made) => {
    const all = await Promise.all(Array.from({ length: field.processes }, (_none, at) => isCalledAt(at, name, made)));
    return !all.includes(false);
  };

  let given: Made;
  /** The same names, by each way to them that a tenant's admin has. */
  const taken: Record<string, Made> = {};
  beforeAll(async () => {
    given = await make({ tenant: "acme", ...NAMES }, field.token("root"));
    const puppet = await make({ ...NAMES, role: "admin" }, field.token("boss"));
    const first = await make(NAMES, field.token("boss"));
    const rotated = await field.api("POST", `/api/tokens/${first.id}/rotate`, {}, { as: "root" });
    const platforms = await make({ tenant: "acme", ...NAMES }, field.token("root"));
    const own = await field.api("POST", `/api/tokens/${platforms.id}/rotate`, {}, { as: "boss" });
    const again = await field.api("POST", `/api/tokens/${(own.body as Made).id}/rotate`, {}, { as: "root" });
    taken["a token that the platform made and it rotated, and the platform again"] = again.body as Made;
    taken["a token that it made"] = await make(NAMES, field.token("boss"));
    taken["a token of a token that it made"] = await make(NAMES, puppet.token);
    taken["a token that it made and the platform rotated"] = rotated.body as Made;
  });

  const WAYS = [
    "a token that it made",
    "a token of a token that it made",
    "a token that it made and the platform rotated",
    "a token that the platform made and it rotated, and the platform again",
  ] as const;

  test.each(["hello.greet", "hello.count", "hello.add"])(
    "evade no rule that denies %s by other names",
    async (name) => {
      expect(await isCalledEverywhere(name, given)).toBe(true);
      for (const way of WAYS) expect(await isCalled(name, taken[way] as Made), way).toBe(false);
    },
  );

  test.each([
    ["user", NAMES.user],
    ["user", "a-very-*"],
    ["client", "late-editor"],
    ["group", "late-vip"],
    ["group", "*"],
  ])("get nothing of what the platform allows later to the %s %s of all tenants", async (type, idOrPattern) => {
    const bindings = (org: string) => `/api/policy/orgs/${org}/bindings`;
    const bound = { target: { type, idOrPattern }, primitive: { name: "hidden.*" }, allowed: true };
    const { body, status } = await field.api("PUT", bindings("*"), bound, { as: "root" });
    expect(status).toBe(200);
    await expect.poll(() => isCalledEverywhere("hidden.greet", given), { timeout: 5_000 }).toBe(true);
    for (const way of WAYS) expect(await isCalled("hidden.greet", taken[way] as Made), way).toBe(false);
    const { id } = body as { id: string };
    await field.api("DELETE", `${bindings("*")}/${id}`, undefined, { as: "root" });
    await expect.poll(() => isCalled("hidden.greet", given), { timeout: 5_000 }).toBe(false);
  });

  test("get what the platform allows them in this tenant, and it is told how many there are", async () => {
    const bound = {
      target: { type: "group", idOrPattern: "late-vip" },
      primitive: { name: "hidden.*" },
      allowed: true,
    };
    const { body } = await field.api("PUT", "/api/policy/orgs/acme/bindings", bound, { as: "root" });
    expect(body).toMatchObject({ tenantTokens: 5 });
    await expect.poll(() => isCalledEverywhere("hidden.greet", taken[WAYS[0]] as Made), { timeout: 5_000 }).toBe(true);
  });
});

const allow = (name: string, when: string) =>
  `[[access.rules]]\nmatch = "hello.${name}"\ntenant = "acme"\nwhen = '${when}'\neffect = "allow"\n`;
const meantConfig = `[auth]
tokens = true
[access]
defaultPolicy = "opt-in"
${allow("greet", 'principal.user.lowerAscii() == "chief@corp.example"')}
${allow("count", 'principal.groups.exists(g, g.lowerAscii() == "vault-admins")')}
${allow("add", 'principal.client.trim().upperAscii() in ["EDITOR"]')}
${helloServer()}`;
const MEANT: readonly (readonly [name: string, type: "user" | "client" | "groups", spellings: readonly string[]])[] = [
  ["hello.greet", "user", ["chief@corp.example", "Chief@corp.example", "CHIEF@CORP.EXAMPLE", "chief@corp.Example"]],
  ["hello.count", "groups", ["vault-admins", "Vault-Admins", "VAULT-ADMINS", "vault-admin\u017f"]],
  ["hello.add", "client", ["editor", "Editor", "ed\u0131tor", "eDITOR"]],
];

describeAttacks("names that a rule means in other spellings", { config: meantConfig, tokens }, (field) => {
  test.each(MEANT)("are not for a tenant's admin to give: %s by %s", async (tool, type, spellings) => {
    const named = (name: string) =>
      type === "groups" ? { user: "eve", groups: [name] } : { user: "eve", [type]: name };
    for (const name of spellings) {
      const { status } = await field.api("POST", "/api/tokens", named(name), { as: "boss" });
      expect([name, status]).toEqual([name, 403]);
    }
    const { status } = await field.api("POST", "/api/tokens", named("somebody"), { as: "boss" });
    expect(status).toBe(201);
    const body = { tenant: "acme", ...named(spellings[1] ?? "") };
    const { body: given } = await field.api("POST", "/api/tokens", body, { as: "root" });
    const headers = { authorization: `Bearer ${(given as Made).token}` };
    const { messages } = await field.rpc(toolCall(1, tool, { name: "Ada", to: 1, a: 1, b: 2 }), { headers });
    expect(messages[0]?.result?.isError ?? false).toBe(false);
    expect(messages[0]?.error).toBeUndefined();
  });
});
