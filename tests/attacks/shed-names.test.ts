/** Being rid of a name by which the platform denies something, by making a token without it. */
import { expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const SERVERS = ["group", "client", "agent", "rule", "label", "gate", "opened"];
const config = `
[auth]
tokens = true
[gate]
hold = "50ms"
[access]
defaultPolicy = "opt-out"
[access.servers]
opened = "opt-in"
[[access.bindings]]
target = { type = "group", pattern = "contractors" }
primitive = "group.*"
allowed = false
[[access.bindings]]
target = { type = "client", pattern = "old-*" }
primitive = "client.*"
allowed = false
[[access.grants]]
agent = "boss"
server = "agent"
permission = "deny"
[[access.rules]]
match = "rule.*"
when = '"contractors" in principal.groups'
effect = "deny"
[[access.rules]]
match = "label.*"
when = '"trial" in principal.scopes'
effect = "deny"
[[access.rules]]
match = "gate.*"
when = '"contractors" in principal.groups'
effect = "confirm"
evidence = "operator"
[[access.rules]]
match = "opened.*"
when = '!("contractors" in principal.groups)'
effect = "allow"
${[...SERVERS, "free"].map((id) => helloServer(id)).join("")}
`;
const ADMIN = ["--role", "admin"];
const NAMES = ["--group", "contractors", "--client", "old-app", "--scope", "trial"];
const tokens = {
  root: ["--user", "root", ...ADMIN],
  boss: ["--user", "boss", "--tenant", "acme", ...ADMIN, ...NAMES],
  plain: ["--user", "plain", "--tenant", "acme", ...ADMIN],
  kim: ["--user", "kim", "--tenant", "acme"],
};

describeAttacks("a name by which the platform denies something", { config, tokens }, (field) => {
  /** The servers of which a token may use something. */
  async function usable(token: string): Promise<string[]> {
    const found: string[] = [];
    for (const id of [...SERVERS, "free"]) {
      const way = { headers: { authorization: `Bearer ${token}` } };
      const { messages } = await field.rpc(toolCall(1, `${id}.greet`, { name: "Ada" }), way);
      if (JSON.stringify(messages).includes("Hello, Ada!")) found.push(id);
    }
    return found;
  }
  async function made(by: string, body: object, path = "/api/tokens"): Promise<{ token: string; id: string }> {
    const headers = { authorization: `Bearer ${by}` };
    const answer = await field.api("POST", path, body, { headers });
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return answer.body as { token: string; id: string };
  }

  test("is borne by whoever has it, and by nobody whom the platform or another admin made", async () => {
    expect(await usable(field.token("boss"))).toEqual(["free"]);
    expect(await usable(field.token("plain"))).toEqual([...SERVERS, "free"]);
    expect(await usable((await made(field.token("plain"), { user: "zoe" })).token)).toEqual([...SERVERS, "free"]);
    const ofRoot = await made(field.token("root"), { user: "pat", tenant: "acme" });
    expect(await usable(ofRoot.token)).toEqual([...SERVERS, "free"]);
  });

  test.each([
    ["for itself", { user: "boss" }],
    ["for itself, for another program", { user: "boss", client: "new-app", groups: ["contractors"] }],
    ["for somebody else", { user: "zoe" }],
    ["for somebody else, with other names", { user: "zoe", client: "zoes-app", groups: ["staff"], scopes: ["trial"] }],
  ])("is not shed by a token that its bearer makes %s", async (_, body) => {
    expect(await usable((await made(field.token("boss"), body)).token)).toEqual(["free"]);
  });

  test("is not shed by a token of a token, nor by one that is rotated, whoever rotates it", async () => {
    const deputy = await made(field.token("boss"), { user: "deputy", role: "admin" });
    const puppet = await made(deputy.token, { user: "puppet" });
    expect(await usable(puppet.token)).toEqual(["free"]);
    for (const by of [deputy.token, field.token("plain"), field.token("root")]) {
      const old = await made(field.token("boss"), { user: "zed" });
      expect(await usable((await made(by, {}, `/api/tokens/${old.id}/rotate`)).token)).toEqual(["free"]);
    }
    const { body } = await field.api("GET", "/api/tokens", undefined, { as: "root" });
    const { tokens: all } = body as { tokens: readonly { id: string; user: string }[] };
    const kim = all.find(({ user }) => user === "kim")?.id;
    expect(await usable((await made(field.token("boss"), {}, `/api/tokens/${kim}/rotate`)).token)).toEqual(["free"]);
  });
});
