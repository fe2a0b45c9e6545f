import { expect, test } from "vitest";
import { loadConfig } from "./load-config.ts";

function load(table: Record<string, unknown>) {
  return loadConfig({ table, originOf: () => undefined, files: [] }, { env: {} });
}

test("a limit is read as it is counted: rates in whole numbers, what is left out for all", () => {
  const { limits } = load({
    servers: [{ id: "crm", command: "node" }],
    limits: [
      { server: "crm", user: "*", per: ["user"], capacity: 20, refill: "0.5/s" },
      { tenant: "org-*", concurrency: 3, budget: 1000 },
    ],
  });
  expect(limits).toEqual([
    { selector: { server: "crm", user: "*" }, per: ["user"], rate: { capacity: 20, refill: 5, periodMs: 10_000 } },
    { selector: { tenant: "org-*" }, per: [], concurrency: 3, budget: 1000 },
  ]);
});

test("without limits there are none, and nothing is kept away", () => {
  const { limits, gateway } = load({ gateway: { edge: {} } });
  expect(limits).toEqual([]);
  expect(gateway.edge).toBeUndefined();
});

test("the edge takes a rate for addresses, one for tokens, or both", () => {
  const { gateway } = load({ gateway: { edge: { token: { capacity: 100, refill: "10/s" } } } });
  expect(gateway.edge).toEqual({ token: { capacity: 100, refill: 10, periodMs: 1_000 } });
});
