import { describe, expect, test } from "vitest";
import { ManualTime } from "../../tests/kit/manual-time.ts";
import type { HttpResponse } from "../contract/index.ts";
import { ExpiringStreams } from "./expiring-streams.ts";

class Stream implements HttpResponse {
  isOver = false;
  wasCut = false;
  onDrain = undefined;
  onClose = undefined;
  answer = () => undefined;
  answerParts = () => undefined;
  open = () => undefined;
  write = () => true;
  end = () => {
    this.isOver = true;
  };
  cut = () => {
    this.wasCut = true;
    this.isOver = true;
  };
}

function makeRig() {
  const time = new ManualTime();
  return { time, streams: new ExpiringStreams(time, () => time.now()) };
}

describe("ExpiringStreams", () => {
  test("cuts a stream within five seconds of when its caller's proof is over", () => {
    const { time, streams } = makeRig();
    const [short, long] = [new Stream(), new Stream()];
    streams.watch(short, time.now() + 12_000);
    streams.watch(long, time.now() + 60_000);
    time.advance(11_999);
    expect(short.wasCut).toBe(false);
    time.advance(5_000);
    expect([short.wasCut, long.wasCut]).toEqual([true, false]);
  });

  test("leaves alone what has ended, and looks at nothing any more", () => {
    const { time, streams } = makeRig();
    const stream = new Stream();
    streams.watch(stream, time.now() + 60_000);
    stream.end();
    time.advance(5_000);
    expect(time.pending).toBe(0);
    time.advance(60_000);
    expect(stream.wasCut).toBe(false);
  });

  test("leaves no timer behind when it closes", () => {
    const { time, streams } = makeRig();
    streams.watch(new Stream(), time.now() + 60_000);
    streams.close();
    expect(time.pending).toBe(0);
  });
});
