import { describe, expect, test } from "vitest";
import { bytesHeldAfter } from "../../tests/kit/held-memory.ts";
import type { Target, Timing } from "../contract/index.ts";
import { type FinishedCall, RecentCalls } from "./recent-calls.ts";

function finished(id: string, timing?: Timing): FinishedCall {
  const target = { provider: "files", kind: "tool", name: "read" } as const;
  const origin = { front: "mcp", protocol: "2025-11-25", requestId: "1" };
  const call = { id, target, principal: { id: "local" }, origin, ...(timing && { timing }) };
  return { call, code: "ok", startedAt: 10, endedAt: 20 };
}

const MIB = 1024 * 1024;

function called(id: string, target: Target): FinishedCall {
  const { call, ...rest } = finished(id);
  return { ...rest, call: { ...call, target } };
}

describe("RecentCalls", () => {
  test("tells how long each step took; together they are the duration", () => {
    const recent = new RecentCalls(0);
    const stages = ["trace", "authorize", "dispatch"];
    recent.add(finished("c1", { stages, entered: [10, 10.5, 11], sentAt: 13, firstAt: 19, repeats: 0 }));
    expect(recent.find("c1")?.steps).toEqual([
      { name: "trace", ms: 0.5 },
      { name: "authorize", ms: 0.5 },
      { name: "dispatch", ms: 2 },
      { name: "provider", ms: 6 },
      { name: "rest of the answer", ms: 1 },
    ]);
  });

  test("says how far a call came that never reached its provider", () => {
    const recent = new RecentCalls(0);
    recent.add(
      finished("c1", {
        stages: ["trace", "authorize", "dispatch"],
        entered: [10, 11],
        sentAt: 0,
        firstAt: 0,
        repeats: 0,
      }),
    );
    expect(recent.find("c1")?.steps).toEqual([
      { name: "trace", ms: 1 },
      { name: "authorize", ms: 9 },
    ]);
  });

  test("keeps the last thousand and no more", () => {
    const recent = new RecentCalls(0);
    for (let n = 0; n < 3000; n++) recent.add(finished(`c${n}`));
    expect(recent.list(2).map(({ callId }) => callId)).toEqual(["c2999", "c2998"]);
    expect(recent.list(9999)).toHaveLength(1024);
    expect([recent.find("c1975"), recent.find("c1976")?.callId]).toEqual([undefined, "c1976"]);
  });

  test("keeps of a long name what is shown of it, and of a message nothing", async () => {
    const recent = new RecentCalls(0);
    const long = `x://${"n".repeat(3000)}`;
    recent.add(called("long", { provider: "files", kind: "resource", name: long }));
    expect(recent.find("long")?.target).toBe(`files/${long.slice(0, 512)}…`);
    const held = await bytesHeldAfter(() => {
      for (let count = 0; count < 40; count++) {
        const message = `${count}${"m".repeat(MIB)}x://a-name-of-20-letters`;
        recent.add(called(`r${count}`, { provider: "files", kind: "resource", name: message.slice(-24) }));
        recent.add(called(`m${count}`, { provider: "files", kind: "operation", name: message.slice(1, -20) }));
      }
    });
    expect(recent.find("r7")?.target).toBe("files/x://a-name-of-20-letters");
    expect(held).toBeLessThan(10 * MIB);
  });
});
