import { createHash } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[[access.exposure]]
server = "hello"
primitive = "count"
enabled = false
tenant = "acme"
[[access.grants]]
agent = "*"
server = "hello"
tool = "add"
permission = "deny"
[[access.bindings]]
target = { type = "group", pattern = "vip*" }
primitive = "hello.*"
[[access.bindings]]
target = { type = "user", pattern = "chief" }
primitive = "hello.*"
[[access.bindings]]
target = { type = "user", pattern = "*" }
tenant = "acme"
primitive = "bound.*"
allowed = false
[[access.rules]]
match = "ruled.*"
tenant = "acme"
effect = "deny"
[[access.scopes]]
match = "hidden.*"
scopes = ["hidden"]
[access.servers]
hidden = "opt-in"
${["hello", "hidden", "bound", "ruled", "own", "other"].map((id) => helloServer(id)).join("")}`;

/** What the platform keeps closed, each in another way: a switch, a grant, a default policy, a binding, a rule. */
const CLOSED = ["hello.count", "hello.add", "hidden.greet", "bound.greet", "ruled.greet"];

const acme = ["--tenant", "acme"];
const tokens = {
  root: ["--user", "root", "--role", "admin"],
  boss: ["--user", "boss", "--role", "admin", ...acme],
  viewer: ["--user", "vic", "--role", "viewer", ...acme],
  ann: ["--user", "ann", ...acme],
  brief: ["--user", "brief", "--role", "admin", "--expires", "1h", ...acme],
};

const bind = (type: string, idOrPattern: string, name: string) => ({
  target: { type, idOrPattern },
  primitive: { name },
  allowed: true,
});
const ORG = "/api/policy/orgs/acme";

type Order = readonly [method: string, path: string, body: object];
const defaultPolicy = (body: object): Order => ["PUT", `${ORG}/default`, body];
const exposure = (body: object): Order => ["PUT", `${ORG}/exposure`, { protocol: "mcp", enabled: true, ...body }];
const binding = (type: string, idOrPattern: string, name: string): Order => [
  "PUT",
  `${ORG}/bindings`,
  bind(type, idOrPattern, name),
];
const toolGrant = (agent_id: string, server_id: string, tool_name: string): Order => [
  "POST",
  "/api/access/grant",
  { entry_type: "tool_grant", agent_id, server_id, tool_name },
];
const serverGrant = (agent_id: string, server_id: string): Order => [
  "POST",
  "/api/access/grant",
  { entry_type: "server_grant", agent_id, server_id },
];

/** A tool that is the tenant's own to close, and rows that close and open it for a user: what opens is of the kind that is tried. */
type Control = { readonly tool: string; readonly shut: Order; readonly open: (user: string) => Order };
const OWN = { tool: "own.greet", shut: defaultPolicy({ server: "own", policy: "opt-in" }) };
const CONTROLS = {
  default: { ...OWN, open: () => defaultPolicy({ server: "own", policy: "opt-out" }) },
  exposure: {
    tool: "other.greet",
    shut: exposure({ server: "other", enabled: false }),
    open: () => exposure({ server: "other" }),
  },
  binding: { ...OWN, open: (user) => binding("user", user, "own.greet") },
  grant: { ...OWN, open: (user) => toolGrant(user, "own", "greet") },
} satisfies Record<string, Control>;

/** Each tried by a user of its own. */
const OPENING: readonly [what: string, kind: keyof typeof CONTROLS, (user: string) => Order][] = [
  ["a default policy", "default", () => defaultPolicy({ policy: "opt-out" })],
  ["a default policy of the server", "default", () => defaultPolicy({ server: "hidden", policy: "opt-out" })],
  ["an exposure", "exposure", () => exposure({ server: "hello" })],
  ["an exposure of the tool", "exposure", () => exposure({ server: "hello", primitive: "count" })],
  ["an exposure by pattern", "exposure", () => exposure({ server: "hello", protocol: "*", primitive: "hello.cou*" })],
  ["a binding of a user", "binding", (user) => binding("user", user, "hello.count")],
  ["a binding of everybody", "binding", () => binding("client", "*", "*")],
  ["a binding of the hidden server", "binding", (user) => binding("user", user, "hidden.greet")],
  ["a binding of the very tool, which a binding denies", "binding", (user) => binding("user", user, "bound.greet")],
  ["a binding of the very tool, which a rule denies", "binding", (user) => binding("user", user, "ruled.greet")],
  ["a grant of the tool", "grant", (user) => toolGrant(user, "hello", "add")],
  ["a grant of the server", "grant", (user) => serverGrant(user, "hidden")],
  ["a grant of the very tool, which a binding denies", "grant", (user) => toolGrant(user, "bound", "greet")],
  ["a grant of the very tool, which a rule denies", "grant", (user) => toolGrant(user, "ruled", "greet")],
];

describeAttacks("a tenant's admin", { config, tokens }, (field) => {
  const isCalledBy = async (bearer: string, name: string, at?: number) => {
    const call = toolCall(1, name, { name: "Ada", to: 1, a: 1, b: 2 });
    const headers = { authorization: `Bearer ${bearer}` };
    const { messages } = await field.rpc(call, { headers, ...(at !== undefined && { at }) });
    return messages[0]?.result?.isError !== true && messages[0]?.error === undefined;
  };
  const isCalled = (name: string) => isCalledBy(field.token("ann"), name);
  const everywhere = Array.from({ length: field.processes }, (_none, at) => at);
  const nowhere = everywhere.map(() => false);
  /** A message between processes may be late: without one, a change is there after the next look. */
  const waiting = { timeout: 10_000 };
  const put = async (method: string, path: string, body: object, as = "boss") =>
    (await field.api(method, path, body, { as })).status;
  const say = async ([method, path, row]: Order, as = "boss") => {
    const said = await field.api(method, path, row, { as });
    expect(said.status, said.text).toBe(200);
    return said.body as { id?: string };
  };

  test("may use what the platform lets the tenant have", async () => {
    expect(await isCalled("hello.greet")).toBe(true);
  });

  test.each(OPENING)("opens nothing by %s that the platform keeps closed", async (what, kind, order) => {
    const { tool, shut, open }: Control = CONTROLS[kind];
    const user = `user of ${what}`;
    const { body } = await field.api("POST", "/api/tokens", { user, tenant: "acme" }, { as: "root" });
    const { token } = body as { token: string };
    const areCalled = (name: string) => Promise.all(everywhere.map((at) => isCalledBy(token, name, at)));
    await say(shut);
    await expect.poll(() => areCalled(tool), waiting).toEqual(nowhere);
    const { id } = await say(order(user));
    // It may be about everybody.
    onTestFinished(async () => {
      if (kind === "binding") await field.api("DELETE", `${ORG}/bindings/${id}`, undefined, { as: "boss" });
    });
    await say(open(user));
    // Processes take all rows at once: one that has the later row has the one that is tried.
    await expect.poll(() => areCalled(tool), waiting).toEqual(everywhere.map(() => true));
    for (const name of CLOSED) expect(await areCalled(name), name).toEqual(nowhere);
  });

  test("does not undo what the platform's operators set for the tenant", async () => {
    const { tool, shut, open } = CONTROLS.exposure;
    const areCalled = (name: string) => Promise.all(everywhere.map((at) => isCalledBy(field.token("ann"), name, at)));
    const greet = (enabled: boolean) => exposure({ server: "hello", primitive: "greet", enabled });
    await say(greet(false), "root");
    await say(shut);
    await expect.poll(() => areCalled(tool), waiting).toEqual(nowhere);
    await say(greet(true));
    await say(open());
    await expect.poll(() => areCalled(tool), waiting).toEqual(everywhere.map(() => true));
    expect(await areCalled("hello.greet")).toEqual(nowhere);
    const { id } = await say(["PUT", `${ORG}/bindings`, { ...bind("user", "*", "hello.*"), allowed: false }], "root");
    await expect
      .poll(async () => (await field.api("DELETE", `${ORG}/bindings/${id}`, undefined, { as: "boss" })).status)
      .toBe(403);
    const revoked = await field.api(
      "POST",
      "/api/revocations",
      { type: "user", id: "eve", tenant: "acme" },
      { as: "root" },
    );
    expect(revoked.status).toBe(201);
    await expect
      .poll(async () => (await field.api("DELETE", "/api/orgs/acme/blocks/eve", undefined, { as: "boss" })).status)
      .toBe(403);
    await say(greet(true), "root");
    await field.api("DELETE", `${ORG}/bindings/${id}`, undefined, { as: "root" });
    await expect.poll(() => isCalled("hello.greet")).toBe(true);
  });

  test.each<[string, object, number, string]>([
    ["a scope it does not have", { scopes: ["hidden"] }, 403, 'the scope "hidden"'],
    ["every scope", { scopes: ["*"] }, 403, 'the scope "*"'],
    ["a group of the platform's", { groups: ["vip"] }, 403, 'the group "vip": the platform'],
    ["a group like one of the platform's", { groups: ["dev", "vip-2"] }, 403, 'the group "vip-2": the platform'],
    ["a user of the platform's", { user: "chief" }, 403, 'the user "chief": the platform'],
    ["another tenant", { tenant: "default" }, 403, "another tenant's"],
    ["a further tenant", { tenant: "other" }, 403, "another tenant's"],
    ["every tenant", { tenant: "*" }, 422, "expected the name of one tenant"],
  ])("makes no token with %s, and is told why", async (_name, more, status, why) => {
    const said = await field.api("POST", "/api/tokens", { user: "mallory", ...more }, { as: "boss" });
    const { detail, problems = [] } = said.body as { detail: string; problems?: { message: string }[] };
    expect([said.status, [detail, ...problems.map(({ message }) => message)].join(" ")]).toEqual([
      status,
      expect.stringContaining(why),
    ]);
  });

  test.each<[string, string, object]>([
    ["a token", "/api/tokens", { user: "brief", role: "admin", expiresIn: "3650d" }],
    ["a token a bit longer", "/api/tokens", { user: "brief", expiresIn: "61m" }],
    ["its own, rotated", "own", { expiresIn: "3650d" }],
  ])("makes nothing that lives longer than it does: %s", async (_name, path, body) => {
    const id = createHash("sha256").update(field.token("brief")).digest("hex").slice(0, 12);
    expect(await put("POST", path === "own" ? `/api/tokens/${id}/rotate` : path, body, "brief")).toBe(403);
    const { body: made } = await field.api("POST", "/api/tokens", { user: "mallory" }, { as: "brief" });
    expect(Date.parse((made as { expiresAt: string }).expiresAt)).toBeLessThan(Date.now() + 3_600_000);
  });

  test.each(["client", "principal", "user"])("rotates no token that the platform blocks by its %s", async (type) => {
    const made = await field.api("POST", "/api/tokens", { user: `held-${type}` }, { as: "boss" });
    const { id, token } = made.body as { id: string; token: string };
    const hash = createHash("sha256").update(token).digest("hex");
    const whom = { client: { hash }, principal: { id: `token:acme/held-${type}/${id}` }, user: { id: `held-${type}` } };
    const block = { type, ...whom[type as keyof typeof whom], tenant: "acme" };
    const revoked = await field.api("POST", "/api/revocations", block, { as: "root" });
    const known = `/api/orgs/acme/blocks/${(revoked.body as { id: string }).id}`;
    for (let at = 0; at < field.processes; at++) {
      await expect
        .poll(async () => (await field.api("GET", known, undefined, { as: "boss", at })).status, { timeout: 5_000 })
        .toBe(200);
    }
    expect(await put("POST", `/api/tokens/${id}/rotate`, {})).toBe(403);
  });

  test("fills nobody's room but its own with blocks", async () => {
    const revoke = (at: number, as: string) =>
      put("POST", "/api/revocations", { type: "user", id: `nobody-${at}` }, as);
    const statuses: number[] = [];
    for (let at = 0; at < 1_010; at += 10) {
      statuses.push(...(await Promise.all(Array.from({ length: 10 }, (_none, more) => revoke(at + more, "boss")))));
    }
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThan(900);
    await expect.poll(() => revoke(5_000, "boss")).toBe(429);
    expect(await revoke(5_000, "root")).toBe(201);
    const made = await field.api("POST", "/api/tokens", { user: "mallory" }, { as: "boss" });
    const { id } = made.body as { id: string };
    expect(await put("POST", `/api/tokens/${id}/rotate`, {})).toBe(201);
  });

  test("shows its viewers nothing of others", async () => {
    expect((await field.api("GET", "/metrics", undefined, { as: "viewer" })).status).toBe(403);
    expect((await field.api("GET", "/metrics", undefined, { as: "boss" })).status).toBe(403);
    expect((await field.api("GET", "/metrics", undefined, { as: "root" })).status).toBe(200);
    for (const as of ["viewer", "boss", "ann"]) {
      const ready = await field.api("GET", "/readyz?", undefined, { as });
      expect(JSON.parse(ready.text)).toEqual({ status: "ready" });
    }
    expect((await field.api("GET", "/readyz?", undefined, { as: "root" })).text).toContain("hidden");
    expect((await field.api("GET", "/api/servers", undefined, { as: "viewer" })).status).toBe(403);
    const { text } = await field.api("GET", "/api/registry/orgs/acme/primitives", undefined, { as: "viewer" });
    expect(text).toContain("hello.greet");
    expect(text).not.toContain("hidden");
    expect(text).not.toContain("hello.count");
    const asked = { tenant: "acme", user: "ann", primitive: "hidden.greet" };
    expect((await field.api("POST", "/api/access/explain", asked, { as: "viewer" })).status).toBe(404);
  });

  test("finds out nothing about tokens, sessions and calls of others, and each try is on record, whether it was right or not", async () => {
    type Listed = { readonly tokens: readonly { readonly id: string; readonly user: string }[] };
    const { tokens: all } = (await field.api("GET", "/api/tokens", undefined, { as: "root" })).body as Listed;
    const rights = all.find(({ user }) => user === "root")?.id ?? "";
    const tries = [rights, "000000000000"].flatMap((id) => [
      ["DELETE", `/api/tokens/${id}`],
      ["POST", `/api/tokens/${id}/rotate`],
    ]);
    tries.push(["GET", "/api/sessions/guessed"], ["GET", "/api/calls/guessed"]);
    for (const [method = "", path = ""] of tries) {
      const body = path.endsWith("rotate") ? {} : undefined;
      expect((await field.api(method, path, body, { as: "boss" })).status, path).toBe(404);
    }
    type Kept = { readonly events: readonly { target: { tool_name: string }; details: { reason?: string } }[] };
    const noted = async () => {
      const path = "/api/audit?event_type=dev.isthmus.request_refused&limit=1000";
      const { events } = (await field.api("GET", path, undefined, { as: "viewer" })).body as Kept;
      return events.filter(({ details }) => details.reason === "target").map(({ target }) => target.tool_name);
    };
    const wanted = tries.map((words) => words.join(" "));
    await expect.poll(noted, { timeout: 10_000 }).toEqual(expect.arrayContaining(wanted));
  });
});
