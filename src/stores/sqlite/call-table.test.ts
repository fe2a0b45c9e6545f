import { expect, test } from "vitest";
import { CallTable } from "./call-table.ts";

type Item = { readonly call: string; readonly mark: number };

test("holds what a Map would hold, through any order of inserts and deletes", () => {
  const table = new CallTable<Item>();
  const map = new Map<string, Item>();
  // A fixed walk over few ids, so that places collide and items move up often.
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  for (let step = 0; step < 20_000; step++) {
    const call = `call-${next(90)}`;
    if (next(2) === 0) {
      table.set({ call, mark: step });
      map.set(call, { call, mark: step });
    } else {
      expect(table.delete(call)).toBe(map.delete(call));
    }
    expect(table.size).toBe(map.size);
    expect(table.has(call)).toBe(map.has(call));
  }
  const sorted = (items: Iterable<Item>) => [...items].sort((a, b) => a.call.localeCompare(b.call));
  expect(map.size).toBeGreaterThan(0);
  expect(sorted(table.values())).toEqual(sorted(map.values()));
});

test("grows, and is empty after clear", () => {
  const table = new CallTable<Item>();
  for (let mark = 0; mark < 1_000; mark++) table.set({ call: String(mark), mark });
  expect(table.size).toBe(1_000);
  expect(table.has("999")).toBe(true);
  table.clear();
  expect([table.size, table.has("999"), table.values()]).toEqual([0, false, []]);
});
