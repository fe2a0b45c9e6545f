import { expect, test } from "vitest";
import { fakeCall, fakeSession } from "../../tests/kit/fake-host.ts";
import { ManualTime } from "../../tests/kit/manual-time.ts";
import { type AuditEvent, type Call, type CallEvent, GatewayError, type Next, payload } from "../contract/index.ts";
import { MemoryCounters } from "../stores/memory/index.ts";
import { taskStage } from "./task-stage.ts";

const OUT = { write: () => true, ready: () => Promise.resolve() };
const task = (id: string) =>
  ({ id, principal: { id: "ann" }, target: { provider: "st", kind: "tool", name: "dump" }, expiresAt: 9e9 }) as const;
const about = (id: string, parts: Partial<Omit<Call, "input">> = {}) =>
  fakeCall({ resumes: id, task: task(id), method: "x/about", verb: "raw", principal: { id: "ann" }, ...parts });

function started(hasPlain = true) {
  const time = new ManualTime();
  const noted: AuditEvent[] = [];
  const counters = new MemoryCounters({ clock: time, isAlive: () => true });
  const stage = taskStage({ counters, trail: { note: (event) => void noted.push(event) }, hasPlain });
  const answer = (end: Partial<CallEvent & { type: "end" }> = {}): Next => {
    return async (_call, out) => void out.write({ type: "end", outcome: "result", payload: payload("{}"), ...end });
  };
  return { time, noted, answer, run: (call: Call, next = answer()) => stage(call, OUT, next) };
}

const briefly = ({ type, result, details: { status, code } }: AuditEvent) => [type.slice(17), result, status ?? code];

test("the end of a task is noted once for each way that it is told, whoever hears of it how often", async () => {
  const { noted, answer, run } = started();
  for (const endsTask of ["completed", "completed", "failed", "failed"] as const)
    await run(about("t"), answer({ endsTask }));
  await run(about("other"), answer({ endsTask: "cancelled" }));
  expect(noted.map(briefly)).toEqual([
    ["ended", "SUCCESS", "completed"],
    ["ended", "FAILURE", "failed"],
    ["ended", "FAILURE", "cancelled"],
  ]);
  expect(noted[0]).toMatchObject({ actor: { id: "ann" }, target: { server: "st", name: "dump" } });
  expect(noted[0]?.details).toMatchObject({ task_id: "t", method: "x/about" });
});

test("a cancel is noted once, however it ends", async () => {
  const { noted, answer, run } = started();
  const cancel = about("t", { cancels: true });
  await run(cancel, answer());
  await run(cancel, answer({ outcome: "fault" }));
  await run(cancel, async (_call, out) => void out.write({ type: "error", error: new GatewayError("CANCELLED") }));
  const refused = run(cancel, () => Promise.reject(new GatewayError("PROVIDER_UNREACHABLE")));
  await expect(refused).rejects.toMatchObject({ code: "PROVIDER_UNREACHABLE" });
  expect(noted.map(briefly)).toEqual([
    ["cancelled", "SUCCESS", undefined],
    ["cancelled", "FAILURE", "fault"],
    ["cancelled", "FAILURE", "CANCELLED"],
    ["cancelled", "FAILURE", "PROVIDER_UNREACHABLE"],
  ]);
});

test("60 words about a task go on at once, and two in each second; other tasks and callers have their own", async () => {
  const { time, run } = started(false);
  for (let at = 0; at < 60; at++) await run(about("t"));
  await expect(run(about("t"))).rejects.toMatchObject({ code: "LIMITED", details: { retryAfterMs: 500 } });
  await expect(run(about("t"))).rejects.toThrow("Try again in 0.5 s.");
  await run(about("other"));
  await run(about("t", { principal: { id: "bob" } }));
  time.advance(1000);
  for (let at = 0; at < 2; at++) await run(about("t"));
  await expect(run(about("t"))).rejects.toMatchObject({ code: "LIMITED" });
});

test("who has asked too often how a task is can still cancel it and wait for its result", async () => {
  const { run } = started(false);
  for (let at = 0; at < 60; at++) await run(about("t", { method: "tasks/get" }));
  await expect(run(about("t", { method: "tasks/get" }))).rejects.toMatchObject({ code: "LIMITED" });
  await run(about("t", { method: "tasks/cancel", cancels: true }));
  for (let at = 0; at < 60; at++) await run(about("t", { method: "tasks/result" }));
  await expect(run(about("t", { method: "tasks/result" }))).rejects.toMatchObject({ code: "LIMITED" });
});

test("what another process asks for its callers, and all other calls, go through as they are", async () => {
  const { noted, answer, run } = started();
  const session = { ...fakeSession("p"), isPeer: true };
  for (let at = 0; at < 100; at++) {
    await run(about("t", { session, cancels: true }), answer({ endsTask: "completed" }));
    await run(fakeCall(), answer());
  }
  expect(noted).toEqual([]);
});

test("nothing is noted where calls are not", async () => {
  const { noted, answer, run } = started(false);
  await run(about("t", { cancels: true }), answer({ endsTask: "cancelled" }));
  expect(noted).toEqual([]);
});
