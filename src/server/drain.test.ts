import { expect, test } from "vitest";
import { type DrainedParts, drain } from "./drain.ts";

/** What a drain does to its parts, in order. `releaseIdle`: it has waited for others once more. */
async function drained(isListening: boolean, drainMs: number): Promise<string[]> {
  const done: string[] = [];
  const note = (what: string) => () => void done.push(what);
  const parts: DrainedParts = {
    front: { leave: note("front.leave"), waiting: 0 },
    http: {
      isListening,
      leave: note("leave"),
      takeWaiting: async () => void done.push("takeWaiting"),
      stopAccepting: note("stopAccepting"),
      closeIdle: note("closeIdle"),
    },
    cluster: { hop: { passing: 0, drain: note("hop.drain") } },
    sessions: { releaseIdle: async () => void done.push("releaseIdle") },
    kernel: { stats: () => ({ open: 0 }) },
    drainMs,
  };
  await drain(parts);
  return done;
}

test("a process among others goes on taking connections until balancers have heard that it leaves", async () => {
  const done = await drained(true, 50);
  expect(done.slice(0, 4)).toEqual(["front.leave", "leave", "hop.drain", "releaseIdle"]);
  expect(done.at(-1)).toBe("closeIdle");
});

test("one that listens nowhere, as a verb that uses the stores of others, leaves what it has at once", async () => {
  expect(await drained(false, 60_000)).toEqual([
    "front.leave",
    "leave",
    "hop.drain",
    "takeWaiting",
    "stopAccepting",
    "closeIdle",
    "releaseIdle",
    "closeIdle",
  ]);
});
