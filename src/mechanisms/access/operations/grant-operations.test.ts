import { describe, expect, test } from "vitest";
import { ACME, PolicyRig, who } from "../../../../tests/kit/policy-rig.ts";
import { MemoryPolicy } from "../memory-policy.ts";
import { keyOf } from "./parts.ts";

const GRANT = { entry_type: "server_grant", agent_id: "ann", server_id: "files" };

describe("grants", () => {
  test("[MG-108][MG-109][MG-110][MG-111][MG-113] say whether an agent may, what says so, who granted it and until when", async () => {
    const rig = new PolicyRig();
    expect(await rig.says("ann")).toEqual({
      permission: "deny",
      source: "default_policy",
      granted_by: null,
      granted_at: null,
      expires_at: null,
    });
    await rig.do("access.grant", { body: GRANT });
    expect(await rig.says("ann")).toMatchObject({
      permission: "allow",
      source: "server_grant",
      granted_by: "ops",
      granted_at: "1970-01-01T00:00:01.000Z",
      expires_at: null,
    });
    const expires_at = "1970-01-01T00:01:00.000Z";
    await rig.do("access.grant", {
      body: { ...GRANT, entry_type: "tool_grant", tool_name: "read", permission: "deny", expires_at },
    });
    expect(await rig.says("ann")).toMatchObject({ permission: "deny", source: "tool_grant", expires_at });
    expect(await rig.says("ann", "files", "write")).toMatchObject({ permission: "allow", source: "server_grant" });
    rig.time.advance(59_000);
    expect(await rig.says("ann")).toMatchObject({ permission: "allow", source: "server_grant" });
  });

  test("tell whoever has no role of what it cannot see just what they tell of what is not there", async () => {
    const rig = new PolicyRig();
    const ann = who("ann", { scopes: ["*"] });
    const about = (server: string, tool: string) => rig.says("ann", server, tool, ann);
    const nothing = {
      permission: "deny",
      source: "default_policy",
      granted_by: null,
      granted_at: null,
      expires_at: null,
    };
    // Denied by a grant, by the default and under a server that is allowed as a whole.
    const deny = { ...GRANT, entry_type: "tool_grant", tool_name: "read", permission: "deny" };
    await rig.do("access.grant", { body: deny });
    expect([await about("files", "read"), await about("mail", "send")]).toEqual([nothing, nothing]);
    await rig.do("access.grant", { body: GRANT });
    expect([await about("files", "read"), await about("files", "none"), await about("none", "none")]).toEqual([
      nothing,
      nothing,
      nothing,
    ]);
    await rig.do("access.revoke", { body: { ...GRANT, entry_type: "tool_grant", tool_name: "read" } });
    expect(await about("files", "read")).toMatchObject({ permission: "allow", source: "server_grant" });
    expect(await rig.says("ann", "files", "none")).toMatchObject({ permission: "allow", source: "server_grant" });
  });

  test("[MG-119][MG-120][MG-142] are by whoever makes them, whatever they claim, and on record with their reason", async () => {
    const rig = new PolicyRig();
    const body = { ...GRANT, granted_by: "the boss", justification: "Weekly report" };
    const { body: made } = await rig.do("access.grant", { body });
    expect(made).toMatchObject({
      granted: true,
      entry: { granted_by: "ops", justification: "Weekly report", tool_name: null },
    });
    expect(rig.events).toMatchObject([
      {
        type: "ACCESS_GRANTED",
        tenant: "default",
        actor: { type: "operator", id: "ops" },
        target: { server: "files", name: "" },
        details: { agent_id: "ann", justification: "Weekly report", claimed_granted_by: "the boss" },
      },
    ]);
  });

  test("[MG-114][MG-115][MG-116][MG-117][MG-118] are refused where they are not whole", async () => {
    const rig = new PolicyRig();
    const wrong = [
      { ...GRANT, entry_type: "agent_grant" },
      { entry_type: "server_grant", server_id: "files" },
      { entry_type: "server_grant", agent_id: "ann" },
      { ...GRANT, entry_type: "tool_grant", tool_name: null },
      { ...GRANT, tool_name: "read" },
      { ...GRANT, permission: "maybe" },
      { ...GRANT, agent_id: "a*b" },
      { ...GRANT, agent_id: "a\0" },
      { ...GRANT, expires_at: "tomorrow" },
    ];
    for (const body of wrong) await expect(rig.do("access.grant", { body })).rejects.toThrow("invalid");
    expect(rig.policy.version).toBe(0);
  });

  test("[MG-122][MG-143] are taken back one by one, after which the next level decides; taking back nothing says so", async () => {
    const rig = new PolicyRig();
    await rig.do("access.grant", { body: GRANT });
    await rig.do("access.grant", {
      body: { ...GRANT, entry_type: "tool_grant", tool_name: "read", permission: "deny" },
    });
    const { body } = await rig.do("access.revoke", { body: { ...GRANT, entry_type: "tool_grant", tool_name: "read" } });
    expect(body).toEqual({ revoked: true, removed: 1 });
    expect(await rig.says("ann")).toMatchObject({ permission: "allow", source: "server_grant" });
    const again = await rig.do("access.revoke", { body: { ...GRANT, entry_type: "tool_grant", tool_name: "read" } });
    expect(again.body).toEqual({ revoked: false, removed: 0 });
    expect(rig.events.map(({ type }) => type)).toEqual(["ACCESS_GRANTED", "ACCESS_GRANTED", "ACCESS_REVOKED"]);
  });

  test("[MG-102] are one for the same agent, server and tool: a second one takes the place of the first", async () => {
    const rig = new PolicyRig();
    for (const permission of ["allow", "deny"]) await rig.do("access.grant", { body: { ...GRANT, permission } });
    const { body } = await rig.do("access.grants.list", {});
    expect(body).toMatchObject({ grants: [{ agent_id: "ann", permission: "deny" }] });
  });

  test("are made by admins only, and asked about by others only about themselves", async () => {
    const rig = new PolicyRig();
    const roles = Object.fromEntries(rig.operations.map(({ id, role }) => [id, role]));
    for (const id of [
      "access.grant",
      "access.revoke",
      "policy.exposure.put",
      "policy.bindings.put",
      "policy.bindings.remove",
      "policy.default.put",
    ]) {
      expect(roles[id]).toBe("admin");
    }
    expect(await rig.says("ann", "files", "read", who("ann"))).toMatchObject({ permission: "deny" });
    await expect(rig.says("bob", "files", "read", who("ann"))).rejects.toMatchObject({ code: "NOT_ALLOWED" });
  });

  test("say whether there is what they are about, where its server is there and can be seen", async () => {
    const rig = new PolicyRig();
    const about = async (server_id: string, tool_name: string, by = who("ops", { role: "admin" })) => {
      const body = { ...GRANT, entry_type: "tool_grant", server_id, tool_name };
      return ((await rig.do("access.grant", { body }, by)).body as { isOffered?: boolean }).isOffered;
    };
    expect([await about("files", "read"), await about("files", "raed")]).toEqual([true, false]);
    expect([await about("away", "read"), await about("files", "file:///a")]).toEqual([undefined, undefined]);
    expect(await about("files", "raed", ACME)).toBeUndefined();
  });

  test.each([
    ["*", "allow"],
    ["*", "deny"],
    ["re*", "deny"],
  ])("are not made about %j as a tool's name, which would be about nothing: %s", async (tool_name, permission) => {
    const rig = new PolicyRig();
    const place = { ...GRANT, entry_type: "tool_grant", tool_name };
    const why = /expected the name of one tool/;
    await expect(rig.do("access.grant", { body: { ...place, permission } })).rejects.toThrow(why);
    await expect(rig.do("access.revoke", { body: place })).rejects.toMatchObject({ code: "BAD_CALL" });
    expect(rig.policy.version).toBe(0);
  });

  test("that an older version made about a pattern can be taken back", async () => {
    const memory = new MemoryPolicy();
    const place = { ...GRANT, entry_type: "tool_grant", tool_name: "re*" };
    const key = keyOf(["tool_grant", "ann", "files", "re*"]);
    const value = { type: "tool_grant", agent: "ann", server: "files", tool: "re*", permission: "deny" };
    const entry = { tenant: "default", kind: "grant", key, updatedAt: 0, updatedBy: "ops" } as const;
    await memory.write([
      { table: "policy", type: "put", entry: { ...entry, value: JSON.stringify({ ...value, justification: "" }) } },
    ]);
    const rig = new PolicyRig(memory);
    expect((await rig.do("access.revoke", { body: place })).body).toEqual({ revoked: true, removed: 1 });
  });

  test("of one tenant say nothing about another's agents", async () => {
    const rig = new PolicyRig();
    await rig.do("policy.default.put", { orgId: "acme", body: { policy: "opt-out" } });
    await rig.do("access.grant", { body: GRANT }, ACME);
    expect(await rig.says("ann", "files", "read", ACME)).toMatchObject({ permission: "allow" });
    expect(await rig.says("ann")).toMatchObject({ permission: "deny" });
  });
});

