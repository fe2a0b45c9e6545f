import { describe, expect, test } from "vitest";
import { clusterRig } from "../../../../tests/kit/cluster-rig.ts";
import { call, endWith, mcpRig, until } from "../../../../tests/kit/mcp-rig.ts";
import { modern } from "../../../../tests/kit/modern-client.ts";

const LIST = '{"jsonrpc":"2.0","id":7,"method":"tools/list"}';

describe("a process that is about to stop", () => {
  test("lets another go on with a session in which nothing runs, whoever of them is asked", async () => {
    await using rig = await clusterRig();
    const { a, b } = rig;
    const headers = await a.initialize();
    a.front.leave();
    b.runs.onStart = (run) => run.write(endWith({ content: [] }));
    expect((await a.send({ headers, body: call(1) })).json()).toMatchObject({ result: { content: [] } });
    expect([a.sessions.size, b.sessions.size]).toEqual([0, 1]);
    expect((await b.send({ headers, body: call(2) })).json()).toMatchObject({ result: { content: [] } });
  });

  test("gives up all idle sessions at once, and others when their calls have ended", async () => {
    await using rig = await clusterRig();
    const { a, b } = rig;
    const idle = await a.initialize();
    const busy = await a.initialize();
    const answer = a.send({ headers: busy, body: call(1) });
    await until(() => a.runs.started.length === 1);
    a.front.leave();
    await a.sessions.releaseIdle();
    expect(a.sessions.size).toBe(1);
    expect((await b.send({ headers: idle, body: LIST })).json()).toMatchObject({ result: { tools: [{}] } });
    a.runs.last.write(endWith({ content: [] }));
    expect((await answer).json()).toMatchObject({ result: { content: [] } });
    await a.sessions.releaseIdle();
    expect(a.sessions.size).toBe(0);
    expect((await b.send({ headers: busy, body: LIST })).json()).toMatchObject({ result: { tools: [{}] } });
  });

  test("takes what belongs to a call that still runs", async () => {
    await using rig = await clusterRig();
    const { a } = rig;
    const headers = await a.initialize();
    void a.send({ headers, body: call(1) });
    await until(() => a.runs.started.length === 1);
    a.front.leave();
    const cancelled = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}';
    expect((await a.send({ headers, body: cancelled })).status).toBe(202);
    await until(() => a.runs.last.isEnded || a.runs.last.cancelled !== undefined);
  });

  test("has new sessions and requests without one served elsewhere", async () => {
    await using rig = await clusterRig();
    const { a, b } = rig;
    a.front.leave();
    const headers = await a.initialize();
    expect([a.sessions.size, b.sessions.size]).toEqual([0, 1]);
    b.runs.onStart = (run) => run.write(endWith({ content: [] }));
    expect((await a.send({ headers, body: call(1) })).json()).toMatchObject({ result: { content: [] } });
    const answer = await a.send(modern("tools/call", { name: "files.echo", arguments: {} }));
    expect(answer.json()).toMatchObject({ result: { content: [] } });
    expect(a.runs.started.length).toBe(0);
  });

  test("asks to come again where there is no other", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    rig.front.leave();
    for (const sent of [{ headers, body: call(1) }, modern("tools/call", { name: "files.echo", arguments: {} })]) {
      const answer = await rig.send(sent);
      expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "1"]);
      expect(answer.json()).toMatchObject({ error: { data: { code: "NOT_READY" } } });
    }
    expect(rig.runs.started.length).toBe(0);
  });
});
