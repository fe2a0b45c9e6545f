import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Workspace } from "../identity/workspace.ts";
import { helloServer } from "../kit/gateway.ts";
import { post, type RpcMessage, toolCall } from "../kit/rpc.ts";
import { startCluster, type TestCluster } from "../processes/cluster.ts";

const AUTH = '[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-in"\n';
const GRANT = { entry_type: "server_grant", agent_id: "ann", server_id: "hello" };

describe("a policy of several processes", () => {
  let cluster: TestCluster;
  const tokens = { ann: "", root: "" };

  beforeAll(async () => {
    cluster = await startCluster({ servers: AUTH + helloServer(), gateways: 3 });
    await using place = new Workspace(`${AUTH}[database]\nurl = ${JSON.stringify(cluster.postgres.url)}\n`);
    tokens.ann = await place.createToken("--user", "ann");
    tokens.root = await place.createToken("--user", "root", "--role", "admin");
  }, 60_000);
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  const as = (user: keyof typeof tokens) => ({ authorization: `Bearer ${tokens[user]}` });

  async function tools(index: number): Promise<number> {
    const { messages } = await post(cluster.url(index), { id: 1, method: "tools/list" }, as("ann"));
    return (((messages[0] as RpcMessage).result?.tools ?? []) as unknown[]).length;
  }

  async function api(index: number, method: string, path: string, body?: object, headers = {}): Promise<Response> {
    const response = await fetch(`${cluster.fleet.origin(index)}${path}`, {
      method,
      headers: { "content-type": "application/json", ...as("root"), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    return response;
  }

  test("is the same in all of them soon after a change in any of them, before they look by themselves [AP-025]", async () => {
    for (const [place, verb] of ["grant", "revoke", "grant", "revoke"].entries()) {
      expect((await api(place % 3, "POST", `/api/access/${verb}`, GRANT)).status).toBe(200);
      const expected = verb === "grant" ? 3 : 0;
      expect(await tools(place % 3)).toBe(expected);
      for (const index of [0, 1, 2]) await expect.poll(() => tools(index), { timeout: 3_000 }).toBe(expected);
    }
  });

  test("is asked where a call comes in, and not again where the one process of the server is", async () => {
    await api(0, "POST", "/api/access/grant", GRANT);
    for (const index of [0, 1, 2]) {
      await expect.poll(() => tools(index), { timeout: 3_000 }).toBe(3);
      const call = toolCall(1, "hello.greet", { name: "Ada" });
      const { messages } = await post(cluster.url(index), call, as("ann"));
      expect(JSON.stringify(messages)).toContain("Hello, Ada!");
      const refused = await post(cluster.url(index), call, as("root"));
      expect(refused.messages[0]?.error?.code).toBe(-32601);
      const spoofed = { ...as("root"), "isthmus-hop-home": "hello", "isthmus-hop": "1 x" };
      const again = await post(cluster.url(index, "hello"), toolCall(1, "greet", { name: "Ada" }), spoofed);
      expect(JSON.stringify(again.messages)).not.toContain("Hello, Ada!");
    }
  });

  test("is changed by one of those who saw the same version, never by two", async () => {
    const path = "/api/policy/orgs/default/exposure";
    const etag = (await api(0, "GET", path)).headers.get("etag") ?? "";
    const edit = (index: number) =>
      api(index, "PUT", path, { server: "hello", protocol: "a2a", enabled: index === 0 }, { "if-match": etag });
    const statuses = (await Promise.all([edit(0), edit(1), edit(2)])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 412, 412]);
  });
});
