import { describe, expect, test } from "vitest";
import { FakeView, okProvider } from "../../../../tests/kit/fake-catalog.ts";
import { mcpRig, until } from "../../../../tests/kit/mcp-rig.ts";
import { modern, modernBody, modernCall } from "../../../../tests/kit/modern-client.ts";
import { ask, retry, roundRig } from "../../../../tests/kit/round-rig.ts";
import { payload } from "../../../contract/index.ts";
import { createSeal } from "../../../mechanisms/vault/index.ts";

describe("what 2026-07-28 has no place for", () => {
  test("a capability found missing after the stream was opened is told on the stream", async () => {
    await using rig = await roundRig();
    rig.runs.onStart = (run) => {
      run.onReply = () => run.write({ type: "end", outcome: "fault", payload: payload('{"code":1,"message":"m"}') });
      run.write({ type: "progress", payload: payload('{"progress":1}') });
      run.write({ type: "ask", asks: [ask("q1", "sample")] });
    };
    const stream = await rig.open(modernCall({}, { meta: { progressToken: 1 } }));
    expect(stream.status).toBe(200);
    const data = { requiredCapabilities: { sampling: {} } };
    expect(await stream.message(1)).toMatchObject({ id: 1, error: { code: -32021, data } });
  });

  test("a list that no server has is empty", async () => {
    await using rig = await mcpRig({ view: new FakeView(1, [okProvider("one", '{"tools":{}}')], []) });
    const lists = [
      ["tools/list", "tools"],
      ["prompts/list", "prompts"],
      ["resources/list", "resources"],
      ["resources/templates/list", "resourceTemplates"],
    ] as const;
    for (const [method, member] of lists) {
      const answer = await rig.send(modern(method));
      expect([answer.status, answer.json()]).toMatchObject([200, { result: { [member]: [] } }]);
    }
  });

  test("a server's word outside any call is heard only where it is asked for", async () => {
    const capabilities = '{"resources":{"subscribe":true}}';
    const resource = { kind: "resource", name: "a:1" } as const;
    await using rig = await mcpRig({ view: new FakeView(1, [okProvider("one", capabilities)], [resource]) });
    rig.runs.onStart = (run) => run.write({ type: "end", outcome: "result", payload: payload("{}") });
    const filter = { toolsListChanged: true, resourceSubscriptions: ["a:1"] };
    const stream = await rig.open(modern("subscriptions/listen", { notifications: filter }));
    await stream.message(0);
    const updated = "notifications/resources/updated";
    for (const method of ["notifications/message", "notifications/progress", "vendor/word"]) {
      rig.sessions.notice({ from: "one", to: { principal: "local" }, method, payload: payload('{"data":"x"}') });
    }
    rig.sessions.notice({ from: "one", to: { resource: "a:1" }, method: updated, payload: payload('{"uri":"a:1"}') });
    expect(await stream.message(1)).toMatchObject({ method: updated });
    stream.close();
  });

  test("a subscription at a server that has none is left out of the acknowledgement", async () => {
    const resource = { kind: "resource", name: "a:1" } as const;
    await using rig = await mcpRig({ view: new FakeView(1, [okProvider("one", '{"resources":{}}')], [resource]) });
    const notifications = { promptsListChanged: true, resourceSubscriptions: ["a:1"] };
    const stream = await rig.open(modern("subscriptions/listen", { notifications }));
    expect(await stream.message(0)).toMatchObject({ params: { notifications: { promptsListChanged: true } } });
    expect(stream.text).not.toContain("resourceSubscriptions");
    expect(rig.runs.started).toEqual([]);
    stream.close();
  });

  test("a notification of the client is taken, and goes nowhere", async () => {
    await using rig = await mcpRig();
    const { id: _, ...message } = JSON.parse(modernBody("notifications/vendor", { a: 1 }));
    const answer = await rig.send({ ...modern("notifications/vendor"), body: JSON.stringify(message) });
    expect([answer.status, answer.text]).toEqual([202, ""]);
    expect([rig.runs.started, rig.catalog.notified]).toEqual([[], []]);
  });

  test("a state whose call ended with the process that kept it is told that nobody knows how", async () => {
    const keys = createSeal();
    await using before = await roundRig({ keys });
    const { state } = await before.suspended();
    await using after = await roundRig({ keys });
    const answer = await after.send(retry(state, { q1: { action: "accept" } }));
    expect([answer.status, answer.json()]).toMatchObject([
      200,
      { error: { code: -32603, data: { reason: "upstream_lost", code: "OUTCOME_UNKNOWN" } } },
    ]);
    expect(after.runs.started).toEqual([]);
  });

  test("an answer that a user refuses goes to the server as it is", async () => {
    for (const action of ["decline", "cancel"]) {
      await using rig = await roundRig();
      const { run, state } = await rig.suspended();
      void rig.send(retry(state, { q1: { action } })).catch(() => undefined);
      await until(() => run.replies.length === 1);
      expect(run.replies).toMatchObject([
        { answers: [{ outcome: "result", payload: { text: `{"action":"${action}"}` } }] },
      ]);
    }
  });
});
