import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TrailWatch } from "../../kit/attack-trace.ts";
import { modern } from "../../kit/modern-client.ts";
import { openSession, post, type RpcMessage, toolCall } from "../kit/rpc.ts";
import { partPath } from "../real-parts/part.ts";
import { GRANT, isAnswered, Rig } from "./access-rig.ts";

const MGP = { version: "0.3.0", extensions: ["access_control", "audit", "streaming"] };
const INFO = { name: "mgp-agent", version: "1" };
const QUERY = { agent_id: "ann", server_id: "files", tool_name: "drop" };
type User = keyof Rig["tokens"];

/** A client that speaks MGP in a session of its own, with everything it is told outside its calls. */
class Agent implements AsyncDisposable {
  readonly heard: RpcMessage[] = [];
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #life = new AbortController();
  readonly capabilities: Record<string, unknown>;

  private constructor(url: string, headers: Record<string, string>, capabilities: Record<string, unknown>) {
    this.#url = url;
    this.#headers = headers;
    this.capabilities = capabilities;
  }

  static async open(rig: Rig, user: User): Promise<Agent> {
    const url = `${rig.origin}/mcp`;
    const params = { protocolVersion: "2025-11-25", capabilities: { mgp: MGP }, clientInfo: INFO };
    const { headers, messages } = await post(url, { id: 0, method: "initialize", params }, rig.as(user));
    const session = { "mcp-session-id": headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
    const capabilities = messages[0]?.result?.capabilities;
    const agent = new Agent(url, { ...rig.as(user), ...session }, capabilities as Record<string, unknown>);
    await agent.#listen();
    return agent;
  }

  async #listen(): Promise<void> {
    const { signal } = this.#life;
    const { body } = await fetch(this.#url, { headers: { accept: "text/event-stream", ...this.#headers }, signal });
    const read = async () => {
      let text = "";
      for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const lines = (text + chunk).split("\n");
        text = lines.pop() ?? "";
        const data = lines.filter((line) => line.startsWith("data: {"));
        this.heard.push(...data.map((line) => JSON.parse(line.slice(6)) as RpcMessage));
      }
    };
    void read().catch(() => undefined);
  }

