import { describe, expect, test, vi } from "vitest";
import { WaitingLines } from "./waiting-lines.ts";

const caller = (user: string, tenant = "default", id = user) => ({ tenant, user, id });

/** Lines of one letter each, which say who wrote them. */
function rig(maxBytes = 1_000) {
  const lines = new WaitingLines(maxBytes);
  const refused = vi.fn();
  const add = (tag: string, bytes: number, of: Parameters<WaitingLines["add"]>[1]) => {
    const line = { text: "x".repeat(bytes), tag, refuse: () => refused(tag) };
    lines.add(line, of);
    return line;
  };
  const takeAll = () => {
    const taken: string[] = [];
    for (let line = lines.take(); line; line = lines.take()) taken.push(line.tag ?? "");
    return taken;
  };
  return { lines, refused, add, takeAll };
}

describe("lines that wait for a pipe", () => {
  test("go in their order where they are of one caller, and small ones before large ones of others", () => {
    const { add, takeAll } = rig();
    add("a1", 100, caller("ann"));
    add("a2", 1, caller("ann"));
    add("b1", 10, caller("bob"));
    add("b2", 10, caller("bob"));
    expect(takeAll()).toEqual(["b1", "b2", "a1", "a2"]);
  });

  test("give each caller as much of the pipe, however many others write little", () => {
    const { add, takeAll } = rig();
    add("a", 35, caller("ann"));
    for (let turn = 0; turn < 6; turn++) add(`b${turn}`, 10, caller("bob"));
    expect(takeAll()).toEqual(["b0", "b1", "b2", "a", "b3", "b4", "b5"]);
  });

  test.each([
    ["tokens of one user", (at: number) => caller("ann", "default", `token ${at}`)],
    ["users of one tenant", (at: number) => caller(`user ${at}`, "acme")],
    ["programs of one tenant", (at: number) => caller("", "acme", `program ${at}`)],
  ])("count %s as one", (_, of) => {
    const { add, takeAll } = rig();
    for (let at = 0; at < 9; at++) add(`a${at}`, 10, of(at));
    for (let at = 0; at < 3; at++) add(`b${at}`, 10, caller("bob", "other"));
    expect(
      takeAll()
        .slice(0, 6)
        .filter((tag) => tag.startsWith("b")),
    ).toHaveLength(3);
  });

  test("are refused where too much waits: what came last of whoever has most", () => {
    const { add, refused, takeAll } = rig(100);
    add("a1", 50, caller("ann"));
    add("a2", 40, caller("ann"));
    add("b", 20, caller("bob"));
    expect(refused.mock.calls).toEqual([["a2"]]);
    add("a3", 60, caller("ann"));
    expect(refused.mock.calls).toEqual([["a2"], ["a3"]]);
    expect(takeAll()).toEqual(["b", "a1"]);
  });

  test("are not refused alone, however large", () => {
    const { add, refused, takeAll } = rig(100);
    add("a", 500, caller("ann"));
    expect([refused.mock.calls, takeAll()]).toEqual([[], ["a"]]);
  });

  test("go in their order, however many come, go and are taken back between", () => {
    const { lines, add } = rig(1_000_000);
    const waiting: string[] = [];
    const taken: (string | undefined)[] = [];
    for (let at = 0; at < 1_000; at++) {
      const line = add(`${at}`, 1, undefined);
      if (at % 7 === 3) lines.remove(line);
      else waiting.push(`${at}`);
      if (at % 3 === 0) taken.push(lines.take()?.tag);
    }
    for (let line = lines.take(); line; line = lines.take()) taken.push(line.tag);
    expect(taken).toEqual(waiting);
  });

  test("of which a hundred thousand wait go as fast as few", () => {
    const { add, takeAll } = rig(1_000_000);
    for (let at = 0; at < 100_000; at++) add("a", 1, undefined);
    expect(takeAll()).toHaveLength(100_000);
  });

  test("can be taken back while they wait", () => {
    const { lines, add, takeAll } = rig();
    const line = add("a", 5, caller("ann"));
    add("own", 5, undefined);
    expect(lines.tags).toEqual(["a", "own"]);
    expect([lines.remove(line), lines.remove(line)]).toEqual([true, false]);
    expect(takeAll()).toEqual(["own"]);
  });
});
