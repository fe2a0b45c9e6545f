import { describe, expect, test } from "vitest";
import { ACME, ADMIN, PolicyRig } from "../../../../tests/kit/policy-rig.ts";
import { GatewayError } from "../../../contract/index.ts";

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
