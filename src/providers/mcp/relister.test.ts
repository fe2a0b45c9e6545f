import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { flush } from "../../../tests/kit/test-kernel.ts";
import type { ListedKind } from "../../contract/index.ts";
import { Relister } from "./relister.ts";

/** Every listing takes this long. */
function rig(ms: number) {
  const time = new ManualTime();
  const listed: ListedKind[][] = [];
  const relister = new Relister({
    clock: time,
    timers: time,
    async list(kinds, effort) {
      listed.push([...kinds]);
      effort.ms += ms;
    },
  });
  return { time, relister, listed };
}

describe("Relister", () => {
  test("lists at once what costs nothing, however often it is wanted", async () => {
    const { relister, listed } = rig(1);
    for (let turn = 0; turn < 3; turn++) await relister.want(["tool"]);
    expect(listed).toHaveLength(3);
  });

  test("waits twenty times as long as the last listing took, and does together what was wanted meanwhile", async () => {
    const { time, relister, listed } = rig(300);
    await relister.want(["tool"]);
    for (let second = 0; second < 6; second++) {
      void relister.want(second % 2 === 0 ? ["tool"] : ["prompt"]);
      await flush();
      expect(listed).toHaveLength(1);
      if (second < 5) time.advance(1_000);
    }
    time.advance(1_000);
    await flush();
    expect(listed).toEqual([["tool"], ["tool", "prompt"]]);
  });

  test("waits a minute at most", async () => {
    const { time, relister, listed } = rig(100_000);
    await relister.want(["tool"]);
    void relister.want(["tool"]);
    await flush();
    time.advance(59_999);
    await flush();
    expect(listed).toHaveLength(1);
    time.advance(1);
    await flush();
    expect(listed).toHaveLength(2);
  });

  test("does not let another session wait for what the former one has cost", async () => {
    const { relister, listed } = rig(1_000);
    await relister.want(["tool"]);
    const waiting = relister.want(["tool"]);
    await flush();
    relister.hurry();
    await waiting;
    expect(listed).toHaveLength(2);
  });
});
