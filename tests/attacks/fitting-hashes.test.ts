/** Making tokens until the hash of one, which stands for its client, fits what the platform allows to clients. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

// Nearly every hash has each of these letters.
const config = `
[auth]
tokens = true
[access]
defaultPolicy = "opt-in"
[[access.bindings]]
target = { type = "client", pattern = "*a*" }
primitive = "bound.*"
allowed = true
[[access.rules]]
match = "held.*"
when = 'principal.client.contains("b")'
effect = "allow"
[[access.rules]]
match = "fitting.*"
when = 'glob(principal.client, "*c*")'
effect = "allow"
[[access.bindings]]
target = { type = "client", pattern = "*" }
primitive = "free.*"
allowed = true
${["bound", "held", "fitting", "free"].map((id) => helloServer(id)).join("")}
`;
const tokens = {
  unnamed: ["--user", "kay", "--tenant", "acme", "--role", "admin"],
  boss: ["--user", "boss", "--tenant", "acme", "--client", "xyz", "--role", "admin"],
  app: ["--user", "pat", "--tenant", "acme", "--client", "abc"],
};

describeAttacks("what the platform allows to clients by a pattern", { config, tokens }, (field) => {
  async function usable(token: string): Promise<string[]> {
    const found: string[] = [];
    for (const id of ["bound", "held", "fitting", "free"]) {
      const way = { headers: { authorization: `Bearer ${token}` } };
      const { messages } = await field.rpc(toolCall(1, `${id}.greet`, { name: "Ada" }), way);
      if (JSON.stringify(messages).includes("Hello, Ada!")) found.push(id);
    }
    return found;
  }

  test("is for clients that the platform named so, and for no token of a tenant whose hash fits", async () => {
    expect(await usable(field.token("app"))).toEqual(["bound", "held", "fitting", "free"]);
    for (const user of ["boss", "zoe", "yan", "xel"]) {
      const { body } = await field.api("POST", "/api/tokens", { user }, { as: "boss" });
      expect(await usable((body as { token: string }).token)).toEqual(["free"]);
    }
  });

  test("is for no token that a tenant's admin gives, for a client, the hash that stands for its own", async () => {
    const hash = createHash("sha256").update(field.token("unnamed")).digest("hex");
    expect(await usable(field.token("unnamed"))).not.toContain("bound");
    const { status, text } = await field.api("POST", "/api/tokens", { user: "kay", client: hash }, { as: "unnamed" });
    expect([status, text]).toEqual([403, expect.stringContaining(`the name of the client \\"${hash}\\"`)]);
  });
});
