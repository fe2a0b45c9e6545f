import { describe, expect, test } from "vitest";
import { startGateway } from "../e2e/kit/gateway.ts";
import { post, toolCall } from "../e2e/kit/rpc.ts";
import { eventually } from "../kit/eventually.ts";
import { callTool, openSession, outcomeOf, textOf } from "./kit/call.ts";
import { EventStream } from "./kit/event-stream.ts";
import { McpUpstream, type UpstreamCall } from "./kit/mcp-upstream.ts";
import { defects, metric } from "./kit/observe.ts";
import { scriptedServer } from "./kit/stdio-table.ts";

const SUSPENDED_MS = 3_000;

describe("a gateway that was suspended for 3 s", () => {
  test("goes on with its sessions and calls, and does nothing twice", async () => {
    const calls: UpstreamCall[] = [];
    await using upstream = await McpUpstream.start({ tools: ["slow"], onCall: (call) => void calls.push(call) });
    const config =
      upstream.table("up") + scriptedServer("pipe", 'timeout = "2s"') + scriptedServer("brief", 'idle = "2s"');
    await using gateway = await startGateway({ config });
    const { url } = gateway;
    const session = await openSession(url, { elicitation: {} });
    using listening = await EventStream.open(url, { method: "GET", headers: session });
    const streaming = EventStream.open(url, {
      method: "POST",
      headers: session,
      message: toolCall(1, "up.slow", {}, { progressToken: 1 }),
    });
    const call = (await eventually(
      () => calls[0],
      (one) => one !== undefined,
    )) as UpstreamCall;
    call.progress(1);
    using stream = await streaming;
    await stream.message(({ method }) => method === "notifications/progress");
    const hanging = callTool(url, session, "pipe.hang");
    await eventually(
      () => metric(gateway, "isthmus_runs_open"),
      (open) => open === 2,
    );

    gateway.program.child.kill("SIGSTOP");
    call.progress(2);
    call.answerText("slow");
    const asked = post(url, toolCall(2, "pipe.count", {}), session);
    await new Promise((resolve) => setTimeout(resolve, SUSPENDED_MS));
    gateway.program.child.kill("SIGCONT");

    // Its time was over while nothing could be told; it is told once.
    expect(outcomeOf(await hanging)).toBe("DEADLINE_PASSED");
    expect(textOf(await stream.message(({ id }) => id === 1))).toBe("slow");
    expect((await asked).messages).toMatchObject([{ id: 2, result: { content: [{ text: "1" }] } }]);
    expect(textOf(await callTool(url, session, "pipe.count"))).toBe("2");
    expect(textOf(await callTool(url, session, "brief.echo", { text: "awake" }))).toBe("awake");
    await eventually(() => stream.isEnded, Boolean);
    expect(stream.messages.map(({ id, params }) => id ?? params?.progress)).toEqual([1, 2, 1]);
    expect(calls).toHaveLength(1);
    expect(listening.isEnded).toBe(false);
    expect(
      await eventually(
        () => metric(gateway, "isthmus_runs_open"),
        (open) => open === 0,
      ),
    ).toBe(0);
    expect(await metric(gateway, "isthmus_calls_total", "DEADLINE_PASSED")).toBe(1);
    expect(await metric(gateway, "isthmus_events_late_total")).toBe(0);
    expect(defects(gateway)).toEqual([]);
  });
});
