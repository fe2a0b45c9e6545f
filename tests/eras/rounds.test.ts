/** Clients of the official SDKs that are asked by a server of the other era. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Exchange, HttpFixture } from "../../src/providers/mcp/fixtures/http-server.ts";
import { complete, ModernFixture } from "../../src/providers/mcp/fixtures/modern-http.ts";
import { gatewayTo } from "../e2e/eras/kit.ts";
import type { RunningGateway } from "../e2e/kit/gateway.ts";
import { type ClientKind, connectClient, type SdkClient } from "./sdk-clients.ts";

const FORM = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Who?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } } },
  },
};
const PAGE = { method: "elicitation/create", params: { mode: "url", message: "Sign in", url: "https://a.example/b" } };
const SAMPLE = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } };
const ROOTS = { method: "roots/list", params: {} };

type Round = { readonly questions?: Record<string, object>; readonly state?: string };

/** What each tool wants before it is done, round by round. */
const ROUNDS: Readonly<Record<string, readonly Round[]>> = {
  form: [{ questions: { q: FORM } }],
  page: [
    { questions: { q: PAGE }, state: "1" },
    { questions: { q: PAGE }, state: "2" },
  ],
  sample: [{ questions: { q: SAMPLE } }],
  roots: [{ questions: { q: ROOTS } }],
  all: [{ questions: { a: FORM, b: SAMPLE, c: ROOTS }, state: "ü" }],
  state: [{ state: "1" }, { state: "2" }],
  three: [{ questions: { a: FORM } }, { questions: { b: SAMPLE }, state: "2" }, { questions: { c: FORM }, state: "3" }],
};
const ASKED: Readonly<Record<string, readonly string[]>> = {
  form: [FORM.method],
  page: [PAGE.method],
  sample: [SAMPLE.method],
  roots: [ROOTS.method],
  all: [FORM.method, SAMPLE.method, ROOTS.method],
  state: [],
  three: [FORM.method, SAMPLE.method, FORM.method],
};

const tool = (name: string) => ({ name, inputSchema: { type: "object" } });

/** Each call of a tool is its next round; whoever brings the wrong state or keys starts it anew. */
function askingServer(): ModernFixture {
  const at = new Map<string, number>();
  const server: ModernFixture = new ModernFixture({
    "tools/list": (exchange) => exchange.result(complete({ tools: Object.keys(ROUNDS).map(tool) })),
    "tools/call": (exchange) => {
      const { requestState, inputResponses } = exchange.message.params ?? {};
      const rounds = ROUNDS[exchange.tool] ?? [];
      const before = rounds[(at.get(exchange.tool) ?? 0) - 1];
      const isNext =
        requestState === before?.state && String(keysOf(inputResponses)) === String(keysOf(before?.questions));
      const next = isNext ? (at.get(exchange.tool) ?? 0) : 0;
      at.set(exchange.tool, next + 1);
      const round = rounds[next];
      if (!round) {
        at.delete(exchange.tool);
        return exchange.result(complete({ content: [{ type: "text", text: "done" }] }));
      }
      const asks = { inputRequests: round.questions, requestState: round.state };
      exchange.result({ resultType: "input_required", ...JSON.parse(JSON.stringify(asks)) });
    },
  });
  return server;
}

const keysOf = (value: unknown) => Object.keys(Object(value)).sort();

describe.each<ClientKind>(["v1", "v2-2025"])("client %s of the 2025 era, asked by a server of 2026-07-28", (kind) => {
  const server = askingServer();
  let gateway: RunningGateway;
  let client: SdkClient;

  beforeAll(async () => {
    await server.listen();
    gateway = await gatewayTo(server.url);
    client = await connectClient(kind, gateway.url);
  });
  afterAll(async () => {
    await client.close();
    await gateway.stop();
    await server.stop();
  });

  test.each(Object.keys(ROUNDS))("gets through the rounds of %s", async (name) => {
    const from = client.asked.length;
    expect(await client.callTool(name)).toEqual({ content: [{ type: "text", text: "done" }] });
    const asked = client.asked.slice(from);
    expect(asked.map(({ method }) => method).sort()).toEqual([...(ASKED[name] ?? [])].sort());
    if (name !== "page") return;
    const { elicitationId, ...params } = asked[0]?.params ?? {};
    expect([params, typeof elicitationId]).toEqual([PAGE.params, "string"]);
    await expect.poll(() => client.visited).toEqual([elicitationId]);
  });
});

describe("client v2-2026, told by a 2025 server to visit a page first", () => {
  /** Refuses with -32042 until the page was visited, and says when that is. */
  async function pageServer(sayAfterMs: number | undefined) {
    let isVisited = false;
    const elicitationId = "e-1";
    const server: HttpFixture = new HttpFixture({
      "server/discover": (exchange) => exchange.raw("", 404, {}),
      GET: (exchange) => void server.listeners.push(exchange.stream()),
      "tools/list": (exchange) => exchange.result({ tools: [tool("page")] }),
      "tools/call": (exchange) => {
        if (isVisited) return exchange.result({ content: [{ type: "text", text: "in" }] });
        refuse(exchange, elicitationId);
        if (sayAfterMs !== undefined) setTimeout(visit, sayAfterMs);
      },
    });
    const visit = () => {
      isVisited = true;
      const message = { jsonrpc: "2.0", method: "notifications/elicitation/complete", params: { elicitationId } };
      for (const listener of server.listeners) listener.event(message);
    };
    server.sessionId = "s";
    await server.listen();
    return server;
  }

  const refuse = (exchange: Exchange, elicitationId: string) => {
    const data = { elicitations: [{ mode: "url", message: "Sign in", url: "https://a.example/b", elicitationId }] };
    exchange.json({ jsonrpc: "2.0", id: exchange.message.id, error: { code: -32042, message: "visit first", data } });
  };

  test("is asked once, held until the server says so, and needs two calls of the server", async () => {
    await using server = await pageServer(500);
    await using gateway = await gatewayTo(server.url);
    const client = await connectClient("v2-2026", gateway.url);
    expect(await client.callTool("page")).toMatchObject({ content: [{ text: "in" }] });
    expect(client.asked).toEqual([PAGE]);
    expect(server.count("tools/call")).toBe(2);
    await client.close();
  });
});
