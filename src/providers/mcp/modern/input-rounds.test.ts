import { describe, expect, test } from "vitest";
import {
  type CallParts,
  FakeOut,
  fakeCall,
  fakeSession,
  nodeTimers,
  toolCall,
} from "../../../../tests/kit/fake-host.ts";
import { type Ask, type CallEvent, type Provider, payload, textOf } from "../../../contract/index.ts";
import type { Exchange, Handler } from "../fixtures/http-server.ts";
import { complete, startModern, VERSION } from "../fixtures/modern-http.ts";
import { modernStdioConfig, openProvider } from "../fixtures/setup.ts";

const FORM = {
  method: "elicitation/create",
  params: { message: "sure?", requestedSchema: { type: "object", properties: {} }, mode: "form" },
};
const SAMPLE = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } };
const ROOTS = { method: "roots/list" };
const URL_QUESTION = {
  method: "elicitation/create",
  params: { mode: "url", message: "sign in", url: "https://a.b/c" },
};
const session = fakeSession("a", { capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} } });

const wants = (exchange: Exchange, inputRequests?: object, requestState?: string) =>
  exchange.result({
    resultType: "input_required",
    ...(inputRequests && { inputRequests }),
    ...(requestState !== undefined && { requestState }),
  });
const inputOf = (exchange: Exchange) =>
  exchange.message.params as { inputResponses?: Record<string, unknown>; requestState?: string };
const finish = (exchange: Exchange) => exchange.result(complete({ content: [{ type: "text", text: "done" }] }));
const failing = (promise: Promise<void>) => promise.then(() => undefined).catch((error: unknown) => error);

/** Runs a call and answers what is asked by method. */
function runAnswering(provider: Provider, answers: Record<string, object>, parts: CallParts = {}) {
  const call = toolCall("ask", { env: "prod" }, { session, ...parts });
  const out = new FakeOut();
  const asked: Ask[] = [];
  out.onEvent = (event: CallEvent) => {
    if (event.type !== "ask") return;
    asked.push(...event.asks);
    for (const { key, method } of event.asks)
      queueMicrotask(() => provider.reply(call.id, { type: "answer", answers: [answerOf(key, answers[method])] }));
  };
  return { out, asked, done: provider.run(call, out) };
}

function answerOf(key: string, answer: object | undefined) {
  const outcome = answer && "code" in answer ? ("fault" as const) : ("result" as const);
  return { key, outcome, payload: payload(textOf(JSON.stringify(answer ?? {}))) };
}

async function withServer(
  call: Handler,
  use: (server: Awaited<ReturnType<typeof startModern>>, provider: Provider) => Promise<void>,
) {
  await using server = await startModern({ "tools/call": call });
  await using setup = await openProvider({ url: server.url });
  await use(server, setup.provider);
}

const calls = (server: Awaited<ReturnType<typeof startModern>>) =>
  server.seen.filter(({ rpc }) => rpc.method === "tools/call");

