import { describe, expect, test } from "vitest";
import { ACME, ADMIN, PolicyRig, who } from "../../../../tests/kit/policy-rig.ts";
import { GatewayError, type TokenRow } from "../../../contract/index.ts";

describe("switches and bindings", () => {
  test("[AP-529] a switch is kept, told with who set it, and replaced by another for the same things", async () => {
    const rig = new PolicyRig();
    const body = { server: "files", protocol: "mcp", enabled: false };
    const put = await rig.do("policy.exposure.put", { orgId: "default", body });
    expect(put).toMatchObject({ body: { ...body, updatedBy: "ops" }, etag: "1" });
    await rig.do("policy.exposure.put", { orgId: "default", body: { ...body, enabled: true } });
    await rig.do("policy.exposure.put", { orgId: "default", body: { ...body, primitive: "read" } });
    const { body: listed } = await rig.do("policy.exposure.list", { orgId: "default" });
    expect(listed).toHaveLength(2);
    expect(listed).toContainEqual(expect.objectContaining({ server: "files", enabled: true }));
    expect(rig.events).toHaveLength(3);
    expect(rig.events[0]).toMatchObject({
      type: "dev.isthmus.policy_changed",
      target: { server: "files" },
      details: { enabled: false },
    });
  });

  test("[AP-530] a binding is kept, told, decides, and is removed", async () => {
    const rig = new PolicyRig();
    const body = {
      target: { type: "wcit", idOrPattern: "7d1f*" },
      primitive: { name: "files.*", protocol: "mcp" },
      allowed: true,
    };
    const { body: put } = await rig.do("policy.bindings.put", { orgId: "default", body });
    const { id } = put as { id: string };
    expect(put).toMatchObject({ target: { type: "client", idOrPattern: "7d1f*" }, allowed: true });
    const decision = (client: string) =>
      rig
        .do("policy.decision", { orgId: "default", client, server: "files", primitive: "read" })
        .then((answer) => answer.body);
    expect(await decision("7d1f00")).toMatchObject({ effect: "allow", source: "binding", primitive: "files.read" });
    expect(await decision("8e")).toMatchObject({ effect: "deny", source: "default_policy" });
    expect(await rig.do("policy.bindings.get", { orgId: "default", id })).toMatchObject({ body: { id } });
    await rig.do("policy.bindings.remove", { orgId: "default", id });
    await expect(rig.do("policy.bindings.get", { orgId: "default", id })).rejects.toMatchObject({
      code: "NO_SUCH_TARGET",
    });
    expect(await decision("7d1f00")).toMatchObject({ effect: "deny" });
  });

  test("a change is made only to the version that was seen", async () => {
    const rig = new PolicyRig();
    const body = { server: "files", protocol: "mcp", enabled: false };
    const { etag = "" } = await rig.do("policy.exposure.list", { orgId: "default" });
    const put = await rig.do("policy.exposure.put", { orgId: "default", body }, ADMIN, etag);
    expect(put.etag).toBe("1");
    for (const stale of [etag, "x", "-1"]) {
      await expect(rig.do("policy.exposure.put", { orgId: "default", body }, ADMIN, stale)).rejects.toMatchObject({
        code: "CONFLICT",
      });
    }
    expect(rig.events).toHaveLength(1);
  });

  test("whoever belongs to a tenant sees and changes nothing of another's", async () => {
    const rig = new PolicyRig();
    const body = { server: "files", protocol: "mcp", enabled: false };
    const tries: readonly [string, object][] = [
      ["policy.exposure.put", { orgId: "default", body }],
      ["policy.exposure.list", { orgId: "default" }],
      ["policy.bindings.list", { orgId: "default" }],
      ["policy.default.put", { orgId: "default", body: { policy: "opt-out" } }],
      ["policy.decision", { orgId: "default", primitive: "files.read" }],
      ["registry.primitives.list", { orgId: "default" }],
      ["access.explain", { body: { tenant: "default", primitive: "files.read" } }],
    ];
    for (const [id, input] of tries)
      await expect(rig.do(id, input, ACME), id).rejects.toMatchObject({ code: "NOT_ALLOWED" });
    await rig.do("policy.exposure.put", { orgId: "acme", body }, ACME);
    expect(rig.policy.version).toBe(1);
  });

  const acme = (primitive = "files.read", user = "ann", more: object = {}) => ({
    body: { tenant: "acme", user, primitive, ...more },
  });

  test.each([
    ["default policy", "policy.default.put", { policy: "opt-out" }],
    ["default policy of the server", "policy.default.put", { server: "files", policy: "opt-out" }],
    ["exposure", "policy.exposure.put", { server: "files", protocol: "mcp", enabled: true }],
    [
      "exposure of the tool",
      "policy.exposure.put",
      { server: "files", protocol: "mcp", primitive: "read", enabled: true },
    ],
    [
      "binding",
      "policy.bindings.put",
      { target: { type: "user", idOrPattern: "ann" }, primitive: { name: "files.read" }, allowed: true },
    ],
    ["grant", "access.grant", { entry_type: "tool_grant", agent_id: "ann", server_id: "files", tool_name: "read" }],
  ])("a tenant's %s opens nothing that the platform keeps closed", async (_name, id, body) => {
    const closings: readonly [string, object][] = [
      ["policy.exposure.put", { orgId: "acme", body: { server: "*", protocol: "*", enabled: false } }],
      ["policy.exposure.put", { orgId: "*", body: { server: "files", protocol: "*", enabled: false } }],
      ["policy.default.put", { orgId: "*", body: { policy: "opt-in" } }],
      [
        "policy.bindings.put",
        {
          orgId: "acme",
          body: { target: { type: "group", idOrPattern: "*" }, primitive: { name: "*" }, allowed: false },
        },
      ],
    ];
    for (const [closing, input] of closings) {
      const rig = new PolicyRig();
      await rig.do("policy.default.put", { orgId: "acme", body: { policy: "opt-out" } });
      await rig.do(closing, input);
      if (closing === "policy.default.put") await rig.do(closing, { orgId: "acme", body: { policy: null } });
      await rig.do(id, id === "access.grant" ? { body } : { orgId: "acme", body }, ACME);
      const { body: said } = await rig.do("access.explain", acme("files.read", "ann", { groups: ["dev"] }));
      expect(said, `${closing} ${JSON.stringify(input)}`).toMatchObject({ effect: "deny" });
    }
  });

  test("a tenant narrows what the platform lets it have, and takes nothing of that back", async () => {
    const rig = new PolicyRig();
    const closed = { server: "mail", protocol: "mcp", enabled: false };
    const open = { policy: "opt-out" };
    const binding = { target: { type: "user", idOrPattern: "bob" }, primitive: { name: "files.*" }, allowed: false };
    await rig.do("policy.default.put", { orgId: "acme", body: open });
    await rig.do("policy.exposure.put", { orgId: "acme", body: closed });
    const { body: put } = await rig.do("policy.bindings.put", { orgId: "acme", body: binding });
    const { id } = put as { id: string };
    await rig.do("policy.default.put", { orgId: "acme", body: { policy: "opt-in" } }, ACME);
    await rig.do("access.grant", { body: { entry_type: "server_grant", agent_id: "ann", server_id: "files" } }, ACME);
    const effectFor = async (user: string) => (await rig.do("access.explain", acme("files.read", user))).body;
    expect(await effectFor("ann")).toMatchObject({ effect: "allow", source: "server_grant" });
    expect(await effectFor("eve")).toMatchObject({
      effect: "deny",
      reason: expect.stringContaining('tenant "acme" says: the default policy'),
    });
    await expect(rig.do("policy.bindings.remove", { orgId: "acme", id }, ACME)).rejects.toMatchObject({
      code: "NOT_ALLOWED",
    });
    await rig.do("policy.default.put", { orgId: "acme", body: { policy: null } }, ACME);
    await rig.do("policy.exposure.put", { orgId: "acme", body: { ...closed, enabled: true } }, ACME);
    await rig.do("policy.bindings.put", { orgId: "acme", body: { ...binding, allowed: true } }, ACME);
    expect(await effectFor("eve")).toMatchObject({ effect: "allow" });
    expect(await effectFor("bob")).toMatchObject({ effect: "deny", source: "binding" });
    const { body: switches } = await rig.do("policy.exposure.list", { orgId: "acme" }, ACME);
    expect(switches).toMatchObject([
      { ...closed, setBy: "platform" },
      { ...closed, enabled: true, setBy: "tenant" },
    ]);
  });

  test("whoever belongs to a tenant is not told of what there is for others only", async () => {
    const rig = new PolicyRig();
    const list = async () =>
      ((await rig.do("registry.primitives.list", { orgId: "acme" }, ACME)).body as { id: string }[]).map(
        ({ id }) => id,
      );
    expect(await list()).toEqual([]);
    const grant = { target: { type: "user", idOrPattern: "ann" }, primitive: { name: "files.*" }, allowed: true };
    await rig.do("policy.bindings.put", { orgId: "acme", body: grant });
    expect(await list()).toEqual(["files.read"]);
    const hidden = { tenant: "acme", user: "ann", primitive: "send", server: "mail" };
    await expect(rig.do("access.explain", { body: hidden }, ACME)).rejects.toMatchObject({ code: "NO_SUCH_TARGET" });
    await rig.do("policy.exposure.put", { orgId: "acme", body: { server: "files", protocol: "*", enabled: false } });
    expect(await list()).toEqual([]);
  });

  test("whoever belongs to a tenant cannot tell what is denied to all of it from what is not there", async () => {
    const rig = new PolicyRig();
    await rig.do("policy.default.put", { orgId: "acme", body: { policy: "opt-out" } });
    await rig.do("policy.default.put", { orgId: "default", body: { policy: "opt-out" } });
    const off = { server: "mail", protocol: "*", enabled: false };
    await rig.do("policy.exposure.put", { orgId: "acme", body: off });
    const explained = async (server: string, primitive: string, by = ACME) => {
      const body = { tenant: "acme", user: "ann", server, primitive };
      const answer = rig.do("access.explain", { body }, by);
      return await answer.then(
        () => "told",
        ({ code, message }: GatewayError) => `${code} ${message}`,
      );
    };
    const denied = await explained("mail", "send");
    expect(denied).toContain("NO_SUCH_TARGET");
    for (const [server, name] of [
      ["mail", "nope"],
      ["none", "send"],
      ["files", "nope"],
      ["mail", "file:///x"],
    ] as const)
      expect([server, await explained(server, name)]).toEqual([server, denied]);
    for (const [server, name] of [
      ["files", "read"],
      ["files", "file:///x"],
      ["away", "later"],
    ] as const)
      expect([server, await explained(server, name)]).toEqual([server, "told"]);
    for (const server of ["mail", "none"]) expect(await explained(server, "later", ADMIN)).toBe("told");
  });

  test("the default for a tenant can be set, for one server too, and taken away again", async () => {
    const rig = new PolicyRig();
    await rig.do("policy.default.put", { orgId: "default", body: { policy: "opt-out" } });
    expect(await rig.says("ann")).toMatchObject({ permission: "allow", source: "default_policy" });
    await rig.do("policy.default.put", { orgId: "default", body: { server: "files", policy: "opt-in" } });
    expect([await rig.says("ann"), await rig.says("ann", "mail", "send")]).toMatchObject([
      { permission: "deny" },
      { permission: "allow" },
    ]);
    await rig.do("policy.default.put", { orgId: "default", body: { policy: null } });
    expect(await rig.says("ann", "mail", "send")).toMatchObject({ permission: "deny" });
  });
});

