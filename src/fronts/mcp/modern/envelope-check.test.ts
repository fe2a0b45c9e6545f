import { describe, expect, test } from "vitest";
import { FakeView, okProvider } from "../../../../tests/kit/fake-catalog.ts";
import { endWith, mcpRig, type SendOptions } from "../../../../tests/kit/mcp-rig.ts";
import { META, type ModernOptions, modern, modernBody, modernCall } from "../../../../tests/kit/modern-client.ts";

const LIST = "tools/list";

describe("a request of 2026-07-28 is refused", () => {
  const list = (options: ModernOptions) => modern(LIST, {}, options);
  const cases: [string, SendOptions, number, number][] = [
    ["without the version header", list({ headers: { "mcp-protocol-version": undefined } }), 400, -32020],
    ["with another version in the header", list({ headers: { "mcp-protocol-version": "2025-11-25" } }), 400, -32020],
    ["without the method header", list({ headers: { "mcp-method": undefined } }), 400, -32020],
    ["with another method in the header", list({ headers: { "mcp-method": "tools/call" } }), 400, -32020],
    ["without the name header", modernCall({}, { headers: { "mcp-name": undefined } }), 400, -32020],
    ["with another name in the header", modernCall({}, { headers: { "mcp-name": "other" } }), 400, -32020],
    ["with a broken name header", modernCall({}, { headers: { "mcp-name": "=?base64?!!?=" } }), 400, -32020],
    ["without capabilities", list({ meta: { [`${META}clientCapabilities`]: undefined } }), 400, -32602],
    ["with capabilities that are no object", list({ capabilities: [] }), 400, -32602],
    ["with a version that is no string", list({ meta: { [`${META}protocolVersion`]: 7 } }), 400, -32602],
    ["with a client that has no version", list({ meta: { [`${META}clientInfo`]: { name: "x" } } }), 400, -32602],
    ["with a client that is no object", list({ meta: { [`${META}clientInfo`]: "x" } }), 400, -32602],
    ["with an unknown log level", list({ logLevel: "loud" }), 400, -32602],
    ["with a log level that is no string", list({ logLevel: 3 }), 400, -32602],
    ["without an envelope under the header", list({ meta: { [`${META}protocolVersion`]: undefined } }), 400, -32602],
    ["for initialize", modern("initialize", { protocolVersion: "2026-07-28" }), 404, -32601],
    ["for ping", modern("ping"), 404, -32601],
    ["for logging/setLevel", modern("logging/setLevel", { level: "info" }), 404, -32601],
    ["for resources/subscribe", modern("resources/subscribe", { uri: "a:b" }), 404, -32601],
    ["for resources/unsubscribe", modern("resources/unsubscribe", { uri: "a:b" }), 404, -32601],
    ["for tasks/list", modern("tasks/list"), 404, -32601],
    ["for tasks/result", modern("tasks/result", { taskId: "x" }), 404, -32601],
    ["for a task without the extension", modern("tasks/get", { taskId: "x" }), 400, -32021],
    [
      "for a task nobody has",
      modern("tasks/get", { taskId: "x" }, { capabilities: { extensions: { [`${META}tasks`]: {} } } }),
      200,
      -32602,
    ],
    ["for a tool nobody has", modern("tools/call", { name: "nope" }), 200, -32602],
    ["for a prompt nobody has", modern("prompts/get", { name: "nope" }), 200, -32602],
    ["for a resource nobody has", modern("resources/read", { uri: "no:pe" }), 200, -32602],
    ["for a tool without a name", modern("tools/call", {}, { headers: { "mcp-name": "x" } }), 200, -32602],
    ["with a cursor nobody gave", modern(LIST, { cursor: "x" }), 200, -32602],
  ];
  test.each(cases)("%s", async (_what, options, status, code) => {
    await using rig = await mcpRig();
    const answer = await rig.send(options);
    expect([answer.status, answer.json()]).toMatchObject([status, { id: 1, error: { code } }]);
    expect(rig.runs.started).toEqual([]);
  });

  test("with an unknown version, told which there are", async () => {
    await using rig = await mcpRig();
    const answer = await rig.send(modern(LIST, {}, { version: "2099-01-01", id: "x" }));
    expect([answer.status, answer.json()]).toMatchObject([
      400,
      { id: "x", error: { code: -32022, data: { supported: ["2026-07-28"], requested: "2099-01-01" } } },
    ]);
    const discovered = await rig.send(modern("server/discover"));
    expect(discovered.json()).toMatchObject({ result: { supportedVersions: ["2026-07-28"] } });
  });

  test("in an array, and an answer that is posted", async () => {
    await using rig = await mcpRig();
    const headers = { "mcp-protocol-version": "2026-07-28" };
    const array = await rig.send({ body: `[${modernBody(LIST)}]`, headers });
    expect([array.status, array.json()]).toMatchObject([400, { error: { code: -32600 } }]);
    const answer = await rig.send({ body: '{"jsonrpc":"2.0","id":9,"result":{}}', headers });
    expect([answer.status, answer.json()]).toMatchObject([400, { id: 9, error: { code: -32600 } }]);
  });

  test("with a key of the envelope twice, under its id", async () => {
    await using rig = await mcpRig();
    const key = `"${META}protocolVersion"`;
    const body = modernBody(LIST).replace(key, `${key}:"2026-07-28",${key}`);
    const answer = await rig.send({ ...modern(LIST), body });
    expect([answer.status, answer.json()]).toMatchObject([400, { id: 1, error: { code: -32600 } }]);
  });

  test("as a GET or DELETE, whatever session it names", async () => {
    await using rig = await mcpRig();
    const session = await rig.initialize();
    for (const method of ["GET", "DELETE"]) {
      for (const more of [{}, { "mcp-session-id": session["mcp-session-id"] as string }]) {
        const answer = await rig.send({ method, headers: { ...more, "mcp-protocol-version": "2026-07-28" } });
        expect([answer.status, answer.headers.allow]).toEqual([405, "POST"]);
      }
    }
    expect(rig.sessions.size).toBe(1);
  });
});

