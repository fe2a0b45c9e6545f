import { describe, expect, test } from "vitest";
import type { HttpResponse } from "../../contract/index.ts";
import { GET, post, type RawClient, rawRig, turn, until } from "./fixtures/raw-client.ts";

const seconds = (count: number) => count * 1000;

describe("a client that takes its time", () => {
  test("with the head is told 408", async () => {
    await using rig = await rawRig();
    const client = rig.client();
    client.write("GET /x HT");
    await until(() => rig.listener.connections === 1);
    for (let round = 0; round < 20; round++) await turn();
    rig.time.advance(seconds(10));
    client.write("TP/1.1\r\n");
    for (let round = 0; round < 20; round++) await turn();
    rig.time.advance(seconds(4));
    expect(client.text).toBe("");
    rig.time.advance(seconds(3));
    await client.all();
    expect(client.statuses).toEqual([408]);
  });

  test("with the body is told 408, but not while bytes come", async () => {
    await using rig = await rawRig();
    const client = rig.client();
    client.write(`POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n`);
    for (let round = 0; round < 4; round++) {
      client.write("x");
      for (let turns = 0; turns < 20; turns++) await turn();
      rig.time.advance(seconds(29));
    }
    expect(client.text).toBe("");
    rig.time.advance(seconds(3));
    await client.all();
    expect(client.statuses).toEqual([408]);
    expect(rig.seen).toEqual([]);
  });

  test("with the whole body is told 408, however steadily its bytes drip", async () => {
    await using rig = await rawRig();
    const client = rig.client();
    client.write(`POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n`);
    for (let round = 0; round < 11; round++) {
      client.write("x");
      for (let turns = 0; turns < 20; turns++) await turn();
      expect(client.text).toBe("");
      rig.time.advance(seconds(29));
    }
    await client.all();
    expect(client.statuses).toEqual([408]);
    expect(rig.seen).toEqual([]);
  });

  test("with a body that nobody wants is closed, however steadily its bytes drip", async () => {
    await using rig = await rawRig({ onRequest: (_, response) => response.answer(401, "", "") });
    const client = rig.client();
    client.write(`POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n`);
    await client.until(({ statuses }) => statuses.length === 1);
    for (let round = 0; round < 3; round++) {
      expect(client.isEnded).toBe(false);
      rig.time.advance(seconds(11));
      client.write("x");
      for (let turns = 0; turns < 20; turns++) await turn();
    }
    await client.all();
    expect(client.statuses).toEqual([401]);
  });

  test("has as much more as its body is large", async () => {
    await using rig = await rawRig({ limits: { wholeBody: 5 } });
    const client = rig.client();
    const piece = "x".repeat(32 * 1024);
    client.write(`POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: ${20 * piece.length}\r\n\r\n`);
    for (let round = 0; round < 20; round++) {
      client.write(piece);
      for (let turns = 0; turns < 20; turns++) await turn();
      rig.time.advance(seconds(1));
    }
    await client.until(({ text }) => text.endsWith(">"));
    expect(client.statuses).toEqual([200]);
  });

  test("between requests is closed without a word, and a waiting one is not", async () => {
    const responses: HttpResponse[] = [];
    await using rig = await rawRig({
      onRequest: (request, response) =>
        request.url === "/x" ? responses.push(response) : response.answer(200, "", "done"),
    });
    const [waiting, idle] = [rig.client(), rig.client()];
    waiting.write(GET);
    idle.write(post(""));
    await idle.until(({ text }) => text.endsWith("done"));
    await until(() => responses.length === 1);
    rig.time.advance(seconds(64));
    await turn();
    expect(idle.isEnded).toBe(false);
    rig.time.advance(seconds(3));
    await idle.all();
    expect(idle.statuses).toEqual([200]);
    rig.time.advance(seconds(600));
    responses[0]?.answer(200, "", "at last");
    await waiting.until(({ text }) => text.endsWith("at last"));
  });

  test("to close after the last answer is cut off", async () => {
    await using rig = await rawRig();
    const client = rig.client();
    client.write("GET /x HTTP/1.0\r\n\r\n");
    await client.all();
    rig.time.advance(seconds(4));
    for (let round = 0; round < 20; round++) await turn();
    expect(rig.listener.connections).toBe(1);
    rig.time.advance(seconds(4));
    await until(() => rig.listener.connections === 0);
  });

  test("and does not read its answer at all is cut off", async () => {
    let closes = 0;
    await using rig = await rawRig({
      limits: { stalledWriteMs: 30 },
      onRequest(_request, response) {
        response.onClose = () => closes++;
        response.open(200, "");
        while (response.write("x".repeat(64 * 1024))) {}
      },
    });
    const client = rig.client();
    client.socket.pause();
    client.write(GET);
    await until(() => rig.listener.connections === 1);
    for (let round = 0; round < 50; round++) await turn();
    rig.time.advance(seconds(1));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await until(() => rig.listener.connections === 0);
    expect(closes).toBe(1);
  });
});