describe("what another process has set a moment ago", () => {
  const GRANT = { entry_type: "server_grant", agent_id: "ann", server_id: "files" };
  const binding = { target: { type: "user", idOrPattern: "ann" }, primitive: { name: "files.*" }, allowed: true };

  test("is taken away here, too, although nobody has told us of it", async () => {
    const there = new PolicyRig();
    const here = new PolicyRig(there.memory);
    await there.do("access.grant", { body: GRANT });
    expect(await here.do("access.revoke", { body: GRANT })).toMatchObject({ body: { revoked: true, removed: 1 } });
    await there.do("policy.default.put", { orgId: "default", body: { policy: "opt-out" } });
    await here.do("policy.default.put", { orgId: "default", body: { policy: null } });
    const { body } = await there.do("policy.bindings.put", { orgId: "default", body: binding });
    await here.do("policy.bindings.remove", { orgId: "default", id: (body as { id: string }).id });
    expect((await there.memory.load()).entries).toEqual([]);
    expect(here.events).toHaveLength(3);
    expect(await here.do("access.revoke", { body: GRANT })).toMatchObject({ body: { revoked: false } });
  });

  test("is not said to be absent while the store cannot be asked", async () => {
    const rig = new PolicyRig();
    rig.memory.version = () => Promise.reject(new GatewayError("STATE_UNAVAILABLE"));
    const id = "x".repeat(22);
    const removals: readonly [string, object][] = [
      ["access.revoke", { body: GRANT }],
      ["policy.default.put", { orgId: "default", body: { policy: null } }],
      ["policy.bindings.remove", { orgId: "default", id }],
    ];
    for (const [operation, input] of removals)
      await expect(rig.do(operation, input), operation).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
  });
});

