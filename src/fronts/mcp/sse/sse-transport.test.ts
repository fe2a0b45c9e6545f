import { describe, expect, test } from "vitest";
import { endWith, mcpRig, until } from "../../../../tests/kit/mcp-rig.ts";

const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}';

describe("HTTP+SSE of 2024", () => {
  test("tells where to post, and answers on the stream", async () => {
    await using rig = await mcpRig();
    const stream = await rig.open({ method: "GET", path: "/sse" });
    await stream.until(() => stream.events.length === 1);
    const path = stream.events[0]?.data as string;
    expect(stream.events[0]?.type).toBe("endpoint");
    expect(path).toMatch(/^\/messages\?sessionId=[0-9a-f-]{36}$/);
    expect((await rig.send({ path, body: INITIALIZE })).status).toBe(202);
    await stream.until(() => stream.events.length === 2);
    expect(JSON.parse(stream.events[1]?.data as string)).toMatchObject({
      id: 0,
      result: { protocolVersion: "2024-11-05" },
    });
    rig.runs.onStart = (run) => run.write(endWith({ a: 1 }));
    await rig.send({ path, body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"files.echo"}}' });
    await stream.until(() => stream.events.length === 3);
    expect(stream.text).toContain('event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"a":1}}\n\n');
  });

  test("names the path of its catalog", async () => {
    await using rig = await mcpRig();
    const stream = await rig.open({ method: "GET", path: "/ops/sse" });
    await stream.until(() => stream.events.length === 1);
    expect(stream.events[0]?.data).toMatch(/^\/ops\/messages\?sessionId=/);
    const foreign = String(stream.events[0]?.data).replace("/ops", "");
    expect((await rig.send({ path: foreign, body: INITIALIZE })).status).toBe(404);
  });

  test("ends the session with the stream", async () => {
    await using rig = await mcpRig();
    const stream = await rig.open({ method: "GET", path: "/sse" });
    await stream.until(() => stream.events.length === 1);
    await rig.send({ path: stream.events[0]?.data as string, body: INITIALIZE });
    await until(() => rig.sessions.size === 1);
    stream.close();
    await until(() => rig.sessions.size === 0);
  });

  test("refuses what it does not know", async () => {
    await using rig = await mcpRig();
    expect((await rig.send({ path: "/messages?sessionId=gone", body: INITIALIZE })).status).toBe(404);
    expect((await rig.send({ path: "/messages", method: "GET" })).status).toBe(405);
    expect((await rig.send({ path: "/sse", body: INITIALIZE })).status).toBe(405);
    expect((await rig.send({ path: "/sse", method: "GET", headers: { host: "evil.example" } })).status).toBe(403);
  });
});
