/** Learning from what operators are told that there is something which the platform denies to everybody of one's tenant. */
import { afterAll, expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { Places } from "./kit/places.ts";

const DENIED = ["rule", "when", "either", "grant", "binding", "client", "exposure"];
const SHOWN = ["free", "exempt", "group", "scope"];
const config = `
[auth]
tokens = true
[audit]
[access]
defaultPolicy = "opt-out"
[[access.rules]]
match = "rule.*"
tenant = "acme"
effect = "deny"
[[access.rules]]
match = "when.*"
when = 'principal.tenant == "acme"'
effect = "deny"
[[access.rules]]
match = "either.*"
when = 'server == "either" && principal.tenant in ["acme", "globex"]'
effect = "deny"
[[access.rules]]
match = "group.*"
when = '!("payers" in principal.groups)'
effect = "deny"
[[access.rules]]
match = "scope.*"
when = 'principal.tenant == "acme" && !("pay" in principal.scopes)'
effect = "deny"
[[access.rules]]
match = "free.count"
tenant = "acme"
effect = "deny"
[[access.grants]]
agent = "*"
tenant = "acme"
server = "grant"
permission = "deny"
[[access.grants]]
agent = "*"
server = "exempt"
permission = "deny"
[[access.grants]]
agent = "boss"
tenant = "acme"
server = "exempt"
permission = "allow"
[[access.bindings]]
target = { type = "user", pattern = "*" }
tenant = "acme"
primitive = "binding.*"
allowed = false
[[access.bindings]]
target = { type = "client", pattern = "*" }
tenant = "acme"
primitive = "client.*"
allowed = false
[[access.exposure]]
server = "exposure"
tenant = "acme"
enabled = false
${[...DENIED, ...SHOWN].map((id) => helloServer(id)).join("")}
`;
const tokens = {
  root: ["--user", "root", "--role", "admin"],
  view: ["--user", "view", "--tenant", "acme", "--role", "viewer"],
  other: ["--user", "view", "--tenant", "initech", "--role", "viewer"],
};

describeAttacks("what is denied to a whole tenant", { config, tokens }, (field) => {
  async function listed(as: string, tenant: string): Promise<readonly string[]> {
    const { body } = await field.api("GET", `/api/registry/orgs/${tenant}/primitives`, undefined, { as });
    return [...new Set((body as { servers: string[] }[]).flatMap(({ servers }) => servers))].sort();
  }
  const decision = (as: string, tenant: string, primitive: string) =>
    field.api("GET", `/api/policy/orgs/${tenant}/decision?primitive=${primitive}&user=x`, undefined, { as });

  test("is in no list for its operators; what somebody of it may have is", async () => {
    const { messages } = await field.rpc({ id: 1, method: "tools/list" }, { as: "view" });
    for (const id of DENIED) expect(JSON.stringify(messages)).not.toContain(`"${id}.greet"`);
    expect(await listed("view", "acme")).toEqual([...SHOWN].sort());
    expect(await listed("other", "initech")).toEqual([...DENIED, ...SHOWN].filter((id) => id !== "exempt").sort());
  });

  test.each(DENIED)("(%s) is explained to them as what is not there, by every way to ask", async (id) => {
    const none = await decision("view", "acme", "none.greet");
    const asked = await decision("view", "acme", `${id}.greet`);
    expect([asked.status, asked.text]).toEqual([404, none.text]);
    const body = { tenant: "acme", user: "x", server: id, primitive: "greet" };
    const explained = await field.api("POST", "/api/access/explain", body, { as: "view" });
    expect(explained.status).toBe(404);
    expect((await decision("other", "initech", `${id}.greet`)).status).toBe(200);
  });

  test.each([
    ["a server", "rule", "greet", "none", "greet"],
    ["a server, by a tool that it has not", "binding", "nope", "none", "nope"],
    ["a switched off server", "exposure", "greet", "none", "greet"],
    ["a tool of a server that they have", "free", "count", "free", "nope"],
    ["a URI", "rule", "file:///x", "none", "file:///x"],
  ])("is not told from what is not there: %s", async (_what, server, primitive, noServer, noTool) => {
    const asked = async (id: string, name: string) => {
      const query = `server=${id}&primitive=${encodeURIComponent(name)}&user=x`;
      const explained = { tenant: "acme", user: "x", server: id, primitive: name };
      const queried = { agent_id: "x", server_id: id, tool_name: name };
      const as = "view";
      const answers = [
        await field.api("GET", `/api/policy/orgs/acme/decision?${query}`, undefined, { as }),
        await field.api("POST", "/api/access/explain", explained, { as }),
        await field.api("POST", "/api/access/query", queried, { as }),
      ];
      return answers.map(({ status, text }) => [status, text]);
    };
    const [denied, missing] = [await asked(server, primitive), await asked(noServer, noTool)];
    expect(denied).toEqual(missing);
    expect(denied.map(([status]) => status)).toEqual([404, 404, 200]);
    expect((await decision("view", "acme", "free.greet")).status).toBe(200);
  });

  test("is on their trail as what is not there, and on the platform's with the reason", async () => {
    const wanted = ["rule.greet", "binding.greet", "exposure.greet", "free.count", "free.nope", "none.greet"];
    for (const name of wanted) await field.rpc(toolCall(1, name, {}), { as: "view" });
    type Event = { event_type: string; target: { server_id: string; tool_name: string }; details: object };
    const trail = async (as: string, query = "") => {
      const { body } = await field.api("GET", `/api/audit?limit=1000${query}`, undefined, { as });
      return (body as { events: readonly Event[] }).events;
    };
    const refused = async () =>
      (await trail("view")).flatMap(({ event_type, target }) =>
        event_type === "dev.isthmus.request_refused" ? [`${target.server_id}${target.tool_name}`] : [],
      );
    await expect.poll(refused).toEqual(expect.arrayContaining(wanted));
    expect((await trail("view")).filter(({ event_type }) => event_type === "TOOL_BLOCKED")).toEqual([]);
    const blocked = JSON.stringify(await trail("root", "&event_type=TOOL_BLOCKED"));
    for (const name of ["rule", "binding", "exposure", "count"]) expect(blocked).toContain(name);
    expect(blocked).toContain('"callerTenant":"acme"');
  });
});

const places = new Places();
afterAll(() => places.remove());
// The server lists file:///pub/a.
const respelled = `
[auth]
tokens = true
[audit]
[access]
defaultPolicy = "opt-out"
[[access.bindings]]
target = { type = "user", pattern = "*" }
tenant = "acme"
primitive = "places.file:///pub/a%20"
allowed = false
${places.table}`;

describeAttacks(
  "a resource that is denied to a whole tenant in another spelling",
  { config: respelled, tokens },
  (field) => {
    const uri = "file:///pub/a";
    const registry = async (as: string, tenant: string) =>
      (await field.api("GET", `/api/registry/orgs/${tenant}/primitives`, undefined, { as })).text;
    const decision = (as: string, tenant: string) => {
      const query = `user=x&server=places&primitive=${encodeURIComponent(uri)}`;
      return field.api("GET", `/api/policy/orgs/${tenant}/decision?${query}`, undefined, { as });
    };

    test("is in no list for its operators, and explained to them as what is not there", async () => {
      const read = { id: 1, method: "resources/read", params: { uri } };
      expect((await field.rpc(read, { as: "view" })).messages[0]?.error).toBeDefined();
      expect((await field.rpc(read, { as: "other" })).messages[0]?.result).toBeDefined();
      expect(await registry("view", "acme")).not.toContain(uri);
      expect((await decision("view", "acme")).status).toBe(404);
      expect(await registry("other", "initech")).toContain(uri);
      expect((await decision("other", "initech")).status).toBe(200);
    });

    test("is not on their trail as denied, and is on the platform's", async () => {
      await field.rpc({ id: 1, method: "resources/read", params: { uri } }, { as: "view" });
      const blocked = async (as: string) =>
        (await field.api("GET", "/api/audit?limit=1000&event_type=TOOL_BLOCKED", undefined, { as })).text;
      await expect.poll(() => blocked("root")).toContain('"callerTenant":"acme"');
      expect(await blocked("view")).not.toContain(uri);
    });
  },
);