describe("what is asked about the policy", () => {
  test("[AP-528] lists what is offered, and whether it is switched on for a tenant", async () => {
    const rig = new PolicyRig();
    await rig.do("policy.exposure.put", {
      orgId: "default",
      body: { server: "mail", protocol: "mcp", enabled: false },
    });
    const { body } = await rig.do("registry.primitives.list", { orgId: "default" });
    expect(body).toMatchObject([
      { id: "files.read", name: "Read a file", type: "tool", servers: ["files"], enabled: true },
      { id: "mail.send", name: "send", enabled: false, exposure: { mcp: { enabled: false, name: "mail.send" } } },
    ]);
    expect((await rig.do("registry.primitives.list", { orgId: "acme" })).body).toMatchObject([
      { enabled: true },
      { enabled: true },
    ]);
  });

  test("explains a decision step by step, and says that it knows no such name", async () => {
    const rig = new PolicyRig();
    const { body } = await rig.do("access.explain", {
      body: { tenant: "default", user: "ann", primitive: "files.read" },
    });
    expect(body).toMatchObject({ effect: "deny", source: "default_policy", server: "files", isConditional: false });
    expect((body as { steps: { step: string }[] }).steps.map(({ step }) => step)).toEqual([
      "block",
      "exposure",
      "primitive",
      "grant",
      "binding",
      "scope",
      "rule",
      "default_policy",
    ]);
    await expect(rig.do("policy.decision", { orgId: "default", primitive: "nothing.here" })).rejects.toMatchObject({
      code: "NO_SUCH_TARGET",
    });
  });
});

