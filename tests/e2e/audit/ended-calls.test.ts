/** What is told of a call that was at its server when the gateway ended: the same, however the gateway ended. */
import { describe, expect, test } from "vitest";
import { counter, until } from "../config/watching.ts";
import { openSession, post, toolCall } from "../kit/rpc.ts";
import { AuditRig } from "./audit-rig.ts";

const UNKNOWN = "OUTCOME_UNKNOWN";

/** A call that is made once, and takes longer than any gateway here lives. */
async function wait(rig: AuditRig, session: Record<string, string>): Promise<string> {
  const headers = { ...session, "idempotency-key": "k1" };
  const { messages } = await post(rig.gateway.url, toolCall(7, "echo.wait", { ms: 60_000 }), headers);
  return JSON.stringify(messages.at(-1));
}

/** Ends the gateway while a call is at its server, and starts it again: what the caller was told, and the log says. */
async function endAtWork(rig: AuditRig, signal: "SIGTERM" | "SIGKILL") {
  await rig.start();
  const session = await openSession(rig.gateway.url);
  const told = wait(rig, session).catch(() => "cut off");
  await until(async () => (await counter(rig.gateway.origin, "isthmus_runs_open")) === 1 || undefined, "the call");
  const { program } = rig.gateway;
  await program.stop(signal);
  const finished = program.stderr.split("\n").filter((line) => line.includes('"call finished"'));
  const result = { session, told: await told, logged: finished.map((line) => JSON.parse(line).code) };
  await rig.start();
  return result;
}

describe("a call that is at its server when the gateway ends", () => {
  test("by SIGTERM, and is not over in time, has an unknown outcome: for its caller, in the log and on the trail", async () => {
    await using rig = new AuditRig("[audit]\n", {}, 'drain = "200ms"');
    const { told, logged } = await endAtWork(rig, "SIGTERM");
    expect(told).toContain(UNKNOWN);
    expect(told).not.toContain("CANCELLED");
    expect(logged).toEqual([UNKNOWN]);
    const events = await rig.events("server_id=echo&limit=100");
    const codes = events.map(({ details }) => details.code).filter((code) => code !== undefined);
    expect(codes).toEqual([UNKNOWN]);
  });

  test.each(["SIGTERM", "SIGKILL"] as const)("by %s has an unknown outcome for whoever repeats it", async (signal) => {
    await using rig = new AuditRig("[audit]\n", {}, 'drain = "200ms"');
    const { session } = await endAtWork(rig, signal);
    expect(await wait(rig, session)).toContain(UNKNOWN);
  });
});
