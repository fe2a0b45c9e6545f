import { describe, expect, test } from "vitest";
import { mcpRig } from "../../../../tests/kit/mcp-rig.ts";
import { modern } from "../../../../tests/kit/modern-client.ts";
import { ADMIN, PolicyRig, who } from "../../../../tests/kit/policy-rig.ts";
import { GatewayError, LOCAL, type Principal } from "../../../contract/index.ts";
import { MGP_EXTENSIONS } from "../../../wire/mgp/index.ts";

const MGP = { version: "0.3.0", extensions: ["access_control"] };
const GRANT = { entry_type: "server_grant", agent_id: "ann", server_id: "files" };
const QUERY = { agent_id: "ann", server_id: "files", tool_name: "read" };

async function start(principal: Principal = ADMIN) {
  const policy = new PolicyRig();
  let asked = 0;
  const operations = async () => {
    asked++;
    return policy.operations;
  };
  const rig = await mcpRig({
    principal: () => principal,
    mgp: { offered: () => MGP_EXTENSIONS, operations, trail: { listen: () => () => undefined } },
  });
  const session = await rig.initialize("2025-11-25", { mgp: MGP });
  const ask = async (method: string, params?: unknown, headers = session) => {
    const { text } = await rig.send({ body: JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }), headers });
    return JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text) as { result?: object; error?: { data?: unknown } };
  };
  return { ...rig, policy, session, ask, asked: () => asked };
}

