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
