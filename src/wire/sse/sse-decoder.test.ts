import { describe, expect, test } from "vitest";
import { bytesHeldAfter } from "../../../tests/kit/held-memory.ts";
import { copyText } from "../../contract/index.ts";
import type { SseEvent } from "./sse-decoder.ts";
import { createSseDecoder } from "./sse-decoder.ts";

function decode(chunks: string[], maxEventBytes = 1000): SseEvent[] {
  const events: SseEvent[] = [];
  const decoder = createSseDecoder({ maxEventBytes, onEvent: (event) => events.push(event) });
  for (const chunk of chunks) decoder.push(chunk);
  return events;
}

const message = (data: string): SseEvent => ({ type: "message", data });

describe("createSseDecoder", () => {
  test("reads several whole events from one chunk", () => {
    const chunk = 'event: message\ndata: {"a":1}\n\nevent: message\ndata: {"b":2}\n\n';
    expect(decode([chunk])).toEqual([message('{"a":1}'), message('{"b":2}')]);
  });

  test("gives the same events however the stream is cut", () => {
    const stream =
      "\u00ef\u00bb\u00bfevent: message\r\ndata: one\r\n\r\n: note\r\nid: 7\revent: other\rdata: two\rdata:three\r\r" +
      "event: message\ndata: four\n\nretry: 250\nid: 8\n\ndata\n\ndata: caf\u00c3\u00a9\n\nevent: message\ndata: a\ndata: b\n\n";
    const whole = decode([stream]);
    expect(whole).toEqual([
      message("one"),
      { id: "7", type: "other", data: "two\nthree" },
      message("four"),
      { id: "8", retry: 250, type: "message", data: "" },
      message(""),
      message("caf\u00c3\u00a9"),
      message("a\nb"),
    ]);
    expect(decode(stream.split(""))).toEqual(whole);
    for (let cut = 1; cut < stream.length; cut++) {
      expect(decode([stream.slice(0, cut), "", stream.slice(cut)])).toEqual(whole);
    }
  });

  test("ends an event at a carriage return without waiting for the next chunk", () => {
    expect(decode(["data: x\r\r"])).toEqual([message("x")]);
    expect(decode(["data: x\r\n\r", "\ndata: y\n\n"])).toEqual([message("x"), message("y")]);
  });

  test("strips one leading space of a value and no more", () => {
    expect(decode(["data:  x\n\ndata:x\n\n"])).toEqual([message(" x"), message("x")]);
  });

  test("ignores unknown fields, comments and blocks without data", () => {
    expect(decode([": hello\n\nevent: ping\n\nother: 1\n\nx\n\n"])).toEqual([]);
  });

  test("does not carry the type of a block without data into the next one", () => {
    expect(decode(["event: ping\n\ndata: x\n\n"])).toEqual([message("x")]);
  });

  test("reports an id that comes without data", () => {
    expect(decode(["id: 42\n\n"])).toEqual([{ id: "42", type: "message", data: "" }]);
    expect(decode(["id\ndata: x\n\n"])).toEqual([{ id: "", type: "message", data: "x" }]);
  });

  test("gives an id of 1 KiB, and of a longer one only that it was there", () => {
    const id = "i".repeat(1024);
    expect(decode([`id: ${id}\ndata: x\n\n`], 5000)).toEqual([{ ...message("x"), id }]);
    expect(decode([`id: ${id}i\ndata: x\n\n`], 5000)).toEqual([{ ...message("x"), id: "", isIdDropped: true }]);
    expect(decode([`id: ${id}i\nid: a\n\n`], 5000)).toEqual([{ ...message(""), id: "a" }]);
  });

  test("ignores an id with NUL and a retry that is not all digits", () => {
    expect(decode(["id: 4\u00002\nretry: 1s\nretry: -1\nretry:\ndata: x\n\n"])).toEqual([message("x")]);
  });

  test("takes a BOM only at the start of the stream", () => {
    expect(decode(["data: x\n\n\u00ef\u00bb\u00bfdata: y\n\n"])).toEqual([message("x")]);
    expect(decode(["\u00ef\u00bb", "data: y\n\ndata: z\n\n"])).toEqual([message("z")]);
  });

  test("drops an event that was not ended", () => {
    expect(decode(["data: x\n\ndata: y\n"])).toEqual([message("x")]);
  });

  test("throws on an event over the bound, in every way one can grow", () => {
    const tooLarge = /larger than 20 bytes/;
    expect(() => decode([`event: message\ndata: ${"x".repeat(21)}\n\n`], 20)).toThrow(tooLarge);
    expect(() => decode([`data: ${"x".repeat(21)}`], 20)).toThrow(tooLarge);
    expect(() => decode(Array(27).fill("x"), 20)).toThrow(tooLarge);
    expect(() => decode(Array(21).fill("data:x\n"), 20)).toThrow(tooLarge);
    expect(decode(Array(21).fill("data:x\n\n"), 20)).toHaveLength(21);
  });

  test("allows data of exactly the bound, however it is cut", () => {
    const event = `event: message\ndata: ${"x".repeat(20)}\n\n`;
    expect(decode([event], 20)).toEqual([message("x".repeat(20))]);
    expect(decode(event.split(""), 20)).toEqual([message("x".repeat(20))]);
  });

  // Copied anew with each piece it would be 32 GiB, and the test out of time.
  test("reads one large event in time linear in its size", () => {
    const size = 32 * 1024 * 1024;
    const piece = "x".repeat(16 * 1024);
    let length = 0;
    const decoder = createSseDecoder({ maxEventBytes: size + 10, onEvent: (event) => (length = event.data.length) });
    decoder.push("data: ");
    for (let sent = 0; sent < size; sent += piece.length) decoder.push(piece);
    decoder.push("\n\n");
    expect(length).toBe(size);
  });

  const SHORT = 1024 * 1024;
  test.each<[string, readonly string[]]>([
    ["a line that comes byte by byte", ["data: ", ...Array<string>(SHORT).fill("x")]],
    ["empty lines of data", Array<string>(SHORT / 1024).fill("data:\n".repeat(1024))],
    [
      "lines of data of a byte, each cut",
      Array<string[]>(SHORT / 2)
        .fill(["data:x", "\n"])
        .flat(),
    ],
    [
      "ids, types and data, each as long as may be",
      ["id", "event", "data"].map((name) => copyText(`${name}:${"y".repeat(SHORT)}\n`)),
    ],
  ])("keeps little more than the bytes that came of an event that does not end: %s", async (_, pieces) => {
    const decoder = createSseDecoder({ maxEventBytes: 2 * SHORT, onEvent: () => undefined });
    const held = await bytesHeldAfter(() => {
      for (const piece of pieces) decoder.push(piece.length > 1 ? copyText(piece) : piece);
    });
    expect(held).toBeLessThan(2.5 * SHORT);
    decoder.push("\n\n");
  });
});
