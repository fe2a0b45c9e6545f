/** A process that dies in the middle of a decision, or of using one. */
import { describe, expect, test } from "vitest";
import { trailOf, undecided } from "./traces.ts";
import { gateOf, ValveRig } from "./valve-rig.ts";

/** What a decision passes on its way into the store; the last only where a call uses a yes. */
const MOMENTS = [
  "audit.block.writing",
  "records.changes.writing",
  "sqlite.group.writing",
  "sqlite.group.written",
  "records.changes.written",
  "audit.block.written",
];

describe("when the process dies", () => {
  test.each(MOMENTS)("at %s of a yes, the yes is there or is not, and the call is made once", async (point) => {
    await using own = await ValveRig.start({ gate: 'hold = "50ms"' });
    const gate = gateOf(await own.call("plant.open", {}));
    await own.gateway.stop();
    await own.startAgain({ ISTHMUS_FAULT_POINT: point });
    await expect(own.confirm(gate)).rejects.toThrow();
    await own.gateway.program.exited;
    await own.startAgain();
    const [waiting] = await own.waiting();
    if (waiting) await own.confirm(gate);
    expect(own.made()).toEqual([]);
    expect((await own.call("plant.open", {})).result).toMatchObject({ content: [{ text: "did open" }] });
    expect(own.made()).toHaveLength(1);
  });

  test.each([...MOMENTS, "approvals.approval.consumed"])(
    "at %s of a call, it is asked for anew, never sent twice",
    async (point) => {
      await using own = await ValveRig.start({ gate: 'hold = "50ms"' });
      const gate = gateOf(await own.call("plant.open", {}));
      await own.confirm(gate);
      await own.gateway.stop();
      await own.startAgain({ ISTHMUS_FAULT_POINT: point });
      await expect(own.call("plant.open", {})).rejects.toThrow();
      await own.gateway.program.exited;
      expect(own.made()).toEqual([]);
      await own.startAgain();
      const [isLeft] = await own.waiting("approved");
      const answer = await own.call("plant.open", {});
      if (isLeft) expect(answer.result).toMatchObject({ content: [{ text: "did open" }] });
      else expect(gateOf(answer).confirmation_id).not.toBe(gate.confirmation_id);
      const replay = () => own.confirm(gate);
      const replayed = await trailOf(() => own).attack(replay, undecided("already_consumed", gate));
      expect(replayed).toMatchObject({ error: { data: { reason: "already_consumed" } } });
      expect(own.made()).toHaveLength(isLeft ? 1 : 0);
    },
  );
});