describe("a name that only lists have", () => {
  const shown = { server: "files", kind: "tool" as const, name: "read", dotted: "files.read", shown: "files_read" };
  const orders = [
    ["access.grant", { body: { ...GRANT, entry_type: "tool_grant", tool_name: "files_read" } }],
    ["access.grant", { body: { ...GRANT, entry_type: "tool_grant", tool_name: "files.read" } }],
    [
      "policy.bindings.put",
      {
        orgId: "acme",
        body: { target: { type: "user", idOrPattern: "ann" }, primitive: { name: "files_read" }, allowed: true },
      },
    ],
    [
      "policy.exposure.put",
      { orgId: "acme", body: { server: "*", protocol: "*", primitive: "files_read", enabled: false } },
    ],
  ] as const;

  test.each(orders)(
    "tells a tenant's admin nothing in %s of a server that the tenant does not have",
    async (id, input) => {
      const rig = new PolicyRig();
      rig.primitives = [shown];
      await expect(rig.do(id, input)).rejects.toMatchObject({ code: "BAD_CALL" });
      expect(await rig.do(id, input, ACME)).toMatchObject({ etag: "1" });
    },
  );

  test.each(orders)("is refused in %s where the tenant has a share of the server", async (id, input) => {
    const rig = new PolicyRig();
    rig.primitives = [shown];
    const share = { target: { type: "user", idOrPattern: "*" }, primitive: { name: "files.*" }, allowed: true };
    await rig.do("policy.bindings.put", { orgId: "acme", body: share });
    await expect(rig.do(id, input, ACME)).rejects.toMatchObject({ code: "BAD_CALL" });
  });
});
