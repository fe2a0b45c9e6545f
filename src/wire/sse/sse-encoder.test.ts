import { describe, expect, test } from "vitest";
import type { SseEvent } from "./sse-decoder.ts";
import { createSseDecoder } from "./sse-decoder.ts";
import { encodeSse, encodeSseComment } from "./sse-encoder.ts";

describe("encodeSse", () => {
  test("writes the fields in the order readers expect", () => {
    expect(encodeSse({ id: "a-1", event: "message", retry: 100, data: "{}" })).toBe(
      "event: message\nid: a-1\nretry: 100\ndata: {}\n\n",
    );
    expect(encodeSse({ data: "" })).toBe("data: \n\n");
  });

  test("puts each line of the data on its own data line", () => {
    expect(encodeSse({ data: "a\nb\r\nc\rd\n" })).toBe("data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n");
  });

  test("refuses an id or event that would break out of its line", () => {
    expect(() => encodeSse({ id: "1\ndata: x", data: "" })).toThrow(/the id of an event/);
    expect(() => encodeSse({ event: "x\r", data: "" })).toThrow(/the event of an event/);
    expect(() => encodeSse({ id: "\0", data: "" })).toThrow();
  });

  test("is read back by the decoder as it was", () => {
    const events: SseEvent[] = [];
    const decoder = createSseDecoder({ maxEventBytes: 100, onEvent: (event) => events.push(event) });
    decoder.push(
      encodeSseComment("keep-alive") + encodeSse({ id: "9", event: "note", retry: 5, data: " two\n\nlines" }),
    );
    expect(events).toEqual([{ id: "9", type: "note", retry: 5, data: " two\n\nlines" }]);
  });
});

describe("encodeSseComment", () => {
  test("keeps every line of the text inside the comment", () => {
    expect(encodeSseComment("a\ndata: x")).toBe(": a\n: data: x\n\n");
  });
});