describe("headers", () => {
  const definition = JSON.stringify({
    name: "t",
    inputSchema: {
      type: "object",
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        count: { type: "integer", "x-mcp-header": "Count" },
        deep: { type: "object", properties: { on: { type: "boolean", "x-mcp-header": "On" } } },
      },
    },
  });
  const view = () => new FakeView(1, [okProvider("one")], [{ kind: "tool", name: "t", definition }]);
  const cases: [string, object, Record<string, string>, boolean][] = [
    ["no argument, no header", {}, {}, true],
    ["the same text", { region: "eu" }, { "mcp-param-region": "eu" }, true],
    ["the same text in base64", { region: "Zürich" }, { "mcp-param-region": "=?base64?WsO8cmljaA==?=" }, true],
    ["no header for an argument", { region: "eu" }, {}, false],
    ["another text", { region: "eu" }, { "mcp-param-region": "us" }, false],
    ["no header for null", { region: null }, {}, true],
    ["a header for null", { region: null }, { "mcp-param-region": "eu" }, false],
    ["a header for nothing", {}, { "mcp-param-region": "eu" }, false],
    ["an integer", { count: 42 }, { "mcp-param-count": "42" }, true],
    ["an integer in another spelling", { count: 42 }, { "mcp-param-count": "42.0" }, true],
    ["another integer", { count: 42 }, { "mcp-param-count": "43" }, false],
    ["an empty integer", { count: 0 }, { "mcp-param-count": "" }, false],
    ["a nested boolean", { deep: { on: false } }, { "mcp-param-on": "false" }, true],
    ["another nested boolean", { deep: { on: false } }, { "mcp-param-on": "true" }, false],
    ["a header nobody annotated", {}, { "mcp-param-other": "x" }, true],
  ];
  test.each(cases)("of arguments are compared with them: %s", async (_what, args, headers, isServed) => {
    await using rig = await mcpRig({ view: view() });
    rig.runs.onStart = (run) => run.write(endWith({}));
    const answer = await rig.send(modern("tools/call", { name: "t", arguments: args }, { headers }));
    if (isServed) expect(answer.json()).toMatchObject({ result: { resultType: "complete" } });
    else expect([answer.status, answer.json()]).toMatchObject([400, { id: 1, error: { code: -32020 } }]);
  });

  test("of a session or a place in a stream are not looked at", async () => {
    await using rig = await mcpRig();
    const session = await rig.initialize();
    const headers = { "mcp-session-id": session["mcp-session-id"], "last-event-id": "x.1" };
    for (const more of [headers, { ...headers, "mcp-session-id": "gone" }]) {
      const answer = await rig.send(modern(LIST, {}, { headers: more }));
      expect(answer.json()).toMatchObject({ result: { resultType: "complete" } });
    }
  });
});

describe("a notification", () => {
  test.each([
    ["with the header alone", { "mcp-protocol-version": "2026-07-28" }],
    ["without a header", {}],
  ])("%s is taken", async (_what, headers) => {
    await using rig = await mcpRig();
    const { id: _id, ...message } = JSON.parse(modernBody("notifications/cancelled", { requestId: "listen:0" }));
    const answer = await rig.send({ body: JSON.stringify(message), headers: headers as Record<string, string> });
    expect([answer.status, answer.text]).toEqual([202, ""]);
  });
});
