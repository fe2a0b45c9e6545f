/** Callers who together want more than the one small bucket has. */
import { setTimeout as wait } from "node:timers/promises";
import type { Execution, Tally } from "../outcome.ts";
import { Calls } from "./calls.ts";
import type { People } from "./people.ts";
import { METERED } from "./policy.ts";

const MARK = "metered";
const KIND = "calls under a small limit";

export function startMetered(origin: string, people: People, tally: Tally) {
  let isOver = false;
  const startedAt = Date.now();
  let elapsedMs = 0;
  const loops = (["ada", "bob", "ann"] as const).map(async (who) => {
    const calls = new Calls(origin, `${MARK}-${who}`, people.of(who));
    for (let number = 1; !isOver; number++) {
      const { code } = await calls.call("metered.add", { mark: `${MARK}-${who}-${number}` });
      tally.note(KIND, code);
      await wait(20);
    }
    calls.close();
  });
  return {
    async stop() {
      isOver = true;
      await Promise.all(loops);
      elapsedMs = Date.now() - startedAt;
    },
    /** `spare`: how much more may have been let through by processes that could not count together. */
    judge(executions: readonly Execution[], spare = 0) {
      const made = executions.filter(({ mark }) => mark.startsWith(MARK)).length;
      const most = METERED.capacity + Math.floor((elapsedMs * METERED.perSecond) / 1_000) + 1 + spare;
      tally.note(KIND, `made, of at most ${most}`, made);
      if (made > most) tally.violate(`${made} calls passed a limit that lets ${most} through in ${elapsedMs} ms`);
    },
  };
}
