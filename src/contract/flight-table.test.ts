import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FlightTable } from "./flight-table.ts";

describe("FlightTable", () => {
  test("behaves as a map whose keys are never used twice", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constant("add" as const), fc.nat(30)), { maxLength: 200 }), (moves) => {
        const table = new FlightTable<number>();
        const model = new Map<number, number>();
        const keys: number[] = [];
        for (const [index, move] of moves.entries()) {
          if (move === "add") {
            const key = table.add(index);
            expect(keys).not.toContain(key);
            keys.push(key);
            model.set(key, index);
          } else {
            const key = keys[move] ?? -1;
            expect(table.get(key)).toBe(model.get(key));
            expect(table.delete(key)).toBe(model.get(key));
            model.delete(key);
          }
        }
        expect(table.size).toBe(model.size);
        expect(table.values().sort()).toEqual([...model.values()].sort());
      }),
    );
  });

  test("finds nothing under a key it never gave", () => {
    const table = new FlightTable<string>();
    table.add("a");
    for (const key of [-1, 0, 0.5, Number.NaN, 2 ** 53]) expect(table.get(key)).toBeUndefined();
  });
});