describe("what is explained of a URI that nobody lists", () => {
  const rig = new PolicyRig();
  const ofFiles = { server: "files", shown: "" } as const;
  rig.primitives = [
    { ...ofFiles, kind: "template", name: "file:///{+path}", dotted: "files.file:///{+path}" },
    { ...ofFiles, kind: "template", name: "file:///caf%C3%A9/{name}", dotted: "files.file:///caf%C3%A9/{name}" },
    { ...ofFiles, kind: "resource", name: "file:///café/menu", dotted: "files.file:///café/menu" },
  ];
  const target = { type: "user", idOrPattern: "*" };
  const denied = { target, primitive: { name: "files.file:///caf%C3%A9/{name}" }, allowed: false };
  const effectOf = async (primitive: string, by = ADMIN, tenant = "acme") => {
    const { body } = await rig.do("access.explain", { body: { tenant, user: "ann", primitive, server: "files" } }, by);
    return body;
  };

  test("is what the strictest template says that it fits, and its other spellings", async () => {
    await rig.do("policy.default.put", { orgId: "acme", body: { policy: "opt-out" } });
    await rig.do("policy.bindings.put", { orgId: "acme", body: denied });
    const primitive = "files.file:///café/x";
    expect(await effectOf("file:///café/x")).toMatchObject({ effect: "deny", source: "binding", primitive });
    expect(await effectOf("file:///cafe\u0301/x/")).toMatchObject({ effect: "deny", source: "binding" });
    expect(await effectOf("file:///caf%63/x")).toMatchObject({ effect: "deny", source: "uri" });
    expect(await effectOf("file:///public/x")).toMatchObject({ effect: "allow" });
    // What is listed has its own name.
    expect(await effectOf("file:///café/menu")).toMatchObject({ effect: "allow" });
  });

  test("tells a tenant's operators of no template that nobody of the tenant may use", async () => {
    expect(await effectOf("file:///public/x", ACME)).toMatchObject({ effect: "allow" });
    await expect(effectOf("file:///café/x", ACME)).rejects.toMatchObject({ code: "NO_SUCH_TARGET" });
  });
});