describe("a server of 2026-07-28 that wants input", () => {
  test("has its wish relayed as it is to callers of its own era, and what they answer", async () => {
    const state = "ünï·".repeat(2000);
    await withServer(
      (exchange) => (inputOf(exchange).inputResponses ? finish(exchange) : wants(exchange, { q: FORM }, state)),
      async (server, provider) => {
        const origin = { front: "mcp", protocol: VERSION, requestId: "1" };
        const out = new FakeOut();
        await provider.run(toolCall("ask", {}, { session, origin }), out);
        expect(out.ends).toMatchObject([{ type: "end", outcome: "input" }]);
        expect(out.result).toEqual({ resultType: "input_required", inputRequests: { q: FORM }, requestState: state });
        const input = { inputResponses: { q: { action: "accept" } }, requestState: state };
        await provider.run(toolCall("ask", {}, { session, origin, input }), new FakeOut());
        expect(calls(server)[1]?.rpc.params).toMatchObject(input);
      },
    );
  });

  test("asks callers of the 2025 era all questions at once, and gets the answers with its state", async () => {
    const state = 'ünï"\\·\n'.repeat(1000);
    await withServer(
      (exchange) =>
        inputOf(exchange).inputResponses
          ? finish(exchange)
          : wants(exchange, { user_name: FORM, b: SAMPLE, "c d": ROOTS }, state),
      async (server, provider) => {
        const answers = {
          "elicitation/create": { action: "accept", content: { ok: "ü" } },
          "sampling/createMessage": { role: "assistant" },
          "roots/list": { roots: [] },
        };
        const { out, asked, done } = runAnswering(provider, answers);
        await done;
        expect(out.events.map(({ type }) => type)).toEqual(["ask", "end"]);
        expect(asked.map(({ key, kind, method }) => [key, kind, method])).toEqual([
          ["user_name", "elicit", "elicitation/create"],
          ["b", "sample", "sampling/createMessage"],
          ["a1", "roots", "roots/list"],
        ]);
        expect(asked[0]?.input.value()).toEqual(FORM.params);
        expect(out.result).toEqual({ content: [{ type: "text", text: "done" }] });
        const [first, second] = calls(server);
        expect(second?.rpc.id).not.toBe(first?.rpc.id);
        expect(second?.rpc.params).toMatchObject({
          name: "ask",
          arguments: { env: "prod" },
          inputResponses: {
            user_name: answers["elicitation/create"],
            b: answers["sampling/createMessage"],
            "c d": { roots: [] },
          },
          requestState: state,
        });
      },
    );
  });

  test("gets only the answers of this round, and no state that it did not give", async () => {
    let round = 0;
    await withServer(
      (exchange) => {
        round++;
        if (round === 1) wants(exchange, { q: FORM, roots: ROOTS }, "one");
        else if (round === 2) wants(exchange, { q: SAMPLE });
        else finish(exchange);
      },
      async (server, provider) => {
        const { asked, done } = runAnswering(provider, {
          "elicitation/create": { action: "decline" },
          "sampling/createMessage": { model: "m" },
        });
        await done;
        const [, second, third] = calls(server).map(({ rpc }) => rpc.params as Record<string, unknown>);
        expect(second).toMatchObject({ inputResponses: { q: { action: "decline" }, roots: {} }, requestState: "one" });
        expect(third?.inputResponses).toEqual({ q: { model: "m" } });
        expect(third).not.toHaveProperty("requestState");
        expect(asked.map(({ key }) => key)).toEqual(["q", "roots", "a1"]);
      },
    );
  });

  test("is called again after a pause when it gives a state alone", async () => {
    let round = 0;
    await withServer(
      (exchange) => (++round < 4 ? wants(exchange, undefined, `s${round}`) : finish(exchange)),
      async (server, provider) => {
        const started = performance.now();
        const { out, done } = runAnswering(provider, {});
        await done;
        expect(performance.now() - started).toBeGreaterThan(290);
        expect(out.events.map(({ type }) => type)).toEqual(["end"]);
        expect(calls(server).map(({ rpc }) => rpc.params?.requestState)).toEqual([undefined, "s1", "s2", "s3"]);
        expect(calls(server).every(({ rpc }) => !("inputResponses" in (rpc.params ?? {})))).toBe(true);
      },
    );
  });

  test("is given up after ten rounds", async () => {
    await withServer(
      (exchange) => wants(exchange, { q: FORM }, "again"),
      async (server, provider) => {
        const { asked, done } = runAnswering(provider, { "elicitation/create": { action: "accept" } });
        expect(await failing(done)).toMatchObject({
          code: "PROVIDER_FAILED",
          message: expect.stringContaining("10 rounds"),
        });
        expect(asked).toHaveLength(10);
        expect(calls(server)).toHaveLength(11);
      },
    );
  });

  test.each([
    [64, { type: "end" }],
    [65, { code: "PROVIDER_FAILED", message: expect.stringContaining("64 questions") }],
    [15_000, { code: "PROVIDER_FAILED", message: expect.stringContaining("64 questions") }],
    [40_000, { code: "PROVIDER_FAILED", message: expect.stringContaining("64 questions") }],
  ])("asks at most 64 questions in one round: %i", async (count, end) => {
    const many = Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, FORM]));
    await withServer(
      (exchange) => (inputOf(exchange).inputResponses ? finish(exchange) : wants(exchange, many)),
      async (_, provider) => {
        const { out, asked, done } = runAnswering(provider, { "elicitation/create": { action: "accept" } });
        expect((await failing(done)) ?? out.ends[0]).toMatchObject(end);
        expect(asked).toHaveLength(count > 64 ? 0 : count);
      },
    );
  });

  test("is not called again when the client refuses", async () => {
    await withServer(
      (exchange) => wants(exchange, { q: SAMPLE }),
      async (server, provider) => {
        const { done } = runAnswering(provider, { "sampling/createMessage": { code: -1, message: "no" } });
        expect(await failing(done)).toMatchObject({
          code: "PROVIDER_FAILED",
          message: expect.stringContaining("sampling/createMessage"),
        });
        expect(calls(server)).toHaveLength(1);
      },
    );
  });

  test.each([
    ["elicitation.url", { q: URL_QUESTION }, { elicitation: {} }],
    ["elicitation.form", { q: FORM }, { elicitation: { url: {} } }],
    ["sampling.tools", { q: { ...SAMPLE, params: { tools: [] } } }, { sampling: {} }],
    ["sampling.context", { q: { ...SAMPLE, params: { includeContext: "allServers" } } }, { sampling: {} }],
    ["roots", { q: ROOTS }, { sampling: {} }],
    ["custom/question", { q: { method: "custom/question" } }, { sampling: {} }],
  ])("does not reach a client that lacks %s", async (missing, questions, capabilities) => {
    await withServer(
      (exchange) => wants(exchange, questions),
      async (_, provider) => {
        const { asked, done } = runAnswering(provider, {}, { session: fakeSession("b", { capabilities }) });
        expect(await failing(done)).toMatchObject({
          code: "PROVIDER_FAILED",
          message: expect.stringContaining(missing),
        });
        expect(asked).toEqual([]);
      },
    );
  });

  test("cannot ask anybody on the shared session", async () => {
    await withServer(
      (exchange) => wants(exchange, { q: FORM }),
      async (_, provider) => {
        expect(await failing(runAnswering(provider, {}, { session: fakeSession("b") }).done)).toMatchObject({
          code: "PROVIDER_FAILED",
        });
      },
    );
  });

  test("may ask in prompts and resources, too, and not elsewhere", async () => {
    await using server = await startModern({
      "prompts/get": (exchange) =>
        inputOf(exchange).inputResponses ? exchange.result(complete({ messages: [] })) : wants(exchange, { q: FORM }),
      "completion/complete": (exchange) => wants(exchange, { q: FORM }),
    });
    await using setup = await openProvider({ url: server.url });
    const call = fakeCall({ method: "prompts/get", verb: "get", input: { name: "p" }, session });
    const out = new FakeOut();
    out.onEvent = (event) => {
      if (event.type === "ask")
        setup.provider.reply(call.id, { type: "answer", answers: [answerOf("q", { action: "accept" })] });
    };
    await setup.provider.run(call, out);
    expect(out.result).toEqual({ messages: [] });
    const completion = fakeCall({ method: "completion/complete", verb: "complete", session });
    expect(await failing(setup.provider.run(completion, new FakeOut()))).toMatchObject({ code: "PROVIDER_FAILED" });
  });

  test("has an address opened once, is polled until it is, and the client hears that it was", async () => {
    let round = 0;
    await using server = await startModern({
      "tools/call": (exchange) =>
        ++round < 5 ? wants(exchange, { login: URL_QUESTION }, `s${round}`) : finish(exchange),
    });
    await using setup = await openProvider(
      { url: server.url },
      { timers: { after: (ms, fire) => nodeTimers.after(ms / 20, fire) } },
    );
    const { out, asked, done } = runAnswering(setup.provider, { "elicitation/create": { action: "accept" } });
    await done;
    expect(out.events.map(({ type }) => type)).toEqual(["ask", "notice", "end"]);
    const { elicitationId, ...rest } = (asked[0] as Ask).input.value() as { elicitationId: string };
    expect(rest).toEqual(URL_QUESTION.params);
    const notice = out.events[1] as CallEvent & { type: "notice" };
    expect(notice.method).toBe("notifications/elicitation/complete");
    expect(notice.payload.value()).toEqual({ elicitationId });
    expect(
      calls(server)
        .slice(1)
        .map(({ rpc }) => [rpc.params?.inputResponses, rpc.params?.requestState]),
    ).toEqual([1, 2, 3, 4].map((n) => [{ login: { action: "accept" } }, `s${n}`]));
  });

  test("leaves the address to the client when the call has no more time to wait", async () => {
    await withServer(
      (exchange) => wants(exchange, { login: URL_QUESTION }),
      async (_, provider) => {
        const { out, asked, done } = runAnswering(
          provider,
          { "elicitation/create": { action: "accept" } },
          { deadline: performance.now() + 1500 },
        );
        await done;
        expect(asked).toHaveLength(1);
        expect(out.ends).toMatchObject([{ outcome: "fault" }]);
        expect(out.result).toMatchObject({
          code: -32042,
          data: { elicitations: [{ mode: "url", url: "https://a.b/c", message: "sign in" }] },
        });
      },
    );
  });

  test("hears nothing of a call that is cancelled while its question is open", async () => {
    await withServer(
      (exchange) => wants(exchange, { q: FORM }),
      async (server, provider) => {
        const call = toolCall("ask", {}, { session });
        const out = new FakeOut();
        const running = failing(provider.run(call, out));
        await expect.poll(() => out.events.length).toBe(1);
        provider.reply(call.id, { type: "cancel" });
        expect(await running).toMatchObject({ code: "CANCELLED" });
        provider.reply(call.id, { type: "answer", answers: [answerOf("q", {})] });
        expect(server.seen.at(-1)?.rpc.method).toBe("tools/call");
        expect(calls(server)).toHaveLength(1);
      },
    );
  });

  test("keeps two calls of one client apart", async () => {
    await withServer(
      (exchange) => {
        const { inputResponses, requestState } = inputOf(exchange);
        const { n } = Object(exchange.message.params?.arguments) as { n: number };
        if (inputResponses) exchange.result(complete({ content: [], state: requestState, n }));
        else wants(exchange, { q: FORM }, `state ${n}`);
      },
      async (_, provider) => {
        const runs = [1, 2, 3].map((n) =>
          runAnswering(provider, { "elicitation/create": { action: "accept" } }, { input: { arguments: { n } } }),
        );
        await Promise.all(runs.map(({ done }) => done));
        expect(runs.map(({ out }) => out.result)).toEqual(
          [1, 2, 3].map((n) => ({ content: [], state: `state ${n}`, n })),
        );
      },
    );
  });

  test("gives progress that grows over all rounds", async () => {
    const report = (exchange: Exchange, progress: number) =>
      exchange.event({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: exchange.progressToken, progress },
      });
    let round = 0;
    await withServer(
      (exchange) => {
        exchange.stream();
        report(exchange, 1);
        report(exchange, ++round === 1 ? 2 : 3);
        const result = round === 1 ? { resultType: "input_required", requestState: "s" } : complete({ content: [] });
        exchange.event({ jsonrpc: "2.0", id: exchange.message.id, result });
        exchange.end();
      },
      async (_, provider) => {
        const { out, done } = runAnswering(provider, {}, { input: { _meta: { progressToken: 0 } } });
        await done;
        const progress = out.events
          .filter((event) => event.type === "progress")
          .map(({ payload }) => (payload.value() as { progress: number }).progress);
        expect(progress).toEqual([1, 2, 3]);
      },
    );
  });

  test("asks over stdio as well, and hears of a cancel there by a notification", async () => {
    await using setup = await openProvider(modernStdioConfig());
    const { out, done } = runAnswering(setup.provider, {
      "elicitation/create": { action: "accept", content: { a: 1 } },
    });
    await done;
    expect(out.result).toEqual({ content: [{ type: "text", text: '{"name":{"action":"accept","content":{"a":1}}}' }] });
    const call = toolCall("never", {}, { session });
    void failing(setup.provider.run(call, new FakeOut()));
    setup.provider.reply(call.id, { type: "cancel", reason: "user" });
    const seen = new FakeOut();
    await setup.provider.run(toolCall("seen", {}, { session }), seen);
    const messages = JSON.parse((seen.result as { content: [{ text: string }] }).content[0].text).seen as {
      method: string;
      params: object;
    }[];
    expect(messages.filter(({ method }) => method === "notifications/cancelled")).toMatchObject([
      {
        params: {
          reason: "user",
          requestId: expect.any(Number),
          _meta: { "io.modelcontextprotocol/protocolVersion": VERSION },
        },
      },
    ]);
  });
});
