import { describe, expect, test } from "vitest";
import { KeptMeter } from "../../../tests/kit/quiet.ts";
import { Outbox, type OutboxItem, type OutboxWriter } from "./outbox.ts";

class Stream implements OutboxWriter {
  readonly canReplay: boolean;
  readonly got: string[] = [];
  room = Number.POSITIVE_INFINITY;
  isEnded = false;

  constructor(canReplay = true) {
    this.canReplay = canReplay;
  }

  write(text: string, sequence: number): boolean {
    this.got.push(`${sequence}:${text}`);
    return --this.room > 0;
  }

  end(): void {
    this.isEnded = true;
  }
}

const make = (maxItems = 4, maxBytes = 1000) => {
  const meter = new KeptMeter();
  return { meter, outbox: new Outbox({ maxItems, maxBytes }, meter) };
};
const item = (text: string, type: OutboxItem["type"] = "notice", key?: string): OutboxItem => ({
  text,
  type,
  ...(key === undefined ? {} : { key }),
});

describe("Outbox", () => {
  test("keeps messages until somebody listens, in order", () => {
    const { outbox } = make();
    outbox.push(item("a"));
    outbox.push(item("b"));
    const stream = new Stream();
    outbox.open(stream);
    outbox.push(item("c"));
    expect(stream.got).toEqual(["1:a", "2:b", "3:c"]);
  });

  test("gives what came after a place again", () => {
    const { outbox } = make();
    const first = new Stream();
    outbox.open(first);
    for (const text of ["a", "b", "c"]) outbox.push(item(text));
    outbox.close(first);
    const second = new Stream();
    outbox.open(second, 1);
    expect(second.got).toEqual(["2:b", "3:c"]);
  });

  test("sends nothing twice to a client that names no place, or one that never was", () => {
    const { outbox } = make();
    outbox.open(new Stream());
    outbox.push(item("a"));
    const [second, third] = [new Stream(), new Stream()];
    outbox.open(second);
    outbox.open(third, 99);
    expect([second.got, third.got, second.isEnded]).toEqual([[], [], true]);
  });

  test("forgets at once what a stream without a way back has taken", () => {
    const { outbox } = make();
    outbox.open(new Stream(false));
    outbox.push(item("a"));
    const second = new Stream();
    outbox.open(second, 0);
    expect(second.got).toEqual([]);
  });

  test("keeps only the last of what makes the earlier pointless", () => {
    const { outbox } = make();
    outbox.push(item("old", "list_changed", "tools"));
    outbox.push(item("other"));
    outbox.push(item("new", "list_changed", "tools"));
    const stream = new Stream();
    outbox.open(stream);
    expect(stream.got).toEqual(["2:other", "3:new"]);
  });

  test("drops the oldest log or update over the bound, and counts it", () => {
    const { outbox, meter } = make(3);
    outbox.push(item("ask", "ask"));
    outbox.push(item("log1", "log"));
    outbox.push(item("log2", "log"));
    outbox.push(item("n", "notice"));
    const stream = new Stream();
    outbox.open(stream);
    expect(stream.got).toEqual(["1:ask", "3:log2", "4:n"]);
    expect(meter.of("isthmus_events_dropped_total log")).toBe(1);
  });

  test("stays under its bound in bytes even when nothing in it may be lost", () => {
    const { outbox, meter } = make(100, 10);
    for (let n = 0; n < 5; n++) outbox.push(item("four", "ask"));
    const stream = new Stream();
    outbox.open(stream);
    expect(stream.got).toEqual(["4:four", "5:four"]);
    expect(meter.of("isthmus_events_dropped_total ask")).toBe(3);
  });

  test("forgets what was sent before it drops what was not, without counting", () => {
    const { outbox, meter } = make(2);
    outbox.open(new Stream());
    for (const text of ["a", "b", "c"]) outbox.push(item(text, "log"));
    expect(meter.of("isthmus_events_dropped_total")).toBe(0);
  });

  test("waits while the stream is full", () => {
    const { outbox } = make();
    const stream = new Stream();
    stream.room = 1;
    outbox.open(stream);
    outbox.push(item("a"));
    outbox.push(item("b"));
    expect(stream.got).toEqual(["1:a"]);
    stream.room = 9;
    outbox.resume(stream);
    expect(stream.got).toEqual(["1:a", "2:b"]);
  });

  test("takes back only what was not sent", () => {
    const { outbox } = make();
    outbox.push(item("a", "ask", "k"));
    expect(outbox.remove("k")).toBe(true);
    outbox.open(new Stream());
    outbox.push(item("b", "ask", "k"));
    expect(outbox.remove("k")).toBe(false);
  });
});
