/** A server without a prefix that calls what it offers as another server's, to have what is allowed, limited or denied of that one. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { toolCall } from "../e2e/kit/rpc.ts";
import { modern } from "../kit/modern-client.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const SERVER = fileURLToPath(new URL("./kit/named-server.mjs", import.meta.url));
const server = (id: string, names: readonly string[], more = "") => `[[servers]]
id = "${id}"
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([SERVER, ...names])}
${more}
`;
const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-in"
[[access.bindings]]
target = { type = "user", pattern = "ann" }
primitive = "pay.*"
[[access.bindings]]
target = { type = "user", pattern = "bob" }
primitive = "bare.pay.phish"
[[access.bindings]]
target = { type = "user", pattern = "bob" }
primitive = "plain"
[[access.rules]]
match = "ruled.*"
effect = "allow"
[[access.rules]]
match = "pay.locked"
effect = "deny"
[[access.grants]]
agent = "cy"
server = "bare"
[[limits]]
primitive = "ruled.*"
budget = 1
${server("bare", ["pay.phish", "pay.send", "ruled.phish", "pay.locked", "plain", "pay.x:secret"], 'prefix = ""')}
${server("pay", ["send", "look", "locked"])}
${server("ruled", ["look"])}
`;
const tokens = {
  ann: ["--user", "ann"],
  bob: ["--user", "bob"],
  cy: ["--user", "cy"],
  root: ["--user", "root", "--role", "admin"],
};

describeAttacks("a server without a prefix", { config, tokens }, (field) => {
  const all = ["pay.phish", "ruled.phish", "plain"];
  const textOf = async (message: object, as: string, catalog?: string) =>
    JSON.stringify((await field.rpc(message, { as, ...(catalog !== undefined && { catalog }) })).messages);
  const get = (name: string) => ({ id: 1, method: "prompts/get", params: { name } });
  const read = (uri: string) => ({ id: 1, method: "resources/read", params: { uri } });

  test.each(all)("has nothing of what another's name is allowed: %s", async (name) => {
    for (const catalog of [undefined, "bare"]) {
      for (const message of [toolCall(1, name, {}), get(name)])
        expect(await textOf(message, "ann", catalog)).not.toContain("DONE");
    }
    const { body, headers = {} } = modern("tools/call", { name, arguments: {} });
    const { messages } = await field.rpc(JSON.parse(String(body)) as object, { as: "ann", headers });
    expect(JSON.stringify(messages)).not.toContain("DONE");
    expect(await textOf({ id: 1, method: "tools/list" }, "ann")).not.toContain(`"${name}"`);
  });

  test("has no URI and no name in lists that is another's", async () => {
    expect(await textOf(read("pay.x:secret"), "ann")).not.toContain("DONE");
    for (const name of ["pay.send", "pay.locked"])
      expect(await textOf(toolCall(1, name, {}), "ann")).not.toMatch(/DONE.*pay\.phish/);
    expect((await field.rpc({ id: 1, method: "tools/list" }, { as: "ann", catalog: "bare" })).status).toBe(404);
  });

  test("is spoken of by its id, and has what is allowed so", async () => {
    expect(await textOf(toolCall(1, "pay.phish", {}), "bob")).toContain("DONE");
    expect(await textOf(toolCall(1, "plain", {}), "bob", "bare")).toContain("DONE");
    expect(await textOf(toolCall(1, "pay.send", {}), "bob", "bare")).not.toContain("DONE");
    const listed = await textOf({ id: 1, method: "tools/list" }, "bob");
    expect(listed).toContain('"pay.phish"');
    expect(listed).not.toContain('"pay.look"');
  });

  test("takes nothing from what is limited of another, and is not under what is denied of another", async () => {
    expect(await textOf(toolCall(1, "ruled.look", {}), "ann")).toContain("DONE");
    expect(await textOf(toolCall(1, "ruled.look", {}), "ann")).toContain("The budget of this");
    for (const name of ["ruled.phish", "pay.locked", "pay.send"])
      expect(await textOf(toolCall(1, name, {}), "cy", "bare")).toContain("DONE");
    expect(await textOf(read("pay.x:secret"), "cy", "bare")).toContain("DONE");
  });

  test("is explained by those names, and the API refuses others", async () => {
    const explain = async (place: object) =>
      (await field.api("POST", "/api/access/explain", { tenant: "default", user: "ann", ...place }, { as: "root" }))
        .body as { effect: string; primitive: string };
    for (const place of [{ server: "bare", primitive: "pay.phish" }, { primitive: "bare.pay.phish" }])
      expect(await explain(place)).toMatchObject({ effect: "deny", primitive: "bare.pay.phish" });
    expect(await explain({ primitive: "pay.look" })).toMatchObject({ effect: "allow", primitive: "pay.look" });
    const limits = [{ selector: { primitive: "pay.phish" }, budget: 1 }];
    const refused = await field.api("PUT", "/api/ratelimits/orgs/default", limits, { as: "root" });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(`bare.pay.phish`)]);
    expect(field.log()).toContain("names of a server without a prefix");
  });
});

const alone = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
${server("bare", ["pay.send", "pay.look", "plain"], 'prefix = ""')}`;

describeAttacks("a server without a prefix that is alone", { config: alone, tokens }, (field) => {
  const isDone = async (name: string) =>
    JSON.stringify((await field.rpc(toolCall(1, name, {}), { as: "ann" })).messages).includes("DONE");
  const deny = (name: string) => {
    const binding = { target: { type: "user", idOrPattern: "ann" }, primitive: { name }, allowed: false };
    return field.api("PUT", "/api/policy/orgs/default/bindings", binding, { as: "root" });
  };

  test.each(["bare.pay.send", "bare.pay.l*", "plain"])("stays closed by %s when another is added", async (pattern) => {
    const name = { "bare.pay.send": "pay.send", "bare.pay.l*": "pay.look", plain: "plain" }[pattern] ?? "";
    expect(await isDone(name)).toBe(true);
    expect((await deny(pattern)).status).toBe(200);
    await expect.poll(() => isDone(name), { timeout: 8_000 }).toBe(false);
    const id = `far${name.length}`;
    expect(
      (await field.api("PUT", `/api/servers/${id}`, { url: "http://127.0.0.1:9/mcp" }, { as: "root" })).status,
    ).toBe(200);
    for (let at = 0; at < field.processes; at++)
      await expect
        .poll(async () => (await field.api("GET", "/api/servers", undefined, { as: "root", at })).text)
        .toContain(id);
    expect(await isDone(name)).toBe(false);
  });
});
