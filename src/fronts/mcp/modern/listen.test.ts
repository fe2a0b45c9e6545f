import { describe, expect, test } from "vitest";
import { type FakePrimitive, FakeView, okProvider } from "../../../../tests/kit/fake-catalog.ts";
import { endWith, mcpRig, until } from "../../../../tests/kit/mcp-rig.ts";
import { META, modern } from "../../../../tests/kit/modern-client.ts";
import {
  type Entry,
  identityOf,
  type ListedKind,
  LOCAL,
  type Notice,
  type Principal,
  payload,
  type Slices,
} from "../../../contract/index.ts";

const CAPABILITIES = '{"tools":{},"resources":{"subscribe":true}}';
const RESOURCES: FakePrimitive[] = ["a:1", "a:2"].map((name) => ({ kind: "resource", name }));
const view = (version: number) =>
  new FakeView(version, [okProvider("one", CAPABILITIES)], [...RESOURCES, { kind: "tool", name: `t${version}` }]);
const ID = `${META}subscriptionId`;
const TOOLS = "notifications/tools/list_changed";

async function listenRig(principal = (): Principal => LOCAL, more: { slices?: Slices } = {}) {
  const rig = await mcpRig({ view: view(1), principal, ...more });
  rig.runs.onStart = (run) => run.write(endWith({}));
  const listen = (notifications: unknown, options = {}) =>
    rig.open(modern("subscriptions/listen", { notifications }, { id: "L", ...options }));
  const changed = (kinds: ListedKind[] = ["tool"], session?: string): void => {
    const to = { catalog: kinds, ...(session === undefined ? {} : { session }) };
    rig.sessions.notice({ from: "one", to, method: "catalog/changed", payload: payload("{}") });
    rig.time.advance(50);
  };
  const updated = (uri: string): void => {
    const notice: Notice = {
      from: "one",
      to: { resource: uri },
      method: "notifications/resources/updated",
      payload: payload(JSON.stringify({ uri })),
    };
    rig.sessions.notice(notice);
  };
  return { ...rig, listen, changed, updated };
}

