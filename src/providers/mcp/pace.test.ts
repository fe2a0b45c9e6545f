import { expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { Pace } from "./pace.ts";

function started() {
  const time = new ManualTime();
  const pace = new Pace({ clock: time, timers: time });
  const said: number[] = [];
  const take = (from: number, to: number) => {
    for (let word = from; word <= to; word++) pace.take(() => said.push(word));
  };
  return { time, said, take };
}

test("what comes now and then is said at once", () => {
  const { time, said, take } = started();
  take(1, 3);
  expect(said).toEqual([1, 2, 3]);
  expect(time.pending).toBe(0);
});

test("of a flood the first 64 are said, and then the last one each second", () => {
  const { time, said, take } = started();
  take(1, 1000);
  expect(said).toHaveLength(64);
  time.advance(1000);
  expect(said.slice(64)).toEqual([1000]);
  take(1001, 2000);
  time.advance(1000);
  expect(said.slice(64)).toEqual([1000, 2000]);
  expect(time.pending).toBe(0);
});

test("what nobody has used for a while is there again", () => {
  const { time, said, take } = started();
  take(1, 64);
  time.advance(10_000);
  take(65, 200);
  expect(said).toHaveLength(74);
});
