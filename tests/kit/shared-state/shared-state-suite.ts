/** The contract of SharedState, tried on every implementation of it. */
import { describe, expect, test } from "vitest";
import { callsSuite } from "./calls-suite.ts";
import { channelSuite } from "./channel-suite.ts";
import { entriesSuite } from "./entries-suite.ts";
import { limitsSuite } from "./limits-suite.ts";
import { logsSuite } from "./logs-suite.ts";
import { membersSuite } from "./members-suite.ts";
import type { StartRig } from "./shared-state-rig.ts";

export function describeSharedState(name: string, start: StartRig): void {
  describe(`shared state on ${name}`, () => {
    describe("members", () => membersSuite(start));
    describe("entries", () => entriesSuite(start));
    describe("logs", () => logsSuite(start));
    describe("channel", () => channelSuite(start));
    describe("calls", () => callsSuite(start));
    describe("limits", () => limitsSuite(start));

    test("is up, and may be closed twice", async () => {
      const rig = await start();
      expect([rig.here.isUp, rig.there.isUp]).toEqual([true, true]);
      await rig.here.close();
      await rig.here.close();
      await rig.close();
    });
  });
}