describe("the number of connections", () => {
  test("is bounded: one more is told 503 and nothing of it is read", async () => {
    const full: number[] = [];
    const open: HttpResponse[] = [];
    const onFull = (most: number) => full.push(most);
    await using rig = await rawRig({ maxConnections: 1, onFull });
    rig.listener.onRequest = (exchange) => open.push(exchange);
    const first = rig.client();
    first.write(GET);
    await until(() => open.length === 1);
    for (let round = 0; round < 2; round++) {
      const second = rig.client();
      second.write(GET);
      await second.all();
      expect(second.statuses).toEqual([503]);
      second.socket.end();
      await until(() => rig.listener.connections === 1);
    }
    expect([open.length, full]).toEqual([1, [1]]);
    open[0]?.answer(200, "", "<a>");
    await first.until(({ text }) => text.endsWith("<a>"));
    first.socket.end();
    await until(() => rig.listener.connections === 0);
    const third = rig.client();
    third.write(GET);
    await until(() => open.length === 2);
  });

  test.each([
    ["say nothing", ""],
    ["have begun to say something", "G"],
    ["have had their answers", GET],
  ])("is bounded: those that %s give way, the longest idle first, to whoever asks for something", async (_, said) => {
    await using rig = await rawRig({ maxConnections: 4 });
    const idle: RawClient[] = [];
    for (let count = 0; count < 4; count++) {
      const client = rig.client();
      idle.push(client);
      client.write(said);
      await until(() => rig.listener.connections === count + 1);
      if (said === GET) await client.until(({ text }) => text.endsWith("<>"));
    }
    const last = rig.client();
    last.write(post("a"));
    await last.until(({ text }) => text.endsWith("<a>"));
    await until(() => idle[0]?.isEnded === true);
    expect(idle.map(({ isEnded }) => isEnded)).toEqual([true, false, false, false]);
  });

  test.each([
    ["an answer and go on with a body that nobody wants", 401],
    ["a body that is not whole", 503],
  ])("is bounded: those that have %s give way", async (_, status) => {
    await using rig = await rawRig({ maxConnections: 2 });
    const echo = rig.listener.onRequest.bind(rig.listener);
    rig.listener.onRequest = (exchange) => {
      if (status === 401 && exchange.url === "/held") exchange.answer(401, "", "");
      else echo(exchange);
    };
    const held = [rig.client(), rig.client()];
    for (const [at, client] of held.entries()) {
      client.write("POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n{");
      await until(() => rig.listener.connections === at + 1);
      if (status === 401) await client.until(({ statuses }) => statuses.length === 1);
      else for (let round = 0; round < 20; round++) await turn();
    }
    rig.time.advance(seconds(2));
    const last = rig.client();
    last.write(post("a"));
    await last.until(({ text }) => text.endsWith("<a>"));
    await until(() => held.some(({ isEnded }) => isEnded));
    expect(held.map(({ isEnded }) => isEnded)).toEqual([true, false]);
    if (status === 401) expect(held[0]?.statuses).toEqual([401]);
  });

  test("of nobody needs no timer", async () => {
    await using rig = await rawRig();
    expect(rig.time.pending).toBe(0);
    await rig.exchange(GET);
    await until(() => rig.listener.connections === 0);
    rig.time.advance(seconds(2));
    expect(rig.time.pending).toBe(0);
  });
});