describe("the access methods", () => {
  test("[MG-024][MG-102][MG-108][MG-122] grant, say who may, and take back, as the operations of the API do", async () => {
    await using rig = await start();
    expect((await rig.ask("mgp/access/query", QUERY)).result).toEqual({
      permission: "deny",
      source: "default_policy",
      granted_by: null,
      granted_at: null,
      expires_at: null,
    });
    const trace_id = "0d6f8f0e-6f0b-4b57-9b2c-6a5d8c1b7e11";
    const made = { ...GRANT, granted_by: "the boss", justification: "Weekly report", expires_at: null, trace_id };
    expect((await rig.ask("mgp/access/grant", made)).result).toMatchObject({
      granted: true,
      entry: { ...GRANT, tool_name: null, permission: "allow", granted_by: "ops", justification: "Weekly report" },
    });
    expect((await rig.ask("mgp/access/query", QUERY)).result).toMatchObject({
      permission: "allow",
      source: "server_grant",
      granted_by: "ops",
    });
    expect(rig.policy.events).toMatchObject([{ type: "ACCESS_GRANTED", traceId: trace_id }]);
    expect((await rig.ask("mgp/access/revoke", GRANT)).result).toEqual({ revoked: true, removed: 1 });
    expect((await rig.ask("mgp/access/revoke", GRANT)).result).toEqual({ revoked: false, removed: 0 });
    expect((await rig.ask("mgp/access/query", QUERY)).result).toMatchObject({ permission: "deny" });
  });

  test("[MG-114][MG-115][MG-116][MG-117] say where params are wrong, and change nothing", async () => {
    await using rig = await start();
    const wrong: readonly [unknown, string][] = [
      [{ ...GRANT, entry_type: "agent_grant" }, "/entry_type"],
      [{ entry_type: "server_grant", server_id: "files" }, "/agent_id"],
      [{ entry_type: "server_grant", agent_id: "ann" }, "/server_id"],
      [{ ...GRANT, entry_type: "tool_grant", tool_name: null }, "/tool_name"],
      [{ ...GRANT, permission: "maybe" }, "/permission"],
      [{ ...GRANT, other: 1 }, ""],
      [undefined, ""],
    ];
    for (const [params, path] of wrong) {
      const { error } = await rig.ask("mgp/access/grant", params);
      expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(/^Invalid params/) });
      if (path !== "") expect(error?.data).toMatchObject({ errors: [{ path }] });
    }
    expect(rig.policy.policy.version).toBe(0);
    const mayCarry = { ...QUERY, _meta: { progressToken: 1 }, _mgp: {}, trace_id: "t" };
    expect((await rig.ask("mgp/access/query", mayCarry)).result).toMatchObject({ permission: "deny" });
  });

  test("are for admins; others ask about themselves, and what they try is on record", async () => {
    await using rig = await start(who("ann"));
    const denied = {
      code: 1000,
      data: { _mgp: { category: "security", retryable: false, details: { name: "PERMISSION_DENIED" } } },
    };
    expect((await rig.ask("mgp/access/grant", GRANT)).error).toMatchObject({
      ...denied,
      message: "This needs the role admin.",
    });
    expect((await rig.ask("mgp/access/revoke", GRANT)).error).toMatchObject(denied);
    expect((await rig.ask("mgp/access/query", { ...QUERY, agent_id: "bob" })).error).toMatchObject(denied);
    expect((await rig.ask("mgp/access/query", QUERY)).result).toMatchObject({ permission: "deny" });
    expect(rig.policy.policy.version).toBe(0);
    expect(rig.refused).toMatchObject(
      ["grant", "revoke", "query"].map((word) => ({
        reason: "role",
        name: `mgp/access/${word}`,
        principal: { id: "ann" },
      })),
    );
  });

  test("change nothing for whoever is merely on this machine, as agents are", async () => {
    await using rig = await start(LOCAL);
    for (const method of ["mgp/access/grant", "mgp/access/revoke"]) {
      const { error } = await rig.ask(method, GRANT);
      expect(error).toMatchObject({ code: 1000, message: expect.stringContaining("isthmus operator token") });
      expect(rig.refused.at(-1)).toMatchObject({ reason: "role", name: method });
    }
    expect(rig.policy.policy.version).toBe(0);
    expect((await rig.ask("mgp/access/query", { ...QUERY, agent_id: "local" })).result).toBeDefined();
    await using owned = await start(ADMIN);
    expect((await owned.ask("mgp/access/grant", GRANT)).result).toMatchObject({ granted: true });
  });

  test("say that they can be tried again while the store is away", async () => {
    await using rig = await start();
    rig.policy.memory.write = () => Promise.reject(new GatewayError("STATE_UNAVAILABLE"));
    expect((await rig.ask("mgp/access/grant", GRANT)).error).toMatchObject({
      code: 2000,
      data: {
        _mgp: { category: "lifecycle", retryable: true, retry_after_ms: 1000, details: { name: "SERVER_NOT_READY" } },
      },
    });
  });

  test("[MG-018][MG-019][MG-039] do not exist for a client that has not agreed on them, and are no server's to answer", async () => {
    await using rig = await start();
    for (const capabilities of [
      {},
      { mgp: { ...MGP, extensions: ["audit"] } },
      { mgp: { ...MGP, version: "1.0.0" } },
    ]) {
      const plain = await rig.initialize("2025-11-25", capabilities);
      expect((await rig.ask("mgp/access/grant", GRANT, plain)).error).toMatchObject({
        code: -32601,
        message: "Method not found: mgp/access/grant",
      });
      expect(rig.refused.at(-1)).toMatchObject({ reason: "method", name: "mgp/access/grant" });
    }
    expect(rig.refused).toHaveLength(3);
    expect(rig.asked()).toBe(0);
    expect(rig.runs.started).toEqual([]);
  });

  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "[MG-044] are agreed on in sessions of %s",
    async (version) => {
      await using rig = await start();
      const session = await rig.initialize(version, { experimental: { mgp: MGP } });
      expect((await rig.ask("mgp/access/query", QUERY, session)).result).toMatchObject({ permission: "deny" });
    },
  );

  test("are agreed on with every request where there are no sessions", async () => {
    await using rig = await start();
    const capabilities = {
      extensions: { "dev.cloto/mgp": { version: "0.3.0", extensions: ["access_control", "audit"] } },
    };
    const send = async (method: string, params: Record<string, unknown>, declared: object) =>
      (await rig.send(modern(method, params, { capabilities: declared }))).json<{ result: object; error: object }>();
    expect((await send("server/discover", {}, capabilities)).result).toMatchObject({
      capabilities: {
        extensions: { "dev.cloto/mgp": { version: "0.3.0", extensions: ["access_control"] } },
      },
    });
    expect(JSON.stringify(await send("server/discover", {}, {}))).not.toContain("mgp");
    expect((await send("mgp/access/query", QUERY, capabilities)).result).toMatchObject({
      permission: "deny",
      resultType: "complete",
    });
    expect((await send("mgp/access/query", QUERY, {})).error).toMatchObject({ code: -32601 });
    expect(rig.runs.started).toEqual([]);
  });
});
