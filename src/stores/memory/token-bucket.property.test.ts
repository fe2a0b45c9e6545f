import fc from "fast-check";
import { expect, test } from "vitest";
import type { Debit } from "../../contract/index.ts";
import { TokenBucket } from "./token-bucket.ts";

const RATE = fc.record({
  capacity: fc.integer({ min: 1, max: 20 }),
  refill: fc.integer({ min: 1, max: 1_000 }),
  periodMs: fc.constantFrom(1_000, 7_000, 60_000, 3_600_000, 86_400_000),
});
const STEPS = fc.array(
  fc.record({ waitMs: fc.integer({ min: 0, max: 30_000 }), asks: fc.integer({ min: 1, max: 30 }) }),
  {
    maxLength: 40,
  },
);

const debitOf = (rate: { capacity: number; refill: number; periodMs: number }): Debit => ({
  key: "k",
  level: "user",
  ttlMs: 1,
  ...rate,
});

test("never gives more in any time than it holds and what comes back in that time, and gives all of that", () => {
  fc.assert(
    fc.property(RATE, STEPS, (rate, steps) => {
      const [debit, bucket] = [debitOf(rate), new TokenBucket()];
      const taken: number[] = [];
      let now = 1_794_757_380_506;
      for (const { waitMs, asks } of steps) {
        now += waitMs;
        for (let ask = 0; ask < asks; ask++) {
          if (bucket.waitMs(debit, now) !== 0) continue;
          bucket.take(debit, now);
          taken.push(now);
        }
      }
      const { capacity, refill, periodMs } = rate;
      for (const [first, from] of taken.entries()) {
        for (const [last, to] of taken.entries()) {
          const most = BigInt(capacity) + (BigInt(refill) * BigInt(Math.max(0, to - from))) / BigInt(periodMs);
          if (last >= first) expect(BigInt(last - first + 1)).toBeLessThanOrEqual(most);
        }
      }
    }),
  );
});

test("a token is there in the very ms that was told, and not in the one before", () => {
  fc.assert(
    fc.property(RATE, STEPS, (rate, steps) => {
      const [debit, bucket] = [debitOf(rate), new TokenBucket()];
      let now = 1_794_757_380_506;
      for (const { waitMs } of steps) {
        now += waitMs;
        const wait = bucket.waitMs(debit, now) ?? Number.NaN;
        if (wait > 0) {
          expect(bucket.waitMs(debit, now + wait - 1)).toBe(1);
          now += wait;
        }
        expect(bucket.waitMs(debit, now)).toBe(0);
        bucket.take(debit, now);
      }
    }),
  );
});
