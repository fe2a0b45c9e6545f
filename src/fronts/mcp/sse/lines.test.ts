import { describe, expect, test } from "vitest";
import { clusterRig } from "../../../../tests/kit/cluster-rig.ts";
import { until } from "../../../../tests/kit/mcp-rig.ts";
import { armFaultPoints } from "../../../contract/index.ts";

const OPENING = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "t", version: "1" } },
});
const PING = '{"jsonrpc":"2.0","id":2,"method":"ping"}';

describe("the stream of 2024", () => {
  test("answers messages that were posted to another process, and no others' after its home is gone", async () => {
    await using rig = await clusterRig();
    const stream = await rig.a.open({ method: "GET", path: "/sse" });
    await stream.until(() => stream.events.length === 1);
    const path = stream.events[0]?.data as string;
    for (const body of [OPENING, PING]) expect((await rig.b.send({ path, body })).status).toBe(202);
    expect(await stream.until(() => stream.events.length === 3));
    expect(stream.events.slice(1).map(({ data }) => JSON.parse(data).id)).toEqual([1, 2]);
    expect((await rig.b.send({ path: `/files${path}`, body: PING })).status).toBe(404);
    // Its session is nobody's to claim.
    const headers = { "mcp-session-id": path.split("=")[1] as string };
    expect((await rig.b.send({ headers, body: PING })).status).toBe(404);
    await rig.a.kill();
    expect((await rig.b.send({ path, body: PING })).status).toBe(404);
    stream.close();
  });

  test("is not opened for a caller that is revoked meanwhile", async () => {
    await using rig = await clusterRig();
    armFaultPoints((point) => {
      if (point === "front.line.after") rig.a.front.drop(({ id }) => id === "local");
    });
    try {
      await expect(rig.a.open({ method: "GET", path: "/sse" })).rejects.toThrow();
    } finally {
      armFaultPoints(undefined);
    }
  });

  test("is forgotten when its client leaves, and refused while the store is away", async () => {
    await using rig = await clusterRig();
    const stream = await rig.a.open({ method: "GET", path: "/sse" });
    await stream.until(() => stream.events.length === 1);
    const path = stream.events[0]?.data as string;
    stream.close();
    await until(() => rig.a.connections() === 0);
    expect((await rig.b.send({ path, body: PING })).status).toBe(404);
    rig.outage.isOn = true;
    const refused = await rig.a.open({ method: "GET", path: "/sse" });
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"]);
  });
});
