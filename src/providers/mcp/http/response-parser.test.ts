import { describe, expect, test } from "vitest";
import { LastHead } from "./response-head.ts";
import { ResponseParser } from "./response-parser.ts";

type Seen = { statuses: number[]; body: string; pieces: number; end?: boolean; invalid?: string; why?: string };

function parse(chunks: string[], options: { maxHeadBytes?: number; eof?: boolean } = {}): Seen {
  const seen: Seen = { statuses: [], body: "", pieces: 0 };
  const parser = new ResponseParser(
    {
      onHead: (head) => seen.statuses.push(head.status),
      onData(text) {
        seen.body += text;
        seen.pieces++;
      },
      onResponseEnd(reusable) {
        seen.end = reusable;
      },
      onInvalid(reason, cause) {
        seen.invalid = reason;
        seen.why = cause.message;
      },
    },
    options.maxHeadBytes ?? 1000,
    new LastHead(),
  );
  parser.start();
  for (const chunk of chunks) parser.push(chunk);
  if (options.eof) parser.finish();
  return seen;
}

const OK = "HTTP/1.1 200 OK\r\n";

describe("ResponseParser", () => {
  test("delivers a response that comes in one piece as one piece", () => {
    expect(parse([`${OK}Content-Length: 5\r\n\r\nhello`])).toEqual({
      statuses: [200],
      body: "hello",
      pieces: 1,
      end: true,
    });
  });

  test.each([
    ["a length", `${OK}Content-Length: 5\r\n\r\nhello`, "hello"],
    ["an empty body", `${OK}Content-Length: 0\r\n\r\n`, ""],
    ["no body", "HTTP/1.1 204 No Content\r\n\r\n", ""],
    ["chunks", `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n02;x="y"\r\nlo\r\n0\r\n\r\n`, "hello"],
    [
      "trailers",
      `${OK}Transfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0;last\r\nX: y\r\nZ: 1\r\n\r\n`,
      "0123456789",
    ],
    ["line ends inside chunks", `${OK}Transfer-Encoding: chunked\r\n\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n`, "\r\n\r\n"],
    [
      "interim responses",
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n${OK}Content-Length: 2\r\n\r\nhi`,
      "hi",
    ],
  ])("reads a response with %s however it is cut", (_what, response, body) => {
    const whole = parse([response]);
    expect(whole).toMatchObject({ body, end: true });
    expect(whole.statuses).toHaveLength(1);
    expect(parse(response.split(""))).toMatchObject({ statuses: whole.statuses, body, end: true });
    for (let cut = 1; cut < response.length; cut++) {
      expect(parse([response.slice(0, cut), response.slice(cut)])).toMatchObject({
        statuses: whole.statuses,
        body,
        end: true,
      });
    }
  });

  test("reads until the connection ends where nothing else delimits the body", () => {
    const response = `${OK}\r\nhello`;
    expect(parse([response])).toEqual({ statuses: [200], body: "hello", pieces: 1 });
    expect(parse(response.split(""), { eof: true })).toMatchObject({ body: "hello", end: false });
  });

  test("does not take the end of the connection for the end of a delimited body", () => {
    expect(parse([`${OK}Content-Length: 5\r\n\r\nhell`], { eof: true })).not.toHaveProperty("end");
    expect(parse([`${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`], { eof: true })).not.toHaveProperty("end");
  });

  test.each([
    `${OK}Content-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n\r\n`,
    `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n\r\n`,
    "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ])("says that a socket with bytes after the response is not reusable: %j", (response) => {
    expect(parse([response])).toMatchObject({ end: false });
  });

  test("says that a socket the server wants closed is not reusable", () => {
    expect(parse([`${OK}Connection: close\r\nContent-Length: 0\r\n\r\n`])).toMatchObject({ end: false });
  });

  test.each([
    "x\r\n",
    "-1\r\n",
    "0x3\r\n",
    " 3\r\n",
    "3 \r\n",
    "\r\n",
    "3\nabc\r\n",
    "3;\u0000\r\n",
    "3;a\rb\r\n",
    "fffffffffffff\r\n",
  ])("refuses the chunk size %j", (line) => {
    expect(parse([`${OK}Transfer-Encoding: chunked\r\n\r\n${line}abc\r\n0\r\n\r\n`])).toMatchObject({
      invalid: "malformed",
    });
  });

  test("refuses a chunk that does not end where its size says", () => {
    expect(parse([`${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n`])).toMatchObject({ invalid: "malformed" });
    expect(parse([`${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r`, "x"])).toMatchObject({ invalid: "malformed" });
  });

  test("refuses trailers that are not header lines", () => {
    expect(parse([`${OK}Transfer-Encoding: chunked\r\n\r\n0\r\nX\r\n\r\n`])).toMatchObject({ invalid: "malformed" });
  });

  test("refuses a peer that does not speak HTTP without waiting for it to close", () => {
    expect(parse(["SSH-2.0-OpenSSH\r\n"])).toMatchObject({ invalid: "malformed" });
    expect(parse(["HTTP/1.1 200 OK\nContent-Length: 0\n\n"])).toMatchObject({ invalid: "malformed" });
  });

  test("refuses a protocol switch and endless interim responses", () => {
    expect(parse(["HTTP/1.1 101 Switching\r\n\r\n"])).toMatchObject({ invalid: "malformed" });
    expect(parse(Array(17).fill("HTTP/1.1 100 Continue\r\n\r\n"))).toMatchObject({ invalid: "malformed" });
  });

  test("bounds heads, trailers and chunk size lines", () => {
    expect(parse([`${OK}X: ${"a".repeat(1000)}`])).toMatchObject({ invalid: "head-too-large" });
    expect(parse([OK, ...Array(200).fill("X: a\r\n")])).toMatchObject({ invalid: "head-too-large" });
    const chunked = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
    expect(parse([`${chunked}0\r\nX: ${"a".repeat(1000)}\r\n\r\n`])).toMatchObject({ invalid: "head-too-large" });
    expect(parse([`${chunked}3;${"a".repeat(2000)}`])).toMatchObject({ invalid: "malformed" });
  });

  test("stops at once when the sink stops it", () => {
    let pieces = 0;
    const parser: ResponseParser = new ResponseParser(
      {
        onHead() {},
        onData() {
          pieces++;
          parser.stop();
        },
        onResponseEnd: () => pieces++,
        onInvalid: () => pieces++,
      },
      1000,
      new LastHead(),
    );
    parser.start();
    parser.push(`${OK}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n`);
    expect(pieces).toBe(1);
  });

  test("does not mix up responses whose heads differ", () => {
    const statuses: number[] = [];
    const parser = new ResponseParser(
      { onHead: (head) => statuses.push(head.status), onData() {}, onResponseEnd() {}, onInvalid() {} },
      1000,
      new LastHead(),
    );
    for (const status of [200, 200, 404, 200]) {
      parser.start();
      parser.push(`HTTP/1.1 ${status} X\r\nContent-Length: 1\r\n\r\n.`);
    }
    expect(statuses).toEqual([200, 200, 404, 200]);
  });
});
