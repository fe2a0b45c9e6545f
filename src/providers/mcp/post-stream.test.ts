import { describe, expect, test } from "vitest";
import { atOnce } from "../../../tests/kit/at-once.ts";
import { FakeOut, monotonicClock, nodeTimers, silentLog, toolCall } from "../../../tests/kit/fake-host.ts";
import { bytesHeldAfter } from "../../../tests/kit/held-memory.ts";
import { ByteBudget, GatheredBytes } from "../../contract/index.ts";
import { type Exchange, startHttpFixture } from "./fixtures/http-server.ts";
import { openProvider } from "./fixtures/setup.ts";
import type { HttpClient } from "./http/index.ts";
import { HttpTransport } from "./http-transport.ts";
import { PostStream } from "./post-stream.ts";

const failing = (promise: Promise<void>) => promise.then(() => undefined).catch((error: unknown) => error);

describe("PostStream", () => {
  test.each<[string, (exchange: Exchange) => void, object]>([
    ["ends without an answer and had no ids", (exchange) => exchange.stream().end(), { code: "OUTCOME_UNKNOWN" }],
    [
      "is cut in the middle",
      (exchange) => {
        exchange.stream().event({ jsonrpc: "2.0", method: "notifications/odd" });
        setTimeout(() => exchange.request.socket.destroy(), 5);
      },
      { code: "OUTCOME_UNKNOWN" },
    ],
    [
      "had ids and may not be resumed",
      (exchange) => {
        exchange.stream().event("", "p", "retry: 1\n");
        exchange.end();
      },
      { code: "OUTCOME_UNKNOWN" },
    ],
    ["never starts: the socket closes", (exchange) => exchange.request.socket.destroy(), { code: "OUTCOME_UNKNOWN" }],
    [
      "is HTML with status 500",
      (exchange) => exchange.raw("<h1>secret</h1>", 500, { "content-type": "text/html" }),
      { code: "PROVIDER_FAILED", message: "The server answered HTTP 500." },
    ],
    ["is 202 without a message", (exchange) => exchange.raw("", 202, {}), { code: "PROVIDER_FAILED" }],
    [
      "is not JSON",
      (exchange) => exchange.raw("{", 200, { "content-type": "application/json" }),
      { code: "PROVIDER_FAILED" },
    ],
    [
      "is not UTF-8",
      (exchange) =>
        exchange.response.writeHead(200, { "content-type": "application/json" }).end(Buffer.from([0x7b, 0xff, 0x7d])),
      { code: "PROVIDER_FAILED" },
    ],
    [
      "repeats a key",
      (exchange) =>
        exchange.raw(`{"jsonrpc":"2.0","id":${exchange.message.id},"result":{"a":1,"a":2}}`, 200, {
          "content-type": "application/json",
        }),
      { code: "PROVIDER_FAILED" },
    ],
    [
      "repeats a key on a stream",
      (exchange) => exchange.stream().event('{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}'),
      { code: "PROVIDER_FAILED" },
    ],
    [
      "bears another id",
      (exchange) => exchange.json({ jsonrpc: "2.0", id: 9999, result: {} }),
      { code: "PROVIDER_FAILED" },
    ],
    ["is too large", (exchange) => exchange.result({ text: "x".repeat(20_000) }), { code: "PROVIDER_FAILED" }],
    [
      "is nested too deep",
      (exchange) =>
        exchange.raw(
          `{"jsonrpc":"2.0","id":${exchange.message.id},"result":${"[".repeat(500)}${"]".repeat(500)}}`,
          200,
          { "content-type": "application/json" },
        ),
      { code: "PROVIDER_FAILED" },
    ],
    [
      "is too large on a stream",
      (exchange) => {
        exchange.stream().event({ jsonrpc: "2.0", id: exchange.message.id, result: { text: "x".repeat(20_000) } });
        exchange.end();
      },
      { code: "PROVIDER_FAILED" },
    ],
    [
      "is an error for nobody",
      (exchange) => exchange.json({ jsonrpc: "2.0", id: null, error: { code: -32000, message: "Bad Request" } }, 400),
      { code: "PROVIDER_FAILED", message: "Bad Request" },
    ],
    ["is 401", (exchange) => exchange.raw("", 401, {}), { code: "PROVIDER_UNREACHABLE" }],
  ])("fails a call whose answer %s", async (_, answer, error) => {
    await using server = await startHttpFixture({ "tools/call": answer });
    await using setup = await openProvider({ url: server.url, maxMessage: 10_000 });
    expect(await failing(setup.provider.run(toolCall("x"), new FakeOut()))).toMatchObject(error);
    if ("message" in error) return;
    server.on["tools/call"] = (exchange) => exchange.result({ fine: true });
    const out = new FakeOut();
    await setup.provider.run(toolCall("x"), out);
    expect(out.result).toEqual({ fine: true });
  });

  test("keeps little more than the bytes that came of an answer that comes byte by byte", async () => {
    const exchange = { pause() {}, resume() {}, abort() {} };
    const client: HttpClient = { send: () => exchange, close() {}, stats: { open: 0, idle: 0, queued: 0 } };
    const maxBytes = 1024 * 1024;
    const gather = () => new GatheredBytes(new ByteBudget(2 * maxBytes), { name: "server" });
    const clients = { posts: client, streams: client };
    const pace = { clock: monotonicClock, slices: atOnce };
    const link = new HttpTransport({ ...clients, maxBytes, gather, ...pace, timers: nodeTimers, log: silentLog });
    const heard: string[] = [];
    const sink = { id: "1", onMessage: () => heard.push("message"), onFailure: () => heard.push("failure") };
    const stream = new PostStream(link, sink, "{}");
    const held = await bytesHeldAfter(() => {
      stream.onHead({ status: 200, contentType: "application/json", header: () => undefined, text: "" });
      for (let at = 0; at < maxBytes; at++) stream.onData("x");
    });
    expect(held).toBeLessThan(2.5 * maxBytes);
    stream.onEnd();
    expect(heard).toEqual(["failure"]);
  });
});
