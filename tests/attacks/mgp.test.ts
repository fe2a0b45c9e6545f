import { afterAll, expect, test } from "vitest";
import { operatorToken } from "../e2e/kit/operator.ts";
import { openSession, post, toolCall } from "../e2e/kit/rpc.ts";
import { modern } from "../kit/modern-client.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { Places } from "./kit/places.ts";

const closed = new Places();
const open = new Places();
afterAll(() => {
  closed.remove();
  open.remove();
});

const MGP = { version: "0.3.0", extensions: ["access_control"] };
const DECLARED: readonly [string, object][] = [
  ["under mgp", { mgp: MGP }],
  ["as an experiment", { experimental: { mgp: MGP, mcpax: { role: "aggregator" } } }],
  ["as an extension", { extensions: { "dev.cloto/mgp": MGP } }],
];
const JSON_BODY = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const GRANT = { entry_type: "tool_grant", agent_id: "local", server_id: "places", tool_name: "read" };
const CALL = toolCall(9, "places.read", { path: "/x" });

describeAttacks(
  "an agent on the gateway's machine",
  { config: `[access]\ndefaultPolicy = "opt-in"\n${closed.table}` },
  (field) => {
    test.each(DECLARED)("grants itself nothing over MGP, declared %s", async (_name, capabilities) => {
      const url = `${field.origin()}/mcp`;
      const session = await openSession(url, capabilities);
      for (const method of ["mgp/access/grant", "mgp/access/revoke"]) {
        const { messages } = await post(url, { id: 1, method, params: GRANT }, session);
        expect(messages.at(-1)?.error, method).toMatchObject({ code: 1000 });
      }
      expect((await post(url, CALL, session)).messages.at(-1)?.result).toBeUndefined();
    });

    test("grants itself nothing without a session", async () => {
      const { body, headers } = modern("mgp/access/grant", GRANT, {
        capabilities: { extensions: { "dev.cloto/mgp": MGP } },
      });
      const answer = await fetch(`${field.origin()}/mcp`, {
        method: "POST",
        body: body as string,
        headers: { ...JSON_BODY, ...(headers as Record<string, string>) },
      });
      expect(await answer.text()).toContain('"code":1000');
    });

    test.each<[string, string, object | undefined]>([
      ["POST", "/api/access/grant", GRANT],
      ["PUT", "/api/policy/orgs/default/default", { policy: "opt-out" }],
      [
        "PUT",
        "/api/policy/orgs/default/bindings",
        { target: { type: "user", idOrPattern: "*" }, primitive: { name: "*" }, allowed: true },
      ],
      ["PUT", "/api/policy/orgs/default/exposure", { server: "*", protocol: "*", enabled: true }],
      ["PUT", "/api/ratelimits/orgs/default", []],
      ["POST", "/api/tokens", { user: "local", role: "admin" }],
      ["PUT", "/api/servers/evil", { url: "http://127.0.0.1:9/mcp" }],
      ["DELETE", "/api/orgs/default/blocks/local", undefined],
      ["POST", "/api/config/reload", undefined],
    ])("changes nothing by %s %s", async (method, path, body) => {
      const guesses = [{}, { authorization: "Bearer x" }, { authorization: `Bearer isop_${"A".repeat(43)}` }];
      for (const headers of guesses) {
        const { status, text } = await field.api(method, path, body, { headers });
        expect([status, text]).toEqual([403, expect.stringContaining("isthmus operator token")]);
      }
      expect((await field.rpc(CALL)).messages[0]?.result).toBeUndefined();
    });

    test("may look", async () => {
      for (const path of ["/api/about", "/api/sessions", "/api/access/grants", "/metrics"])
        expect((await field.api("GET", path)).status, path).toBe(200);
    });

    test("is not the operator, whose token changes things", async () => {
      const headers = { authorization: `Bearer ${operatorToken(field.home())}` };
      const { status } = await field.api("POST", "/api/access/grant", GRANT, { headers, at: 0 });
      expect(status).toBe(200);
      await expect.poll(async () => (await field.rpc(CALL)).messages[0]?.result !== undefined).toBe(true);
    });
  },
);

describeAttacks("a client that speaks a dialect", { config: open.table }, (field) => {
  test.each(DECLARED)("tells no server of it, declared %s", async (_name, capabilities) => {
    const url = `${field.origin()}/mcp`;
    const session = await openSession(url, { roots: {}, ...capabilities });
    await post(url, toolCall(1, "places.read", {}), session);
    await expect.poll(() => open.seen.includes('"roots"')).toBe(true);
    expect(open.seen).not.toMatch(/mgp|mcpax/i);
  });

  test.each([
    "mgp/tools/discover",
    "MGP/access/grant",
    "mgp/access/grant",
    "mcpax/register",
    "mcpax/confirmX",
    "mgp",
    " mgp/access/grant",
    "mgp\0/access/grant",
    "notifications /mgp",
  ])("has no server answer %s", async (method) => {
    const url = `${field.origin()}/mcp`;
    const session = await openSession(url);
    const { messages } = await post(url, { id: 1, method, params: {} }, session);
    expect(messages.at(-1)?.error).toMatchObject({ code: -32601 });
    await post(url, { method: `notifications/${method.replace("/", ".")}`, params: {} }, session);
    await post(url, { method, params: {} }, session);
    const { messages: known } = await post(url, { id: 2, method: "x/own", params: {} }, session);
    expect(known.at(-1)?.result).toEqual({ reached: "x/own" });
    expect(open.seen).not.toMatch(/mgp|mcpax/i);
  });
});
