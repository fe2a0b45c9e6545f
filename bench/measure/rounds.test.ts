import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type RoundOptions, runRounds } from "./rounds.ts";

const options: RoundOptions<number> = {
  names: ["a", "b", "c"],
  atLeast: 2,
  atMost: 4,
  measure: async () => 1,
  isSettled: () => false,
  contenders: () => ["a"],
};

describe("runRounds", () => {
  test("stops after the first settled round that is not too early", async () => {
    const { rounds } = await runRounds({ ...options, isSettled: () => true });
    assert.equal(rounds, 2);
  });

  test("goes on with the contenders alone, up to the limit", async () => {
    const { rounds, samples } = await runRounds(options);
    assert.equal(rounds, 4);
    assert.equal(samples.get("a")?.length, 4);
    assert.equal(samples.get("b")?.length, 2);
  });

  test("drops a candidate that failed once, and keeps its reason", async () => {
    const measure = async (name: string, round: number): Promise<number> => {
      if (name === "b" && round === 1) throw new Error("a wrong answer");
      return 1;
    };
    const { samples, errors } = await runRounds({ ...options, measure });
    assert.equal(samples.has("b"), false);
    assert.equal(errors.get("b"), "a wrong answer");
  });

  test("turns the order round after every round", async () => {
    const order: string[] = [];
    await runRounds({ ...options, atMost: 2, measure: async (name) => order.push(name) });
    assert.deepEqual(order, ["a", "b", "c", "c", "b", "a"]);
  });
});
