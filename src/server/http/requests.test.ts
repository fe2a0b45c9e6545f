import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bodiesOf, GET, post, rawRig, turn, until } from "./fixtures/raw-client.ts";

const CHUNKED =
  "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\nT: u\r\n\r\n";

describe("a connection", () => {
  test.each([
    ["with a length", post("hello")],
    ["without a body", GET],
    ["with chunks", CHUNKED],
    ["and the next one", post("one") + GET + post("two")],
  ])("reads a request %s however it is cut", async (_what, bytes) => {
    await using rig = await rawRig();
    const whole = await rig.exchange(bytes);
    const expected = rig.seen.splice(0).map(({ method, url, body }) => ({ method, url, body }));
    expect(expected.length).toBeGreaterThan(0);
    for (let cut = 1; cut < bytes.length; cut++) {
      const client = await rig.exchange(bytes.slice(0, cut), bytes.slice(cut));
      expect(rig.seen.splice(0)).toMatchObject(expected);
      expect(bodiesOf(client.text)).toEqual(bodiesOf(whole.text));
    }
    await rig.exchange(...bytes.split(""));
    expect(rig.seen).toMatchObject(expected);
  });

  test("reads any valid requests the same however they are cut", async () => {
    await using rig = await rawRig();
    const text = fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
      maxLength: 40,
    });
    const chunked = fc
      .array(
        text.filter((piece) => piece !== ""),
        { maxLength: 4 },
      )
      .map((pieces) => {
        const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join("");
        return {
          bytes: `POST /c HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
          body: pieces.join(""),
        };
      });
    const sized = fc
      .tuple(text, fc.constantFrom("", "X: y\r\n"))
      .map(([body, lines]) => ({ bytes: post(body, lines), body }));
    const empty = fc.constant({ bytes: GET, body: "" });
    const requests = fc.array(fc.oneof(sized, chunked, empty), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(requests, fc.array(fc.nat(400), { maxLength: 6 }), async (all, cuts) => {
        rig.seen.length = 0;
        const bytes = all.map((each) => each.bytes).join("");
        const places = [...new Set([0, ...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort(
          (a, b) => a - b,
        );
        const pieces = places.slice(1).map((end, index) => bytes.slice(places[index], end));
        const client = await rig.exchange(...pieces);
        expect(rig.seen.map(({ body }) => body)).toEqual(all.map(({ body }) => body));
        expect(bodiesOf(client.text)).toEqual(all.map(({ body }) => `<${body}>`));
      }),
      { numRuns: 60 },
    );
  });

  test("is used for request after request, and gives the same headers object while the head is the same", async () => {
    await using rig = await rawRig();
    const client = rig.client();
    for (const [index, body] of ["a", "bc", "def"].entries()) {
      client.write(post(body));
      await client.until(() => client.statuses.length === index + 1);
    }
    client.write(post("x", "Y: z\r\n"));
    await client.until(() => client.statuses.length === 4);
    const [first, second, third, other] = rig.seen;
    expect(second?.headers).toBe(first?.headers);
    expect(third?.headers).toBe(first?.headers);
    expect(other?.headers).not.toBe(first?.headers);
    expect(rig.seen.map(({ body }) => body)).toEqual(["a", "bc", "def", "x"]);
    expect(client.text).not.toContain("Connection:");
    expect(client.text).toMatch(
      /^HTTP\/1\.1 200 OK\r\nDate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\r\nContent-Length: 3\r\n\r\n<a>/,
    );
  });

  test("starts a request only when the one before it is answered", async () => {
    const waiting: (() => void)[] = [];
    await using rig = await rawRig({
      onRequest: (request, response) => waiting.push(() => response.answer(200, "", request.url)),
    });
    const client = rig.client();
    client.write(GET + GET.replace("/x", "/y"));
    await until(() => waiting.length === 1);
    await turn();
    expect(waiting).toHaveLength(1);
    waiting[0]?.();
    await until(() => waiting.length === 2);
    waiting[1]?.();
    await client.until(() => client.text.endsWith("/y"));
    expect(bodiesOf(client.text)).toEqual(["/x", "/y"]);
  });

  test("answers thousands of requests that come at once", async () => {
    await using rig = await rawRig();
    const client = await rig.exchange(post("x").repeat(3000));
    expect(client.statuses).toHaveLength(3000);
  });

  test("reads no more than it must while an answer is outstanding", async () => {
    let answer = () => {};
    await using rig = await rawRig({
      onRequest(request, response) {
        if (request.url === "/x") answer = () => response.answer(200, "", "");
        else request.body(1e9, { onBody: (body) => response.answer(200, "", String(body.length)), onTooLarge() {} });
      },
    });
    const client = rig.client();
    const size = 32 * 1024 * 1024;
    client.write(GET + post("a".repeat(size)));
    await until(() => client.socket.writableLength > 0);
    for (let round = 0; round < 50; round++) await turn();
    expect(client.socket.writableLength).toBeGreaterThan(0);
    answer();
    await client.until(() => client.text.endsWith(String(size)));
  });

  test("starts nothing more for a client that does not take the answers it has", async () => {
    let asked = 0;
    await using rig = await rawRig({
      onRequest(_request, response) {
        asked++;
        response.answer(200, "", "x".repeat(1024 * 1024));
      },
    });
    const client = rig.client();
    client.socket.pause();
    client.write(GET.repeat(100));
    await until(() => asked > 0);
    for (let round = 0; round < 100; round++) await turn();
    expect(asked).toBeLessThan(50);
    client.socket.resume();
    client.socket.end();
    await client.all();
    expect(client.statuses).toHaveLength(100);
    expect(asked).toBe(100);
  });

  test("answers a client that has ended its side", async () => {
    await using rig = await rawRig({
      onRequest: (_request, response) => void setImmediate(() => response.answer(200, "", "late")),
    });
    expect((await rig.exchange(GET)).text).toContain("late");
    expect((await rig.exchange(GET + GET)).statuses).toEqual([200, 200]);
    await until(() => rig.listener.connections === 0);
  });

  test.each([
    ["Connection: close", "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"],
    ["HTTP/1.0", "GET /x HTTP/1.0\r\n\r\n"],
  ])("closes after the answer to a request with %s", async (_what, bytes) => {
    await using rig = await rawRig();
    const client = rig.client();
    client.write(bytes + GET);
    expect(await client.all()).toContain("Connection: close\r\n");
    expect(client.statuses).toEqual([200]);
    client.socket.end();
    await until(() => rig.listener.connections === 0);
  });

  test("stays open for a client of 1.0 that asks for it", async () => {
    await using rig = await rawRig();
    const client = rig.client();
    client.write("GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    await client.until(() => client.text.includes("Connection: keep-alive\r\n"));
    client.write("GET /x HTTP/1.0\r\n\r\n");
    await client.all();
    expect(client.statuses).toEqual([200, 200]);
  });

  test("says that it goes on when a body is asked for, and only then", async () => {
    await using rig = await rawRig({ maxBody: 10 });
    const client = rig.client();
    const head = (length: number) =>
      `POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;
    client.write(head(3));
    await client.until(() => client.text === "HTTP/1.1 100 Continue\r\n\r\n");
    client.write("abc");
    await client.until(() => client.text.endsWith("<abc>"));
    client.write(`${head(3)}def`);
    await client.until(() => client.text.endsWith("<def>"));
    client.write(head(11));
    expect(await client.all()).toContain("HTTP/1.1 413 Content Too Large\r\n");
    expect(client.statuses).toEqual([100, 200, 200, 413]);
  });

  test("does not guess whether an unwanted body will come that waits to be asked for", async () => {
    await using rig = await rawRig({ onRequest: (_request, response) => response.answer(403, "", "") });
    const client = rig.client();
    client.write("POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    expect(await client.all()).toContain("Connection: close");
  });

  test("skips a short body that nobody wants, and closes on a long one", async () => {
    await using rig = await rawRig({
      onRequest(request, response) {
        if (request.url === "/mcp") request.discard();
        response.answer(200, "", request.url);
      },
    });
    const client = rig.client();
    client.write(post("a".repeat(2000)) + GET);
    await client.until(() => client.statuses.length === 2);
    expect(bodiesOf(client.text)).toEqual(["/mcp", "/x"]);
    client.write(post("a".repeat(70_000)));
    expect(await client.all()).toContain("Connection: close");
  });

  test.each([
    [
      "a length",
      (size: number) => `POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`,
      (text: string) => text,
    ],
    [
      "chunks",
      () => "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
      (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`,
    ],
  ])("lets a client that still sends a body with %s read that it is too large", async (_what, head, frame) => {
    await using rig = await rawRig({ maxBody: 1000 });
    const client = rig.client();
    const size = 8 * 1024 * 1024;
    client.write(head(size));
    for (let sent = 0; sent < size; sent += 64 * 1024) {
      client.write(frame("a".repeat(64 * 1024)));
      if (sent % (1024 * 1024) === 0) await turn();
    }
    await client.all();
    expect(client.statuses).toEqual([413]);
    expect(client.text).toMatch(/Connection: close[\s\S]*too large$/);
    await until(() => client.socket.writableLength === 0);
    expect(client.isClosed).toBe(false);
    client.socket.end();
    await until(() => rig.listener.connections === 0);
  });

  test("answers 500 when a handler throws, and goes away in the middle of a stream", async () => {
    await using rig = await rawRig({
      onRequest(request, response) {
        if (request.url === "/late") response.open(200, "");
        if (request.url === "/late") response.write("x");
        if (request.url === "/done") response.answer(200, "", "done");
        throw new Error("broken");
      },
    });
    expect((await rig.exchange(GET)).statuses).toEqual([500]);
    expect((await rig.exchange(GET.replace("/x", "/done") + GET)).statuses).toEqual([200]);
    expect((await rig.exchange(GET.replace("/x", "/late"))).text).not.toContain("0\r\n\r\n");
    expect(rig.errors).toHaveLength(3);
  });
});
