import { describe, expect, test } from "vitest";
import { clusterRig } from "../../../../tests/kit/cluster-rig.ts";
import { FakeView, okProvider } from "../../../../tests/kit/fake-catalog.ts";
import { endWith, until } from "../../../../tests/kit/mcp-rig.ts";
import { modern, modernCall } from "../../../../tests/kit/modern-client.ts";
import { ALL, type Asked, ask, retry } from "../../../../tests/kit/round-rig.ts";

const YES = { q1: { action: "accept" } };
const twoTools = () =>
  new FakeView(
    1,
    [okProvider("files")],
    ["one", "two"].map((name) => ({ kind: "tool", name })),
  );
type Rig = Awaited<ReturnType<typeof clusterRig>>;

/** A call at A that waits for its client. */
async function suspended({ a, time }: Rig) {
  const answer = a.send(modernCall({ x: 1 }, { capabilities: ALL }));
  await until(() => a.runs.started.length === 1);
  a.runs.last.write({ type: "ask", asks: [ask("q1")] });
  time.advance(25);
  const { result } = (await answer).json<{ result: Asked }>();
  return { run: a.runs.last, state: result.requestState };
}

describe("a call that waits for its client", () => {
  test("goes on where it waits, wherever the answer comes in", async () => {
    await using rig = await clusterRig();
    const { run, state } = await suspended(rig);
    const answer = rig.b.send(retry(state, YES));
    await until(() => run.replies.length === 1);
    run.write(endWith({ content: [] }));
    expect((await answer).json()).toMatchObject({ id: 2, result: { resultType: "complete", content: [] } });
    const again = await rig.b.send(retry(state, YES));
    expect(again.json()).toMatchObject({ error: { data: { reason: "state_used" } } });
  });

  test("is said to be lost when its process is gone, on the audit trail too, and is not made again", async () => {
    await using rig = await clusterRig();
    const { run, state } = await suspended(rig);
    await rig.a.kill();
    const answer = await rig.b.send(retry(state, YES));
    expect(answer.json()).toMatchObject({
      id: 2,
      error: {
        code: -32603,
        data: { reason: "upstream_lost", code: "OUTCOME_UNKNOWN", callId: run.id, retry: "caller" },
      },
    });
    expect(rig.b.runs.started).toEqual([]);
    expect(rig.b.lost).toMatchObject([{ method: "tools/call", target: { name: "files.echo" } }]);
  });

  test("is lost when its process took the answer and died", async () => {
    await using rig = await clusterRig();
    const { run, state } = await suspended(rig);
    const answer = rig.b.send(retry(state, YES));
    await until(() => run.replies.length === 1);
    await rig.a.kill();
    expect((await answer).json()).toMatchObject({ error: { data: { reason: "upstream_lost" } } });
    expect(rig.b.lost).toHaveLength(1);
  });

  test("is not judged while the store is away", async () => {
    await using rig = await clusterRig();
    const { state } = await suspended(rig);
    rig.outage.isOn = true;
    const answer = await rig.b.send(retry(state, YES));
    expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "1"]);
    expect(answer.json()).toMatchObject({ id: 2, error: { data: { code: "STATE_UNAVAILABLE" } } });
  });
});

describe("a page of a list", () => {
  test("can be asked for at another process than the one before", async () => {
    await using rig = await clusterRig({ config: { pageSize: 1 }, view: twoTools });
    const first = (await rig.a.send(modern("tools/list"))).json<{ result: { nextCursor: string } }>().result;
    const second = await rig.b.send(modern("tools/list", { cursor: first.nextCursor }));
    expect(second.json()).toMatchObject({ result: { tools: [{ name: "two" }] } });
  });
});
