import { describe, expect, test } from "vitest";
import { KeptMeter } from "../../../tests/kit/quiet.ts";
import { LOCAL } from "../../contract/index.ts";
import { Outbox, type OutboxItem, OutboxTotal, type OutboxWriter } from "./outbox.ts";

class Stream implements OutboxWriter {
  readonly listener = LOCAL;
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

  test("says a long text to whoever listens, and keeps its brief for whoever is away or comes back", () => {
    const { outbox, meter } = make(4, 1_000_000);
    const long = "l".repeat(16 * 1024 + 1);
    const [first, second] = [new Stream(), new Stream()];
    outbox.push({ ...item(long, "updated", "u"), brief: "away" });
    outbox.open(first);
    outbox.push({ ...item(long, "updated", "u"), brief: "here" });
    outbox.push({ ...item("short", "updated", "v"), brief: "shorter" });
    expect(first.got).toEqual(["1:away", `2:${long}`, "3:short"]);
    outbox.close(first);
    outbox.open(second, 1);
    expect(second.got).toEqual(["2:here", "3:short"]);
    expect(meter.of("isthmus_events_dropped_total")).toBe(0);
  });

  test("drops a long text without a brief where nobody listens, counts it, and knows that something was lost", () => {
    const { outbox, meter } = make(4, 1_000_000);
    const long = "l".repeat(16 * 1024 + 1);
    outbox.push(item(long, "log"));
    outbox.push({ ...item(long, "updated"), brief: long });
    expect([meter.of("isthmus_events_dropped_total log"), meter.of("isthmus_events_dropped_total updated")]).toEqual([
      1, 1,
    ]);
    expect(outbox.lost).toBe(2);
    outbox.push(item(long, "ask"));
    const stream = new Stream();
    outbox.open(stream);
    expect(stream.got).toEqual([`3:${long}`]);
  });

  test("lets go of its own where all together hold too much, but never of its part", () => {
    const meter = new KeptMeter();
    const total = new OutboxTotal(100);
    const [much, little] = [1, 2].map(() => new Outbox({ maxItems: 1000, maxBytes: 1_000, total }, meter)) as [
      Outbox,
      Outbox,
    ];
    for (let n = 0; n < 30; n++) much.push(item("0123456789", "log"));
    for (let n = 0; n < 5; n++) little.push(item("0123456789", "notice"));
    const [first, second] = [new Stream(), new Stream()];
    much.open(first);
    little.open(second);
    expect([first.got.length, second.got.length]).toEqual([10, 5]);
    much.end();
    for (let n = 0; n < 20; n++) little.push(item("0123456789", "log"));
    const third = new Stream();
    little.open(third, 0);
    expect(third.got.length).toBe(10);
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
