import { describe, expect, test } from "vitest";
import { monotonicClock } from "../../../tests/kit/fake-host.ts";
import { armFaultPoints, type SharedState } from "../../contract/index.ts";
import { createMemorySharedState } from "../../stores/memory/index.ts";
import { createUpstreamMemory } from "./upstream-memory.ts";

async function openState(...members: string[]): Promise<SharedState> {
  const state = createMemorySharedState({ clock: monotonicClock });
  for (const id of members) await state.members.join({ id, address: "" }, 60_000);
  return state;
}

const memoryOf = ({ entries }: SharedState, id: string) => createUpstreamMemory({ entries, member: () => id });

describe("createUpstreamMemory", () => {
  test("gives what was remembered last to whoever takes over from a process that is gone, with a turn of its own", async () => {
    const state = await openState("a", "b", "c");
    const [a, b, c] = [memoryOf(state, "a"), memoryOf(state, "b"), memoryOf(state, "c")];
    expect(await a.remember("p", "s", "1", true)).toBe(true);
    expect(await a.remember("p", "s", "2", false)).toBe(true);
    await state.members.leave("a");
    const second = await b.recall("p", "s");
    expect(second?.state).toBe("2");
    expect(await b.remember("p", "s", "3", false)).toBe(true);
    await state.members.leave("b");
    const third = await c.recall("p", "s");
    expect(third?.state).toBe("3");
    expect(third?.turn).toBeGreaterThan(second?.turn ?? 0);
  });

  test("goes along with a session that a living process has given up, and leaves that one to write in vain", async () => {
    const state = await openState("a", "b");
    const [a, b] = [memoryOf(state, "a"), memoryOf(state, "b")];
    await a.remember("p", "s", "1", true);
    expect(await b.remember("p", "s", "2", false)).toBe(false);
    expect(await b.recall("p", "s")).toMatchObject({ state: "1", turn: 2 });
    expect(await a.remember("p", "s", "late", false)).toBe(false);
    await a.forget("p", "s");
    expect(await b.recall("p", "s")).toMatchObject({ state: "1" });
  });

  test("lets a process that was taken for dead write in vain", async () => {
    const state = await openState("a", "b");
    const [a, b] = [memoryOf(state, "a"), memoryOf(state, "b")];
    await a.remember("p", "s", "1", true);
    await state.members.leave("a");
    await b.recall("p", "s");
    expect(await a.remember("p", "s", "late", false)).toBe(false);
    await a.forget("p", "s");
    expect(await b.recall("p", "s")).toMatchObject({ state: "1" });
  });

  test("takes nothing that has not been recalled first, though its owner is gone", async () => {
    const state = await openState("a", "b", "c");
    await memoryOf(state, "a").remember("p", "s", "1", true);
    await state.members.leave("a");
    expect(await memoryOf(state, "b").remember("p", "s", "2", false)).toBe(false);
    expect(await memoryOf(state, "c").recall("p", "s")).toMatchObject({ state: "1" });
  });

  test("begins anew where what was left does not fit", async () => {
    const state = await openState("a", "b");
    await memoryOf(state, "a").remember("p", "s", "1", true);
    await state.members.leave("a");
    const b = memoryOf(state, "b");
    expect(await b.remember("p", "s", "2", true)).toBe(true);
    expect(await b.recall("p", "s")).toMatchObject({ state: "2" });
  });

  test("keeps servers and sessions apart, and forgets one at a time", async () => {
    const state = await openState("a");
    const memory = memoryOf(state, "a");
    await memory.remember("p", "s", "1", true);
    await memory.remember("q", "s", "2", true);
    await memory.remember("p", "t", "3", true);
    await memory.forget("p", "s");
    expect(await memory.recall("p", "s")).toBeUndefined();
    expect(await memory.recall("q", "s")).toMatchObject({ state: "2" });
    expect(await memory.recall("p", "t")).toMatchObject({ state: "3" });
  });

  test("is durable at the point that says so, and not before", async () => {
    const state = await openState("a");
    const memory = memoryOf(state, "a");
    const seen: [string, unknown][] = [];
    const points: Promise<void>[] = [];
    armFaultPoints((point) => {
      points.push(
        state.entries.get("upstream:s:p").then((entry) => {
          seen.push([point, entry?.value]);
        }),
      );
    });
    try {
      await memory.remember("p", "s", "1", true);
      await Promise.all(points);
    } finally {
      armFaultPoints(undefined);
    }
    expect(seen.at(-1)).toEqual(["upstream.session.remembered", "1"]);
  });
});
