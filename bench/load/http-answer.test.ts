import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AnswerReader, ChunkedDecoder, readJsonText } from "./http-answer.ts";

const plain = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{"id":1}';
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const stream =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n" +
  `${chunk('event: message\ndata: {"jsonrp')}${chunk('c":"2.0","id":7,"x":"é"}\n\n')}0\r\n\r\n`;

/** The same bytes in pieces of `size`. */
function feedInPieces(text: string, size: number): ReturnType<AnswerReader["feed"]>[] {
  const reader = new AnswerReader();
  const bytes = Buffer.from(text);
  const answers = [];
  for (let at = 0; at < bytes.length; at += size) answers.push(reader.feed(bytes.subarray(at, at + size)));
  return answers;
}

describe("AnswerReader", () => {
  for (const size of [1, 2, 7, 50, 10_000]) {
    test(`reads a body of known length in pieces of ${size}`, () => {
      const answers = feedInPieces(plain, size);
      assert.equal(answers.at(-1)?.body.toString(), '{"id":1}');
      assert.equal(answers.filter((answer) => answer !== undefined).length, 1);
    });

    test(`reads the message of a chunked event stream in pieces of ${size}`, () => {
      const answer = feedInPieces(stream, size).at(-1);
      assert.ok(answer !== undefined);
      assert.deepEqual(JSON.parse(readJsonText(answer)), { jsonrpc: "2.0", id: 7, x: "é" });
    });
  }

  test("refuses bytes beyond the announced length", () => {
    assert.throws(() => new AnswerReader().feed(Buffer.from(`${plain}x`)), /more bytes/);
  });

  test("takes a 202 without a length as empty", () => {
    assert.equal(new AnswerReader().feed(Buffer.from("HTTP/1.1 202 Accepted\r\n\r\n"))?.status, 202);
  });

  test("reads one answer after the other", () => {
    const reader = new AnswerReader();
    assert.equal(reader.feed(Buffer.from(plain))?.status, 200);
    assert.equal(reader.feed(Buffer.from(plain))?.status, 200);
  });
});

describe("ChunkedDecoder", () => {
  test("refuses a chunk without a size", () => {
    assert.throws(() => new ChunkedDecoder().feed(Buffer.from("zz\r\n"), () => {}), /without a size/);
  });
});
