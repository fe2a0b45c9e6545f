import { describe, expect, test } from "vitest";
import { callTool, openSession, outcomeOf, textOf } from "../../hostile/kit/call.ts";
import { McpUpstream, type UpstreamCall } from "../../hostile/kit/mcp-upstream.ts";
import { metric } from "../../hostile/kit/observe.ts";
import { scriptedServer } from "../../hostile/kit/stdio-table.ts";
import { eventually } from "../../kit/eventually.ts";
import { startGateway } from "../kit/gateway.ts";
import { post, toolCall } from "../kit/rpc.ts";

describe("a server that ignores cancel", () => {
  test("over stdio frees its slot when the call's time is over, and its late answer is counted and dropped", async () => {
    const config = scriptedServer("deaf", 'concurrency = 1\ntimeout = "4s"');
    await using gateway = await startGateway({ config });
    const session = await openSession(gateway.url);
    const cancelled = post(gateway.url, toolCall(1, "deaf.deaf", {}), session);
    await eventually(
      () => metric(gateway, "isthmus_runs_open"),
      (open) => open === 1,
    );
    const waiting = callTool(gateway.url, session, "deaf.echo", { text: "next" });
    await eventually(
      () => metric(gateway, "isthmus_runs_open"),
      (open) => open === 2,
    );
    await post(gateway.url, { method: "notifications/cancelled", params: { requestId: 1 } }, session);
    // Its own time is over before the slot is free; that of a later one is not.
    expect(outcomeOf(await waiting)).toBe("DEADLINE_PASSED");
    expect(textOf(await callTool(gateway.url, session, "deaf.echo", { text: "next" }))).toBe("next");
    expect((await cancelled).messages).toEqual([]);
    expect(textOf(await callTool(gateway.url, session, "deaf.wake"))).toBe("1");
    const late = () => metric(gateway, "isthmus_events_late_total", "deaf");
    expect(await eventually(late, (count) => count === 1)).toBe(1);
  });

  test("over HTTP frees its slot when the deadline passes, and gives its sockets back", async () => {
    const held: UpstreamCall[] = [];
    await using upstream = await McpUpstream.start({
      tools: ["deaf", "echo"],
      onCall: (call) => (call.message.params?.name === "deaf" ? void held.push(call) : call.answerText("next")),
    });
    await using gateway = await startGateway({ config: upstream.table("deaf", 'concurrency = 1\ntimeout = "1s"') });
    const session = await openSession(gateway.url);
    const first = callTool(gateway.url, session, "deaf.deaf");
    await eventually(
      () => held.length,
      (count) => count === 1,
    );
    const second = callTool(gateway.url, session, "deaf.echo");
    expect(outcomeOf(await first)).toBe("DEADLINE_PASSED");
    // Who waits in line has no longer than that either.
    expect(outcomeOf(await second)).toBe("DEADLINE_PASSED");
    await expect
      .poll(async () => textOf(await callTool(gateway.url, session, "deaf.echo")), { timeout: 30_000 })
      .toBe("next");
    held[0]?.answerText("late");
    expect(
      await eventually(
        () => metric(gateway, "isthmus_runs_open"),
        (open) => open === 0,
      ),
    ).toBe(0);
  });

  test("does not keep sockets open when it does not even take the cancel", async () => {
    let isStuck = true;
    const stuck: UpstreamCall[] = [];
    await using upstream = await McpUpstream.start({
      tools: ["work"],
      onCall: (call) => (isStuck ? void stuck.push(call) : call.answerText("well")),
      // It reads the cancel and never answers it.
      onRequest: (message) => message.method === "notifications/cancelled",
    });
    await using gateway = await startGateway({ config: upstream.table("up", 'timeout = "500ms"\nbreaker = false') });
    const session = await openSession(gateway.url);
    const answers = await Promise.all(Array.from({ length: 40 }, () => callTool(gateway.url, session, "up.work")));
    expect(new Set(answers.map(outcomeOf))).toEqual(new Set(["DEADLINE_PASSED"]));
    isStuck = false;
    expect(textOf(await callTool(gateway.url, session, "up.work"))).toBe("well");
    expect(
      await eventually(
        () => upstream.sockets,
        (count) => count < 10,
        8_000,
      ),
    ).toBeLessThan(10);
  });
});
