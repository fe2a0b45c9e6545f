import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LogBounds, LogItem } from "../../../src/contract/index.ts";
import { fresh, LONG_MS, SHORT_MS, type SharedStateRig, type StartRig } from "./shared-state-rig.ts";

const items = (...sequences: number[]): LogItem[] => sequences.map((sequence) => ({ sequence, text: `t${sequence}` }));

export function logsSuite(start: StartRig): void {
  let rig: SharedStateRig;
  beforeAll(async () => {
    rig = await start();
  });
  afterAll(() => rig.close());

  describe.each([false, true])("fleeting: %s", (isFleeting) => {
    const bounds: LogBounds = { maxItems: 100, maxBytes: 10_000, ttlMs: LONG_MS, isFleeting };

    test("a log gives what was appended after a number, in order, to everybody", async () => {
      const log = fresh("outbox");
      await rig.here.logs.append(log, items(1, 2), bounds);
      await rig.here.logs.append(log, items(3, 10), bounds);
      expect(await rig.there.logs.read(log, 0)).toEqual(items(1, 2, 3, 10));
      expect(await rig.there.logs.read(log, 2)).toEqual(items(3, 10));
      expect(await rig.there.logs.read(log, 10)).toEqual([]);
      expect(await rig.there.logs.read(fresh("outbox"), 0)).toEqual([]);
    });

    test("texts come back as they were, two equal ones as well", async () => {
      const log = fresh("outbox");
      const texts = ['{"a":"1:2"}', "", "ümläut € 𝄞", "line\nbreak", '{"a":"1:2"}'];
      const odd = texts.map((text, sequence) => ({ sequence, text }));
      await rig.here.logs.append(log, odd, bounds);
      expect(await rig.there.logs.read(log, -1)).toEqual(odd);
    });

    test("a log holds only so many items: the oldest go", async () => {
      const log = fresh("outbox");
      await rig.here.logs.append(log, items(1, 2, 3), { ...bounds, maxItems: 3 });
      await rig.here.logs.append(log, items(4, 5), { ...bounds, maxItems: 3 });
      expect(await rig.there.logs.read(log, 0)).toEqual(items(3, 4, 5));
    });

    test("a log holds only so many bytes: the oldest go", async () => {
      const log = fresh("outbox");
      const wide = (sequence: number) => ({ sequence, text: "é".repeat(5) });
      const narrow = { ...bounds, maxBytes: 30 };
      await rig.here.logs.append(log, [wide(1), wide(2), wide(3)], narrow);
      expect(await rig.there.logs.read(log, 0)).toHaveLength(3);
      await rig.here.logs.append(log, [{ sequence: 4, text: "x" }], narrow);
      expect((await rig.there.logs.read(log, 0)).map((item) => item.sequence)).toEqual([2, 3, 4]);
      await rig.here.logs.append(log, [{ sequence: 5, text: "x".repeat(31) }], narrow);
      expect(await rig.there.logs.read(log, 0)).toEqual([]);
      await rig.here.logs.append(log, items(6), narrow);
      expect(await rig.there.logs.read(log, 0)).toEqual(items(6));
    });

    test("what is taken back is gone, and its bytes are free", async () => {
      const log = fresh("outbox");
      const narrow = { ...bounds, maxBytes: 6 };
      await rig.here.logs.append(log, items(1, 2, 3), narrow);
      await rig.there.logs.remove(log, 2);
      await rig.there.logs.remove(log, 99);
      expect(await rig.here.logs.read(log, 0)).toEqual(items(1, 3));
      await rig.here.logs.append(log, items(4), narrow);
      expect(await rig.here.logs.read(log, 0)).toEqual(items(1, 3, 4));
    });

    test("what is appended again, by somebody who heard nothing the first time, is there once", async () => {
      const log = fresh("outbox");
      const narrow = { ...bounds, maxBytes: 6 };
      await rig.here.logs.append(log, items(1, 2), narrow);
      await rig.here.logs.append(log, items(1, 2, 3), narrow);
      expect(await rig.there.logs.read(log, 0)).toEqual(items(1, 2, 3));
    });

    test("a log that is dropped is gone, and may begin anew", async () => {
      const log = fresh("outbox");
      await rig.here.logs.append(log, items(1, 2), bounds);
      await rig.there.logs.drop(log);
      expect(await rig.here.logs.read(log, 0)).toEqual([]);
      await rig.here.logs.append(log, items(1), bounds);
      expect(await rig.here.logs.read(log, 0)).toEqual(items(1));
    });

    test("a log ends when its time is over, and begins anew empty", async () => {
      const log = fresh("outbox");
      const short = { ...bounds, maxBytes: 5, ttlMs: SHORT_MS };
      await rig.here.logs.append(log, items(1, 2), short);
      await rig.elapse(SHORT_MS * 2);
      expect(await rig.there.logs.read(log, 0)).toEqual([]);
      await rig.here.logs.append(log, items(3, 4), { ...short, ttlMs: LONG_MS });
      expect(await rig.there.logs.read(log, 0)).toEqual(items(3, 4));
    });
  });
}
