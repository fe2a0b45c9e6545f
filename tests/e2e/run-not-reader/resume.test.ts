import { describe, expect, test } from "vitest";
import { openSession } from "../../hostile/kit/call.ts";
import { EventStream } from "../../hostile/kit/event-stream.ts";
import { McpUpstream, type UpstreamCall } from "../../hostile/kit/mcp-upstream.ts";
import { metric } from "../../hostile/kit/observe.ts";
import { eventually } from "../../kit/eventually.ts";
import { startGateway } from "../kit/gateway.ts";
import { post, type RpcMessage, toolCall } from "../kit/rpc.ts";

const isAnswer = (id: number) => (message: RpcMessage) => message.id === id && message.method === undefined;
const stepsIn = (messages: readonly RpcMessage[]) => messages.flatMap(({ params }) => params?.progress ?? []);

/** A gateway before one server whose calls wait until the test answers them. */
async function start() {
  const calls: UpstreamCall[] = [];
  const upstream = await McpUpstream.start({ tools: ["work"], onCall: (call) => void calls.push(call) });
  const gateway = await startGateway({ config: upstream.table("up") });
  const session = await openSession(gateway.url);
  return {
    gateway,
    session,
    upstream,
    /** The one call, as the server sees it. */
    call: async () =>
      (await eventually(
        () => calls[0],
        (call) => call !== undefined,
      )) as UpstreamCall,
    calls,
    open: (id = 1) =>
      EventStream.open(gateway.url, {
        method: "POST",
        headers: session,
        message: toolCall(id, "up.work", {}, { progressToken: "p" }),
      }),
    comeBack: (lastId: string, headers = session) =>
      EventStream.open(gateway.url, { method: "GET", headers: { ...headers, "last-event-id": lastId } }),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

describe("a call whose client went away", () => {
  test("is picked up by its cursor after a cut at the priming event, with everything said meanwhile", async () => {
    await using kit = await start();
    // Without anything to say, the stream opens by itself after 2 s, so that there is a place to come back to.
    const stream = await kit.open();
    const { id, message } = await stream.first();
    expect(message).toBeUndefined();
    stream.cut();
    const call = await kit.call();
    for (const step of [1, 2, 3]) call.progress(step);
    call.answerText("done");
    using back = await kit.comeBack(id as string);
    expect(await back.message(isAnswer(1))).toMatchObject({ result: { content: [{ text: "done" }] } });
    expect(stepsIn(back.messages)).toEqual([1, 2, 3]);
    expect(back.messages.every(({ params }) => params === undefined || params.progressToken === "p")).toBe(true);
    await eventually(() => back.isEnded, Boolean);
    expect(kit.calls).toHaveLength(1);
  });

  test("gives after a progress event the rest and the result, nothing twice", async () => {
    await using kit = await start();
    const opening = kit.open();
    const call = await kit.call();
    call.progress(1);
    const stream = await opening;
    await stream.message(({ params }) => params?.progress === 1);
    call.progress(2);
    await stream.message(({ params }) => params?.progress === 2);
    const lastId = stream.lastId as string;
    stream.cut();
    call.progress(3);
    using back = await kit.comeBack(lastId);
    await back.message(({ params }) => params?.progress === 3);
    call.progress(4);
    call.answerText("done");
    await back.message(isAnswer(1));
    expect(stepsIn(back.messages)).toEqual([3, 4]);
    expect(back.messages.filter(isAnswer(1))).toHaveLength(1);
  });

  test("may come back again and again, also after the result", async () => {
    await using kit = await start();
    const opening = kit.open();
    const call = await kit.call();
    call.progress(1);
    const stream = await opening;
    await stream.message(({ params }) => params?.progress === 1);
    const lastId = stream.lastId as string;
    stream.cut();
    call.answerText("done");
    for (let time = 0; time < 3; time++) {
      using back = await kit.comeBack(lastId);
      expect(await back.message(isAnswer(1))).toMatchObject({ result: { content: [{ text: "done" }] } });
      expect(back.messages).toHaveLength(1);
    }
    expect(await metric(kit.gateway, "isthmus_runs_open")).toBe(0);
  });

  test("gets the result that was written to a connection nobody held any more", async () => {
    await using kit = await start();
    const opening = kit.open();
    const call = await kit.call();
    call.progress(1);
    using stream = await opening;
    await stream.message(({ params }) => params?.progress === 1);
    const lastId = stream.lastId as string;
    // The gateway cannot know that nobody reads: it believes that it has delivered.
    call.answerText("done");
    await eventually(
      () => metric(kit.gateway, "isthmus_runs_open"),
      (open) => open === 0,
    );
    using back = await kit.comeBack(lastId);
    expect(await back.message(isAnswer(1))).toMatchObject({ result: { content: [{ text: "done" }] } });
    expect(back.messages).toHaveLength(1);
  });

  test("gets the question again that opened the stream, and may answer it then", async () => {
    const answers: RpcMessage[] = [];
    await using upstream = await McpUpstream.start({
      tools: ["ask"],
      onCall(call) {
        call.send({
          id: "q",
          method: "elicitation/create",
          params: { message: "?", requestedSchema: { type: "object" } },
        });
        void eventually(
          () => answers[0],
          (answer) => answer !== undefined,
        ).then(() => call.answerText("thanks"));
      },
      onRequest(message) {
        if (message.id === "q") answers.push(message);
        return false;
      },
    });
    await using gateway = await startGateway({ config: upstream.table("up") });
    const session = await openSession(gateway.url, { elicitation: {} });
    const stream = await EventStream.open(gateway.url, {
      method: "POST",
      headers: session,
      message: toolCall(1, "up.ask", {}),
    });
    const { id } = await stream.first();
    const asked = await stream.message(({ method }) => method === "elicitation/create");
    stream.cut();
    // The client had seen only the priming event when it lost the stream.
    using back = await EventStream.open(gateway.url, {
      method: "GET",
      headers: { ...session, "last-event-id": id as string },
    });
    const again = await back.message(({ method }) => method === "elicitation/create");
    expect(again).toEqual(asked);
    await post(gateway.url, { id: again.id, result: { action: "decline" } }, session);
    expect(await back.message(isAnswer(1))).toMatchObject({ result: { content: [{ text: "thanks" }] } });
    expect(answers).toHaveLength(1);
  });

  test("takes the stream over from a connection that only seems to live", async () => {
    await using kit = await start();
    const opening = kit.open();
    const call = await kit.call();
    call.progress(1);
    using stream = await opening;
    await stream.message(({ params }) => params?.progress === 1);
    using back = await kit.comeBack(stream.lastId as string);
    await eventually(() => stream.isEnded, Boolean);
    call.progress(2);
    call.answerText("done");
    await back.message(isAnswer(1));
    expect(stepsIn(back.messages)).toEqual([2]);
    expect(stepsIn(stream.messages)).toEqual([1]);
  });

  test("is not given to another session, whatever cursor it shows", async () => {
    await using kit = await start();
    const opening = kit.open();
    const call = await kit.call();
    call.progress(1);
    const stream = await opening;
    await stream.message(({ params }) => params?.progress === 1);
    const other = await openSession(kit.gateway.url);
    using stolen = await kit.comeBack(stream.lastId as string, other);
    expect(stolen.status).toBe(204);
    call.answerText("done");
    expect(await stream.message(isAnswer(1))).toBeDefined();
    expect(stolen.messages).toEqual([]);
  });

  test("does not end when its only reader goes, and is cancelled only by word", async () => {
    await using kit = await start();
    const opening = kit.open();
    const call = await kit.call();
    call.progress(1);
    const stream = await opening;
    await stream.message(({ params }) => params?.progress === 1);
    stream.cut();
    await eventually(
      () => metric(kit.gateway, "isthmus_runs_open"),
      (open) => open === 1,
    );
    expect(kit.upstream.heard.some(({ method }) => method === "notifications/cancelled")).toBe(false);
    await post(kit.gateway.url, { method: "notifications/cancelled", params: { requestId: 1 } }, kit.session);
    const cancelled = () => kit.upstream.heard.filter(({ method }) => method === "notifications/cancelled");
    expect(await eventually(cancelled, (all) => all.length > 0)).toMatchObject([
      { params: { requestId: call.message.id } },
    ]);
    expect(
      await eventually(
        () => metric(kit.gateway, "isthmus_runs_open"),
        (open) => open === 0,
      ),
    ).toBe(0);
  });
});