describe("subscriptions/listen", () => {
  test.each([["L"], [7], [0]])("acknowledges first, under the id %j as it was spelled", async (id) => {
    await using rig = await listenRig();
    const stream = await rig.listen({ toolsListChanged: true, promptsListChanged: false, taskIds: ["x"] }, { id });
    expect([stream.status, stream.headers["content-type"]]).toEqual([200, "text/event-stream"]);
    expect(await stream.message(0)).toEqual({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { toolsListChanged: true }, _meta: { [ID]: id } },
    });
  });

  test("tells of changed lists that were asked for, once, and of no others", async () => {
    await using rig = await listenRig();
    const stream = await rig.listen({ toolsListChanged: true });
    await stream.message(0);
    rig.catalog.current = view(2);
    rig.changed(["tool", "resource"]);
    rig.changed(["tool"]);
    expect(await stream.message(1)).toEqual({ jsonrpc: "2.0", method: TOOLS, params: { _meta: { [ID]: "L" } } });
    rig.catalog.current = view(3);
    rig.changed(["tool"]);
    expect(await stream.message(2)).toMatchObject({ method: TOOLS });
    expect(stream.events).toHaveLength(3);
  });

  test("tells of a server that was taken out, if its list was seen", async () => {
    await using rig = await listenRig();
    const stream = await rig.listen({ toolsListChanged: true });
    await stream.message(0);
    const takeOut = (version: number) => {
      rig.catalog.current = view(version);
      const to = { catalog: ["tool"] } as const;
      rig.sessions.notice({ from: "gone", to, method: "catalog/changed", payload: payload("{}") });
      rig.time.advance(50);
    };
    takeOut(2);
    expect(stream.events).toHaveLength(1);
    await rig.send(modern("tools/list"));
    takeOut(3);
    expect(await stream.message(1)).toMatchObject({ method: TOOLS });
  });

  test("tells every listener of the caller what one profile's session alone has seen", async () => {
    await using rig = await listenRig();
    const streams = [await rig.listen({ toolsListChanged: true })];
    streams.push(await rig.listen({ toolsListChanged: true }, { capabilities: { roots: {} }, id: 2 }));
    for (const stream of streams) await stream.message(0);
    await rig.send(modern("tools/call", { name: "t1" }, { capabilities: { elicitation: {} } }));
    rig.catalog.current = view(2);
    rig.changed(["tool"], rig.runs.last.call.session?.id);
    expect(await streams[0]?.message(1)).toMatchObject({ method: TOOLS, params: { _meta: { [ID]: "L" } } });
    expect(await streams[1]?.message(1)).toMatchObject({ method: TOOLS, params: { _meta: { [ID]: 2 } } });
  });

  test("puts on record which resources are not there for its caller, and of very many how many", async () => {
    await using rig = await listenRig();
    await rig.listen({ resourceSubscriptions: ["a:1", ...Array.from({ length: 100 }, (_, at) => `b:${at}`)] });
    await until(() => rig.refused.length > 0);
    expect(rig.refused).toHaveLength(41);
    expect(rig.refused[0]).toMatchObject({ reason: "name", principal: LOCAL, name: "b:0" });
    expect(rig.refused.at(-1)).toMatchObject({ name: "60 more resources" });
  });

  test("subscribes to resources, tells of their updates, and gives them back when the last listener leaves", async () => {
    await using rig = await listenRig();
    const methods = () => rig.runs.started.map((run) => [run.order.method, run.order.input.text]);
    const first = await rig.listen({ resourceSubscriptions: ["a:1", "no:pe"] });
    expect(await first.message(0)).toMatchObject({ params: { notifications: { resourceSubscriptions: ["a:1"] } } });
    const second = await rig.listen({ resourceSubscriptions: ["a:1", "a:2"] }, { id: 2 });
    await second.message(0);
    rig.updated("a:1");
    rig.updated("a:1/part");
    rig.updated("a:2");
    expect(await first.message(1)).toMatchObject({ params: { uri: "a:1", _meta: { [ID]: "L" } } });
    expect(await first.message(2)).toMatchObject({ params: { uri: "a:1/part" } });
    expect(await second.message(3)).toMatchObject({ params: { uri: "a:2", _meta: { [ID]: 2 } } });
    expect(methods()).toEqual([
      ["resources/subscribe", '{"uri":"a:1"}'],
      ["resources/subscribe", '{"uri":"a:2"}'],
    ]);
    first.close();
    second.close();
    await until(() => rig.runs.started.length === 4);
    expect(
      methods()
        .slice(2)
        .map(([method]) => method),
    ).toEqual(["resources/unsubscribe", "resources/unsubscribe"]);
  });

  test("tells nothing of a part that its caller may not see", async () => {
    await using rig = await listenRig();
    const stream = await rig.listen({ resourceSubscriptions: ["a:1"] });
    await stream.message(0);
    const open = Object.assign(view(1), { hearsOf: (_provider: string, uri: string) => uri !== "a:1/private" });
    rig.catalog.view = () => open;
    for (const uri of ["a:1/private", "a:1/public"]) rig.updated(uri);
    expect(await stream.message(1)).toMatchObject({ params: { uri: "a:1/public" } });
  });

  test("tells no more of a resource that its caller may not see any more, and gives it back", async () => {
    await using rig = await listenRig();
    const stream = await rig.listen({ resourceSubscriptions: ["a:1", "a:2"] });
    await stream.message(0);
    const view = rig.catalog.view("", LOCAL);
    rig.catalog.view = () => Object.assign(view, { hears: ({ target }: Entry) => target.name !== "a:1" });
    rig.front.reachChanged();
    await until(() => rig.runs.last.order.method === "resources/unsubscribe");
    expect(rig.runs.last.order.input.text).toBe('{"uri":"a:1"}');
    rig.updated("a:1");
    rig.updated("a:2");
    expect(await stream.message(1)).toMatchObject({ params: { uri: "a:2" } });
    stream.close();
  });

  test("judges a resource once for all who see the same, when callers may reach something else and when it is told", async () => {
    await using rig = await listenRig();
    const streams = await Promise.all(
      Array.from({ length: 5 }, (_, id) => rig.listen({ resourceSubscriptions: ["a:1", "a:2"] }, { id })),
    );
    for (const stream of streams) await stream.message(0);
    const judged: string[] = [];
    const hears = ({ target }: Entry) => judged.push(target.name) > 0;
    const view = Object.assign(rig.catalog.view("", LOCAL), { hears });
    rig.catalog.view = () => view;
    rig.front.reachChanged();
    expect(judged.toSorted()).toEqual(["a:1", "a:2"]);
    rig.updated("a:1");
    for (const stream of streams) expect(await stream.message(1)).toMatchObject({ params: { uri: "a:1" } });
    expect(judged).toHaveLength(3);
  });

  test("looks at who listens in steps, between which others have a turn, and once more if asked meanwhile", async () => {
    const turns: (() => void)[] = [];
    let rounds = 0;
    const slices: Slices = {
      async run(steps) {
        rounds++;
        for (;;) {
          const { done, value } = steps.next();
          if (done) return value;
          await new Promise<void>((resolve) => turns.push(resolve));
        }
      },
    };
    await using rig = await listenRig(undefined, { slices });
    const stream = await rig.listen({ resourceSubscriptions: ["a:1", "a:2"] });
    await stream.message(0);
    const goOn = async () => {
      for (const turn of turns.splice(0)) turn();
      await new Promise((resolve) => setImmediate(resolve));
    };
    rig.front.reachChanged();
    expect(turns).toHaveLength(1);
    for (let times = 0; times < 3; times++) rig.front.reachChanged();
    expect(rounds).toBe(1);
    const view = rig.catalog.view("", LOCAL);
    rig.catalog.view = () => Object.assign(view, { hears: ({ target }: Entry) => target.name !== "a:1" });
    rig.updated("a:1");
    rig.updated("a:2");
    expect(await stream.message(1)).toMatchObject({ params: { uri: "a:2" } });
    while (turns.length > 0) await goOn();
    expect(rounds).toBe(2);
    expect(rig.runs.last.order.input.text).toBe('{"uri":"a:1"}');
  });

  test("leaves out what the server does not take", async () => {
    await using rig = await listenRig();
    const fault = payload('{"code":-32602,"message":"no"}');
    rig.runs.onStart = (run) => run.write({ type: "end", outcome: "fault", payload: fault });
    const stream = await rig.listen({ resourceSubscriptions: ["a:1"], toolsListChanged: true });
    expect(await stream.message(0)).toMatchObject({ params: { notifications: { toolsListChanged: true } } });
    expect(stream.text).not.toContain("resourceSubscriptions");
    stream.close();
  });

  test("forgets what the server does not take, and asks it again when somebody comes back", async () => {
    await using rig = await listenRig();
    rig.runs.onStart = (run) =>
      run.write({ type: "end", outcome: "fault", payload: payload('{"code":1,"message":"no"}') });
    const stream = await rig.listen({ resourceSubscriptions: ["a:1"] });
    await stream.message(0);
    expect(rig.sessions.subscriptions()).toEqual([]);
    rig.runs.onStart = (run) => run.write(endWith({}));
    const second = await rig.listen({ resourceSubscriptions: ["a:1"] }, { id: 2 });
    expect(await second.message(0)).toMatchObject({ params: { notifications: { resourceSubscriptions: ["a:1"] } } });
    rig.updated("a:1");
    expect(await second.message(1)).toMatchObject({ params: { uri: "a:1" } });
    expect(stream.events).toHaveLength(1);
  });

  test("is refused where its caller may have no more kept, says so, and counts it", async () => {
    await using rig = await listenRig();
    rig.sessions.hasRoomFor = () => false;
    const answer = await rig.send(
      modern("subscriptions/listen", { notifications: { resourceSubscriptions: ["a:1"] } }),
    );
    expect([answer.status, answer.json()]).toMatchObject([503, { error: { code: -32603 } }]);
    expect(answer.text).toContain("name fewer resources");
    expect(rig.meter.of("isthmus_refused_total subscriptions full")).toBe(1);
  });

  test("ends with a result when the gateway stops", async () => {
    await using rig = await listenRig();
    const stream = await rig.listen({ toolsListChanged: true }, { id: 5 });
    await stream.message(0);
    rig.front.close();
    expect(await stream.message(1)).toMatchObject({ id: 5, result: { resultType: "complete", _meta: { [ID]: 5 } } });
    await stream.ended();
  });

  test("keeps the stream alive, and the session with it", async () => {
    await using rig = await listenRig();
    const stream = await rig.listen({ toolsListChanged: true });
    await stream.message(0);
    rig.time.advance(15_000);
    await stream.until(() => stream.text.includes(": keep-alive"));
    rig.time.advance(2 * 3_600_000);
    expect(rig.sessions.size).toBe(1);
    stream.close();
    await until(() => rig.connections() === 0);
    rig.time.advance(2 * 3_600_000);
    expect(rig.sessions.size).toBe(0);
  });

  test("ends with a result when the token is over that it was opened with", async () => {
    const principal = { id: "ada", identity: { ...identityOf(LOCAL), expiresAt: Date.now() + 3_600_000 } };
    await using rig = await listenRig(() => principal);
    const stream = await rig.listen({ toolsListChanged: true, resourceSubscriptions: ["a:1"] });
    await stream.message(0);
    rig.time.advance(3_000_000);
    expect(stream.isEnded).toBe(false);
    rig.time.advance(600_000);
    expect(await stream.message(1)).toMatchObject({ id: "L", result: { resultType: "complete" } });
    await stream.ended();
    await until(() => rig.runs.last.order.method === "resources/unsubscribe");
  });

  test("ends for whoever is revoked, also in a session that another token of theirs has opened", async () => {
    const [first, second] = ["1", "2"].map((tokenHash) => {
      return { id: "ada", identity: { ...identityOf(LOCAL), tokenHash } };
    }) as [Principal, Principal];
    const coming = [first, second];
    await using rig = await listenRig(() => coming.shift() ?? LOCAL);
    const [kept, ended] = [await rig.listen({ toolsListChanged: true }), await rig.listen({}, { id: 2 })];
    for (const stream of [kept, ended]) await stream.message(0);
    expect(rig.sessions.size).toBe(1);
    rig.front.drop(({ identity }) => identity?.tokenHash === "2");
    await ended.ended();
    expect(kept.isEnded).toBe(false);
  });

  test("ends for whoever is revoked before it was acknowledged", async () => {
    await using rig = await listenRig();
    rig.runs.onStart = () => undefined;
    const opening = rig.listen({ resourceSubscriptions: ["a:1"] });
    await until(() => rig.runs.started.length === 1);
    rig.front.drop(() => true);
    const stream = await opening;
    await stream.ended();
    expect(stream.text).not.toContain("acknowledged");
  });

  test("does not begin in a session that was ended while it was waited for", async () => {
    await using rig = await listenRig();
    let letIn = () => {};
    rig.catalog.gate = new Promise((resolve) => {
      letIn = resolve;
    });
    const stream = rig.listen({ toolsListChanged: true });
    await until(() => rig.catalog.entered === 1);
    rig.sessions.endWhere(() => true, "the caller's access was revoked");
    letIn();
    expect((await stream).status).toBe(503);
  });

  test("needs a client that takes streams", async () => {
    await using rig = await listenRig();
    const { body, headers } = modern("subscriptions/listen", { notifications: {} });
    const answer = await rig.send({ body: body as string, headers: { ...headers, accept: "application/json" } });
    expect([answer.status, answer.json()]).toMatchObject([406, { id: 1 }]);
  });

  test.each([[undefined], ["x"], [[]], [{ resourceSubscriptions: "a:1" }], [{ resourceSubscriptions: [1] }]])(
    "refuses %j",
    async (notifications) => {
      await using rig = await listenRig();
      const answer = await rig.send(modern("subscriptions/listen", { notifications }));
      expect([answer.status, answer.json()]).toMatchObject([200, { id: 1, error: { code: -32602 } }]);
    },
  );
});
