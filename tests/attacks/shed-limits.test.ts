/** Being rid of a limit that names somebody, by making tokens for others. */
import { expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const SERVERS = ["user", "client", "pattern", "each", "free"];
const config = `
[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[[limits]]
server = "user"
tenant = "acme"
user = "chief"
budget = 1
[[limits]]
server = "client"
client = "old-app"
budget = 1
[[limits]]
server = "pattern"
user = "chi*"
per = ["user"]
budget = 1
[[limits]]
server = "each"
user = "*"
per = ["user"]
budget = 1
${SERVERS.map((id) => helloServer(id)).join("")}
`;
const tokens = {
  root: ["--user", "root", "--role", "admin"],
  chief: ["--user", "chief", "--client", "old-app", "--tenant", "acme", "--role", "admin"],
  plain: ["--user", "plain", "--tenant", "acme", "--role", "admin"],
};
const LIMITED = SERVERS.filter((id) => id !== "free" && id !== "each");

describeAttacks("a limit that names somebody", { config, tokens }, (field) => {
  /** The servers that a token may use now. */
  async function usable(token: string): Promise<string[]> {
    const found: string[] = [];
    for (const id of SERVERS) {
      const headers = { authorization: `Bearer ${token}` };
      const { messages } = await field.rpc(toolCall(1, `${id}.greet`, { name: "Ada" }), { headers });
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

  test("is spent for whom it names, and is none of others and what they make", async () => {
    expect(await usable(field.token("chief"))).toEqual(SERVERS);
    expect(await usable(field.token("chief"))).toEqual(["free"]);
    expect(await usable(field.token("plain"))).toEqual(SERVERS);
    expect(await usable((await made(field.token("plain"), { user: "zoe" })).token)).toEqual(SERVERS);
  });

  test.each([
    ["for itself, for another program", { user: "chief", client: "new-app" }, []],
    ["for somebody else", { user: "other" }, ["each"]],
    ["for somebody else whom the limit could name", { user: "chile", client: "chiles-app" }, ["each"]],
  ])("is not shed by a token that it makes %s", async (_, body, others) => {
    const { token } = await made(field.token("chief"), body);
    expect(await usable(token)).toEqual([...others, "free"]);
  });

  test("is not shed by a token of a token, nor by one that is rotated, whoever rotates it", async () => {
    const deputy = await made(field.token("chief"), { user: "deputy", role: "admin" });
    const puppet = await made(deputy.token, { user: "puppet" });
    for (const id of LIMITED) expect(await usable(puppet.token)).not.toContain(id);
    for (const by of ["plain", "root"]) {
      const old = await made(field.token("chief"), { user: "zed" });
      const { token } = await made(field.token(by), {}, `/api/tokens/${old.id}/rotate`);
      for (const id of LIMITED) expect(await usable(token)).not.toContain(id);
    }
  });
});
