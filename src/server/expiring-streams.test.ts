import { describe, expect, test } from "vitest";
import { ManualTime } from "../../tests/kit/manual-time.ts";
import { type HttpResponse, identityOf, LOCAL, type Principal } from "../contract/index.ts";
import { ExpiringStreams } from "./expiring-streams.ts";

class Stream implements HttpResponse {
  isOver = false;
  wasCut = false;
  onDrain = undefined;
  onClose: (() => void) | undefined = undefined;
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
  const until = (ms: number, id = "ada"): Principal => {
    return { id, identity: { ...identityOf(LOCAL), expiresAt: time.now() + ms } };
  };
  return { time, until, streams: new ExpiringStreams(time, () => time.now()) };
}

describe("ExpiringStreams", () => {
  test("cuts a stream within five seconds of when its caller's proof is over", () => {
    const { time, until, streams } = makeRig();
    const [short, long] = [new Stream(), new Stream()];
    streams.watch(short, until(12_000));
    streams.watch(long, until(60_000));
    time.advance(11_999);
    expect(short.wasCut).toBe(false);
    time.advance(5_000);
    expect([short.wasCut, long.wasCut]).toEqual([true, false]);
  });

  test("tells whoever writes to a stream that it was cut", () => {
    const { time, until, streams } = makeRig();
    let closes = 0;
    const stream = Object.assign(new Stream(), { onClose: () => closes++ });
    streams.watch(stream, until(12_000));
    time.advance(60_000);
    expect(closes).toBe(1);
  });

  test("leaves alone what has ended, and looks at nothing any more", () => {
    const { time, until, streams } = makeRig();
    const stream = new Stream();
    streams.watch(stream, until(60_000));
    stream.end();
    time.advance(5_000);
    expect(time.pending).toBe(0);
    time.advance(60_000);
    expect(stream.wasCut).toBe(false);
  });

  test("cuts the streams of whoever is revoked at once, and nobody else's", () => {
    const { until, streams } = makeRig();
    const [hers, his] = [new Stream(), new Stream()];
    streams.watch(hers, until(60_000, "ada"));
    streams.watch(his, until(60_000, "eve"));
    streams.drop(({ id }) => id === "ada");
    expect([hers.wasCut, his.wasCut]).toEqual([true, false]);
    streams.close();
  });

  test("leaves no timer behind when it closes", () => {
    const { time, until, streams } = makeRig();
    streams.watch(new Stream(), until(60_000));
    streams.watch(new Stream(), LOCAL);
    streams.close();
    expect(time.pending).toBe(0);
  });
});
