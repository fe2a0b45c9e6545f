import { describe, expect, test } from "vitest";
import { call, endWith, mcpRig, type SendOptions, until } from "../../../../tests/kit/mcp-rig.ts";

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

describe("a POST is refused", () => {
  const cases: [string, SendOptions, number, number, string][] = [
    ["with a Host that is not ours", { body: PING, headers: { host: "evil.example" } }, 403, -32000, "host"],
    ["with a foreign Origin", { body: PING, headers: { origin: "https://evil.example" } }, 403, -32000, "origin"],
    ["with the Origin null", { body: PING, headers: { origin: "null" } }, 403, -32000, "origin"],
    [
      "that is not JSON by type",
      { body: PING, headers: { "content-type": "text/plain" } },
      415,
      -32000,
      "content type",
    ],
    ["that accepts nothing we have", { body: PING, headers: { accept: "text/html" } }, 406, -32000, "accept"],
    ["with a body over the bound", { body: `"${"x".repeat(70_000)}"` }, 413, -32600, "body size"],
    ["that is not JSON", { body: "{" }, 400, -32700, "parse"],
    ["that is empty", { body: "" }, 400, -32700, "parse"],
    ["that is not UTF-8", { body: Buffer.from([123, 34, 0xff, 34, 125]) }, 400, -32700, "parse"],
    [
      "with an unknown protocol version",
      { body: PING, headers: { "mcp-protocol-version": "1999-01-01" } },
      400,
      -32000,
      "protocol version",
    ],
    ["with an unknown session id", { body: PING, headers: { "mcp-session-id": "gone" } }, 404, -32001, "session"],
    ["with a batch outside 2025-03-26", { body: `[${PING}]` }, 400, -32600, "message"],
  ];
  test.each(cases)("%s", async (_what, options, status, code, reason) => {
    await using rig = await mcpRig();
    const answer = await rig.send(options);
    expect([answer.status, answer.json()]).toMatchObject([status, { error: { code } }]);
    expect(rig.meter.of(`isthmus_refused_total ${reason}`)).toBe(1);
  });

  test("with a repeated key, under the id it bears", async () => {
    await using rig = await mcpRig();
    const body = '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a","name":"b"}}';
    const answer = await rig.send({ body });
    expect([answer.status, answer.json()]).toMatchObject([400, { id: 5, error: { code: -32600 } }]);
  });

  test("when chunks without a length go over the bound", async () => {
    await using rig = await mcpRig();
    const headers = { "transfer-encoding": "chunked" };
    expect((await rig.send({ body: `"${"x".repeat(70_000)}"`, headers })).status).toBe(413);
  });

  test("without a session id where sessions are a must", async () => {
    await using rig = await mcpRig({ config: { sessions: "stateful" } });
    const answer = await rig.send({ body: PING });
    expect([answer.status, answer.json()]).toMatchObject([400, { id: 1, error: { code: -32000 } }]);
  });

  test("on the path of a catalog that does not exist", async () => {
    await using rig = await mcpRig();
    expect((await rig.send({ body: PING, path: "/nowhere/mcp" })).status).toBe(404);
    expect((await rig.send({ method: "GET", path: "/nowhere/sse" })).status).toBe(404);
  });

  test("on the path of another catalog than the session's", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    expect((await rig.send({ body: PING, headers, path: "/ops/mcp" })).status).toBe(404);
  });
});

describe("a POST is served", () => {
  test.each([
    [{ host: "localhost:9" }],
    [{ host: "[::1]" }],
    [{ host: "gw.example:7411" }],
    [{ origin: "http://localhost:3000" }],
    [{ origin: "https://app.example" }],
    [{ accept: "*/*" }],
    [{ "content-type": "application/json; charset=utf-8" }],
  ])("with %o", async (headers) => {
    await using rig = await mcpRig({
      config: { allowedHosts: ["gw.example"], allowedOrigins: ["https://app.example"] },
    });
    const answer = await rig.send({ body: PING, headers: headers as unknown as Record<string, string> });
    expect([answer.status, answer.text]).toEqual([200, '{"jsonrpc":"2.0","id":1,"result":{}}']);
  });

  test("without a session as ephemeral, where nothing can be asked", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => run.write(endWith({}));
    expect((await rig.send({ body: call(1) })).status).toBe(200);
    expect(rig.runs.last.call.session).toMatchObject({ isEphemeral: true, canBeAsked: false });
    expect(rig.sessions.size).toBe(0);
  });

  test("as a stream when the client takes only streams", async () => {
    await using rig = await mcpRig();
    const answer = await rig.send({ body: PING, headers: { accept: "text/event-stream" } });
    expect(answer.headers["content-type"]).toBe("text/event-stream");
    expect(answer.text).toBe('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
  });
});

describe("other methods", () => {
  test("are refused with what is allowed", async () => {
    await using rig = await mcpRig();
    const put = await rig.send({ method: "PUT" });
    expect([put.status, put.headers.allow]).toEqual([405, "GET, POST, DELETE"]);
    const get = await rig.send({ method: "GET" });
    expect([get.status, get.headers.allow]).toEqual([405, "POST"]);
  });

  test("GET needs a known session and a client that takes streams", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    expect((await rig.send({ method: "GET", headers: { "mcp-session-id": "gone" } })).status).toBe(404);
    expect((await rig.send({ method: "GET", headers: { ...headers, accept: "application/json" } })).status).toBe(406);
  });

  test("DELETE ends the session and cancels what runs in it", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    const calling = rig.send({ headers, body: call(1) });
    await until(() => rig.runs.started.length === 1);
    expect((await rig.send({ method: "DELETE", headers })).status).toBe(200);
    await calling;
    expect(rig.runs.last.cancelled).toBe("the client ended the session");
    expect(rig.catalog.left).toEqual([headers["mcp-session-id"]]);
    expect((await rig.send({ method: "DELETE", headers })).status).toBe(404);
    expect((await rig.send({ headers, body: PING })).status).toBe(404);
  });
});