  async ask(method: string, params: object): Promise<RpcMessage | undefined> {
    return (await post(this.#url, { id: 7, method, params }, this.#headers)).messages.at(-1);
  }

  async call(name: string): Promise<RpcMessage | undefined> {
    return (await post(this.#url, toolCall(8, name, {}), this.#headers)).messages.at(-1);
  }

  /** The events of the trail that were told. */
  get events(): readonly Record<string, unknown>[] {
    return this.heard.flatMap(({ method, params }) => (method === "notifications/mgp.audit" && params ? [params] : []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#life.abort();
  }
}

describe("MGP clients of a gateway with tokens", () => {
  const rig = new Rig("[audit]\n");
  beforeAll(() => rig.open());
  afterAll(() => rig.place[Symbol.asyncDispose]());
  const trail = new TrailWatch({
    origin: () => rig.origin,
    headers: () => rig.as("admin"),
    secrets: () => Object.values(rig.tokens),
  });

  test("[MG-019][MG-033][MG-034][MG-035] are told what is in force, and other clients nothing of it", async () => {
    await using admin = await Agent.open(rig, "admin");
    expect(admin.capabilities).toMatchObject({ mgp: { version: "0.3.0", extensions: ["access_control", "audit"] } });
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: INFO };
    const { messages } = await post(`${rig.origin}/mcp`, { id: 0, method: "initialize", params }, rig.as("admin"));
    expect(JSON.stringify(messages)).not.toContain("mgp");
  });

  test("[MG-102][MG-109][MG-110][MG-118][MG-122] grant and revoke: what a query says is what a call gets, at once", async () => {
    await using admin = await Agent.open(rig, "admin");
    const both = async () => {
      const said = (await admin.ask("mgp/access/query", QUERY))?.result;
      return [said?.permission, said?.source, isAnswered(await rig.call("ann", "files.drop"))];
    };
    expect(await both()).toEqual(["deny", "default_policy", false]);
    expect((await admin.ask("mgp/access/grant", GRANT))?.result).toMatchObject({ granted: true });
    expect(await both()).toEqual(["allow", "server_grant", true]);
    const tool = { ...GRANT, entry_type: "tool_grant", tool_name: "drop" };
    await admin.ask("mgp/access/grant", { ...tool, permission: "deny" });
    expect(await both()).toEqual(["deny", "tool_grant", false]);
    expect((await admin.ask("mgp/access/revoke", tool))?.result).toEqual({ revoked: true, removed: 1 });
    expect(await both()).toEqual(["allow", "server_grant", true]);
  });

  test("[MG-111][MG-112][MG-113][MG-119][MG-120] a grant has its maker, time, reason and end, and is on record with them", async () => {
    await using admin = await Agent.open(rig, "admin");
    const expires_at = "2999-01-01T00:00:00.000Z";
    const tool = { ...GRANT, entry_type: "tool_grant", tool_name: "show", expires_at };
    await admin.ask("mgp/access/grant", { ...tool, granted_by: "the boss", justification: "Weekly report" });
    const said = (await admin.ask("mgp/access/query", { ...QUERY, tool_name: "show" }))?.result;
    const granted_by = (await rig.api("GET", "/api/access/grants")).body.grants[0].granted_by;
    expect(said).toEqual({
      permission: "allow",
      source: "tool_grant",
      granted_by,
      granted_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      expires_at,
    });
    expect(granted_by).not.toBe("the boss");
    await expect
      .poll(() => admin.events.at(-1))
      .toMatchObject({
        event_type: "ACCESS_GRANTED",
        actor: { id: granted_by },
        details: { justification: "Weekly report", claimed_granted_by: "the boss", expires_at },
      });
  });

  test("[MG-121] a grant that has ended counts no more", async () => {
    await using admin = await Agent.open(rig, "admin");
    const docs = { ...GRANT, server_id: "docs" };
    const expires_at = new Date(Date.now() + 700).toISOString();
    await admin.ask("mgp/access/grant", { ...docs, expires_at });
    const before = await rig.tools("ann");
    if (Date.now() < Date.parse(expires_at)) expect(before).toContain("docs.show");
    await expect.poll(() => rig.tools("ann"), { timeout: 10_000 }).not.toContain("docs.show");
    const about = { ...QUERY, server_id: "docs" };
    expect((await admin.ask("mgp/access/query", about))?.result).toMatchObject({ permission: "deny" });
  });

  test("[MG-114][MG-115][MG-116][MG-117] a grant that is not whole is refused", async () => {
    await using admin = await Agent.open(rig, "admin");
    const wrong = [
      { ...GRANT, entry_type: "agent_grant" },
      { ...GRANT, agent_id: undefined },
      { ...GRANT, server_id: undefined },
      { ...GRANT, entry_type: "tool_grant", tool_name: null },
    ];
    for (const params of wrong) expect((await admin.ask("mgp/access/grant", params))?.error?.code).toBe(-32602);
  });

  test("cannot give themselves anything, with or without having agreed on the methods", async () => {
    await using bob = await Agent.open(rig, "bob");
    const forbidden = { type: "dev.isthmus.request_refused", why: "role", name: "mgp/access/grant" };
    const own = { ...GRANT, agent_id: "bob" };
    const answer = await trail.attack(() => bob.ask("mgp/access/grant", own), forbidden);
    expect(answer?.error).toMatchObject({ code: 1000, data: { _mgp: { details: { name: "PERMISSION_DENIED" } } } });
    const unknown = { type: "dev.isthmus.request_refused", why: "method", name: "mgp/access/grant" };
    const order = modern("mgp/access/grant", own);
    const bare = () =>
      post(`${rig.origin}/mcp`, JSON.parse(String(order.body)), { ...rig.as("bob"), ...order.headers });
    expect((await trail.attack(bare, unknown)).messages[0]?.error?.code).toBe(-32601);
    const plain = { ...rig.as("bob"), ...(await openSession(`${rig.origin}/mcp`, {}, rig.as("bob"))) };
    const inSession = () => post(`${rig.origin}/mcp`, { id: 9, method: "mgp/access/grant", params: own }, plain);
    expect((await trail.attack(inSession, unknown)).messages[0]?.error?.code).toBe(-32601);
    expect(isAnswered(await rig.call("bob", "files.show"))).toBe(false);
  });

  test("[MG-025][MG-127] hear what their agent did and nothing of others; who may read the trail hears of all", async () => {
    await using ann = await Agent.open(rig, "ann");
    await using bob = await Agent.open(rig, "bob");
    await using admin = await Agent.open(rig, "admin");
    expect((await ann.call("files.show"))?.error).toBeUndefined();
    expect((await bob.call("files.show"))?.error?.code).toBe(-32601);
    await expect
      .poll(() => ann.events)
      .toMatchObject([
        {
          event_type: "TOOL_EXECUTED",
          actor: { type: "agent" },
          target: { server_id: "files", tool_name: "show" },
          result: "SUCCESS",
        },
      ]);
    await expect
      .poll(() => admin.events.map(({ event_type }) => event_type))
      .toEqual(expect.arrayContaining(["TOOL_EXECUTED", "TOOL_BLOCKED"]));
    // What was concealed from him looks here, too, like what is not there.
    expect((await bob.call("files.nothing"))?.error?.code).toBe(-32601);
    const named = (name: string) =>
      bob.events.filter(({ target }) => (target as { tool_name: string }).tool_name === name);
    await expect.poll(() => named("files.nothing").length).toBe(1);
    const kinds = [...named("files.show"), ...named("show")].map(({ event_type }) => event_type);
    expect(new Set(kinds)).toEqual(new Set([named("files.nothing")[0]?.event_type]));
    const [event] = ann.events as [{ trace_id: string }];
    const { body } = await rig.api("GET", `/api/audit?trace_id=${event.trace_id}`);
    expect(body.events).toEqual([event]);
  });

  test("work with the official client, which lets the declaration through under `experimental`", async () => {
    const root = "@modelcontextprotocol/sdk/dist/esm/client";
    const from = (path: string) => import(pathToFileURL(partPath(path)).href);
    const { Client } = await from(`${root}/index.js`);
    const { StreamableHTTPClientTransport } = await from(`${root}/streamableHttp.js`);
    const { z } = await from("zod/index.js");
    const client = new Client(INFO, { capabilities: { experimental: { mgp: MGP } } });
    const heard: { method: string }[] = [];
    client.fallbackNotificationHandler = async (note: { method: string }) => void heard.push(note);
    const requestInit = { headers: rig.as("ann") };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${rig.origin}/mcp`), { requestInit }));
    expect(client.getServerCapabilities().experimental.mgp.extensions).toEqual(["access_control", "audit"]);
    const said = await client.request({ method: "mgp/access/query", params: QUERY }, z.looseObject({}));
    expect(said).toMatchObject({ permission: "allow", source: "server_grant" });
    await client.callTool({ name: "files.show", arguments: {} });
    await expect.poll(() => heard.map(({ method }) => method)).toContain("notifications/mgp.audit");
    await client.close();
  });

  test("[MG-102] find a grant again after the gateway was killed", async () => {
    await rig.place.kill();
    rig.origin = await rig.place.up("127.0.0.1:0");
    await using admin = await Agent.open(rig, "admin");
    expect((await admin.ask("mgp/access/query", QUERY))?.result).toMatchObject({ source: "server_grant" });
    expect(isAnswered(await rig.call("ann", "files.drop"))).toBe(true);
  });
});