describe("a row of the platform that allows by name", () => {
  const made = (id: string, createdBy: string, more: Partial<TokenRow> = {}): TokenRow => ({
    ...{ hash: id, id, tenant: "acme", user: "deploy", client: "ci", groups: ["payroll"], scopes: [], role: undefined },
    ...{
      createdAt: 1,
      createdBy,
      makers: [],
      makerNames: [],
      namedBy: undefined,
      expiresAt: undefined,
      lastUsedAt: undefined,
      ...more,
    },
  });
  const rig = new PolicyRig();
  rig.tokens = [
    made("1", "token:acme/boss/1"),
    made("2", "oidc:https://id.example:boss:web"),
    made("3", "token:default/root/1"),
    made("4", "operator"),
    made("5", "token:umbrella/boss/1", { tenant: "umbrella" }),
    made("6", "token:acme/boss/1", { user: "ann", client: "", groups: [] }),
    ...Array.from({ length: 1_000 }, (_, at) =>
      made(`7${at + 1000}`, "token:acme/boss/1", { user: "x", groups: ["y"] }),
    ),
    made("8", "token:acme/boss/1"),
    made("9", "token:acme/boss/1", { namedBy: "platform" }),
  ];
  const put = async (type: string, idOrPattern: string, { orgId = "acme", allowed = true, by = ADMIN } = {}) => {
    const body = { target: { type, idOrPattern }, primitive: { name: "files.*" }, allowed };
    return (await rig.do("policy.bindings.put", { orgId, body }, by)).body;
  };

  test.each([
    ["user", "deploy", 3],
    ["client", "c*", 1003],
    ["group", "payroll", 3],
    ["user", "nobody", 0],
  ])("tells for %s %s how many tokens of the tenant's own making have the name already", async (type, id, count) => {
    expect(await put(type, id)).toMatchObject({ tenantTokens: count });
  });

  test("says nothing where it denies, is about everybody, all tenants or the platform itself, or is the tenant's own", async () => {
    expect(await put("user", "deploy", { orgId: "*" })).not.toHaveProperty("tenantTokens");
    expect(await put("user", "deploy", { allowed: false })).not.toHaveProperty("tenantTokens");
    expect(await put("user", "*")).not.toHaveProperty("tenantTokens");
    expect(await put("user", "deploy", { orgId: "default" })).not.toHaveProperty("tenantTokens");
    expect(await put("user", "deploy", { by: ACME })).not.toHaveProperty("tenantTokens");
  });
});

describe("room", () => {
  const deny = (pattern: string) => ({
    orgId: "acme",
    body: {
      target: { type: "user", idOrPattern: pattern },
      primitive: { name: "files.*", protocol: "mcp" },
      allowed: false,
    },
  });

  test("a tenant has 1,000 rows of its own, of whatever kinds, also where they come at once; then it replaces and removes", async () => {
    const rig = new PolicyRig();
    const put = (number: number) => rig.do("policy.bindings.put", deny(`u${number}`), ACME);
    await rig.do(
      "policy.exposure.put",
      { orgId: "acme", body: { server: "mail", protocol: "mcp", enabled: false } },
      ACME,
    );
    const all = await Promise.allSettled(Array.from({ length: 1_005 }, (_, number) => put(number)));
    expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(999);
    expect(all.at(-1)).toMatchObject({
      reason: { code: "OVERLOADED", message: expect.stringMatching(/at most 1000 .* Remove some/) },
    });
    await expect(put(0)).resolves.toMatchObject({ body: { allowed: false } });
    const { body } = await put(1);
    await rig.do("policy.bindings.remove", { orgId: "acme", id: (body as { id: string }).id }, ACME);
    await expect(put(2_000)).resolves.toBeDefined();
  });

  test("what the platform says about a tenant, and what other tenants say, does not wait for its room", async () => {
    const rig = new PolicyRig();
    for (let number = 0; number < 1_000; number++) await rig.do("policy.bindings.put", deny(`u${number}`), ACME);
    await expect(rig.do("policy.bindings.put", deny("v"))).resolves.toMatchObject({ body: { setBy: "platform" } });
    const other = who("other-ops", { role: "admin", tenant: "other" });
    await expect(rig.do("policy.bindings.put", { ...deny("v"), orgId: "other" }, other)).resolves.toBeDefined();
  });
});
