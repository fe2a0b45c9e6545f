import { describe, expect, test } from "vitest";
import { call, endWith, mcpRig } from "../../../../tests/kit/mcp-rig.ts";
import { modern } from "../../../../tests/kit/modern-client.ts";

const TOOL = { name: "files.echo", arguments: {} };
const batchOf = (...messages: string[]) => `[${messages.join()}]`;

describe("the address of a client", () => {
  test("goes along with each call where the log is to name it, in both eras and in batches", async () => {
    await using rig = await mcpRig({ config: { namesAddresses: true } });
    rig.runs.onStart = (run) => run.write(endWith({}));
    const old = await rig.initialize("2025-03-26");
    await rig.send({ body: call(1) });
    await rig.send({ body: call(2), headers: { traceparent: "00-1-2-3" } });
    await rig.send({ body: batchOf(call(3), call(4)), headers: old });
    await rig.send(modern("tools/call", TOOL));
    const origins = rig.runs.started.map((run) => run.call.origin);
    expect(origins.map(({ address }) => address)).toEqual(new Array(5).fill("127.0.0.1"));
    expect(origins[1]?.traceparent).toBe("00-1-2-3");
  });

  test("is that of the stream for calls of 2024", async () => {
    await using rig = await mcpRig({ config: { namesAddresses: true } });
    rig.runs.onStart = (run) => run.write(endWith({}));
    const stream = await rig.open({ method: "GET", path: "/sse" });
    await stream.until(() => stream.events.length === 1);
    await rig.send({ path: stream.events[0]?.data as string, body: call(1) });
    await stream.until(() => stream.events.length === 2);
    expect(rig.runs.last.call.origin.address).toBe("127.0.0.1");
    stream.close();
  });

  test("is not looked for where nobody wants it", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => run.write(endWith({}));
    await rig.send({ body: call(1) });
    await rig.send(modern("tools/call", TOOL));
    for (const { call: started } of rig.runs.started) expect(started.origin).not.toHaveProperty("address");
  });

  test("stands in the line about a request that was refused", async () => {
    await using rig = await mcpRig();
    expect((await rig.send({ body: call(1), headers: { host: "elsewhere" } })).status).toBe(403);
    expect((await rig.send({ body: "{", headers: {} })).status).toBe(400);
    expect(rig.log.lines).toEqual([
      { level: "debug", message: "request refused", fields: { status: 403, reason: "host", address: "127.0.0.1" } },
      { level: "debug", message: "request refused", fields: { status: 400, reason: "parse", address: "127.0.0.1" } },
    ]);
  });
});
