/** Callers who try what they may not. Whatever they are told, no server may ever hear of it. */
import { setTimeout as wait } from "node:timers/promises";
import type { Tally } from "../outcome.ts";
import { Calls } from "./calls.ts";
import type { Name, People } from "./people.ts";

export const INTRUDER = "intruder";
const KIND = "calls that nobody may make";

/** Each way is closed by another part of the policy. */
export function startIntruders(origin: string, people: People, tally: Tally) {
  const { attempts } = people;
  const tries = [
    ["denied by a grant", "ben", "modern.add", {}],
    ["switched off for the tenant", "bob", "rated.add", {}],
    ["denied by a rule about arguments", "ada", "modern.add", { ms: 5_000 }],
    ["for stewards only", "ann", "modern.wipe", {}],
    ["for stewards only, in another tenant", "bob", "legacy.wipe", {}],
    ["without a token", "", "modern.add", {}],
    ["with a made-up token", `isth_${"0".repeat(43)}`, "modern.add", {}],
  ] as const;
  let isOver = false;
  const loops = tries.map(async ([why, who, tool, args], place) => {
    const isKnown = who !== "" && !who.startsWith("isth_");
    const caller = isKnown ? people.of(who as Name) : { token: who, attempts };
    const calls = new Calls(origin, `${INTRUDER}${place}`, caller);
    for (let number = 1; !isOver; number++) {
      const { code, text } = await calls.call(tool, { mark: `${INTRUDER}${place}-${number}`, ...args });
      tally.note(KIND, code);
      if (code === "ok") tally.violate(`a call was made that is ${why}: ${text.slice(0, 300)}`);
      await wait(100);
    }
    calls.close();
  });
  return {
    async stop() {
      isOver = true;
      await Promise.all(loops);
    },
  };
}
