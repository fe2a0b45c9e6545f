import { request } from "node:http";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { helloServer, startGateway } from "./kit/gateway.ts";
import { post, toolCall } from "./kit/rpc.ts";

async function get(url: string, headers: Record<string, string> = {}) {
  // Not fetch: that would not send another Host.
  return new Promise<{ status: number; text: string; type: string }>((resolve, reject) => {
    const sent = request(url, { headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text, type: response.headers["content-type"] ?? "" }),
      );
    });
    sent.on("error", reject).end();
  });
}

function sendRaw(origin: string, text: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.setEncoding("utf8").on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("error", reject).on("close", () => resolve(answer));
  });
}

describe("the outside surface", () => {
  test("/healthz and /readyz say that it serves, and with what", async () => {
    await using gateway = await startGateway({
      config: `${helloServer()}[[servers]]\nid = "gone"\ncommand = "/no/such/program"\n`,
    });
    expect(await get(`${gateway.origin}/healthz`)).toMatchObject({ status: 200, text: "ok" });
    const { status, text } = await get(`${gateway.origin}/readyz`);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({ status: "ready", servers: { hello: "ok", gone: "unreachable" } });
  });

  test("/metrics counts calls by server, tool and outcome, and tells whether servers are up", async () => {
    await using gateway = await startGateway({ config: helloServer() });
    await post(gateway.url, toolCall(1, "hello.greet", { name: "Ada" }));
    const { text, type } = await get(`${gateway.origin}/metrics`);
    expect(type).toContain("version=0.0.4");
    expect(text).toContain('isthmus_calls_total{server="hello",kind="tool",tool="greet",code="ok"} 1\n');
    expect(text).toMatch(/^isthmus_server_up\{server="hello"\} 1$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(text).toMatch(/^isthmus_runs_open 0$/m);
  });

  test("anything else is 404, /sse too unless it is switched on [AP-158]", async () => {
    await using gateway = await startGateway({ config: helloServer() });
    for (const path of ["/nope", "/mcp/", "/sse", "/messages", "/hello/sse", "/hello/messages"]) {
      expect(await get(gateway.origin + path)).toEqual({
        status: 404,
        text: '{"error":"not found"}',
        type: "application/json",
      });
    }
  });

  test("a catalog that does not exist is 404", async () => {
    await using gateway = await startGateway({ config: helloServer() });
    expect((await post(`${gateway.origin}/nope/mcp`, toolCall(1, "greet", {}))).status).toBe(404);
  });

  test("/sse tells where to send messages, once it is switched on", async () => {
    await using gateway = await startGateway({ config: `[gateway]\nsse = true\n${helloServer()}` });
    const stop = new AbortController();
    const response = await fetch(`${gateway.origin}/hello/sse`, { signal: stop.signal });
    const { value } = await (response.body as ReadableStream<Uint8Array>).getReader().read();
    expect(Buffer.from(value ?? []).toString()).toMatch(/^event: endpoint\ndata: \/hello\/messages\?sessionId=/);
    stop.abort();
  });

  test("a Host that is not loopback gets nothing", async () => {
    await using gateway = await startGateway({ config: '[gateway]\nallowedHosts = ["box.local"]\n' });
    for (const path of ["/healthz", "/readyz", "/metrics", "/mcp"]) {
      expect(await get(gateway.origin + path, { host: "evil.example" })).toMatchObject({ status: 403 });
    }
    expect(await get(`${gateway.origin}/healthz`, { host: "box.local:80" })).toMatchObject({ status: 200 });
  });

  test("what is not HTTP gets 400, too many headers 431", async () => {
    await using gateway = await startGateway({ config: "" });
    expect(await sendRaw(gateway.origin, "hello\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    const big = `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(20_000)}\r\n\r\n`;
    expect(await sendRaw(gateway.origin, big)).toMatch(/^HTTP\/1\.1 431 /);
  });
});

test("without a config the demo runs, and says where a config was looked for", async () => {
  await using gateway = await startGateway();
  expect(gateway.servers).toEqual([{ id: "demo", status: "ok", tools: 4 }]);
  expect(gateway.program.stdout).toContain("isthmus.toml");
  const { messages } = await post(gateway.url, toolCall(1, "demo.add", { a: 20, b: 22 }));
  expect(messages[0]?.result).toEqual({ content: [{ type: "text", text: "42" }] });
});
