import { describe, expect, test } from "vitest";
import { callTool, openSession, textOf } from "../../hostile/kit/call.ts";
import { EventStream } from "../../hostile/kit/event-stream.ts";
import { McpUpstream, type UpstreamCall } from "../../hostile/kit/mcp-upstream.ts";
import { MIB, metric, residentBytes } from "../../hostile/kit/observe.ts";
import { scriptedServer } from "../../hostile/kit/stdio-table.ts";
import { eventually } from "../../kit/eventually.ts";
import { type RunningGateway, startGateway } from "../kit/gateway.ts";
import { toolCall } from "../kit/rpc.ts";

const FLOOD_BYTES = 200 * MIB;
/** What the gateway may take on top for a reader that does not read, whatever the server sends. */
const GROWTH_BYTES = 40 * MIB;
/** And while it reads all of it and drops nearly all, with garbage between two collections. */
const DROPPING_GROWTH_BYTES = 72 * MIB;
/** Collects garbage often, so that what grows is what is held; and ends the process should it hold much. */
const env = { NODE_OPTIONS: "--max-semi-space-size=1 --max-old-space-size=64" };
const message = "x".repeat(4000);

/** Writes progress as fast as the socket takes it, until 200 MiB are out or the gateway has read nothing for a second. */
async function flood(call: UpstreamCall): Promise<{ sent: number; wasPaused: boolean }> {
  let sent = 0;
  for (let step = 0; sent < FLOOD_BYTES; step++) {
    sent += message.length;
    if (call.progress(step, { message })) continue;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(true), 1000);
    call.response.once("drain", () => resolve(false));
    const wasPaused = await promise;
    clearTimeout(timer);
    if (wasPaused) return { sent, wasPaused };
  }
  return { sent, wasPaused: false };
}

async function growthDuring(gateway: RunningGateway, work: () => Promise<unknown>): Promise<number> {
  const before = residentBytes(gateway);
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, residentBytes(gateway) - before);
  }, 50);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return Math.max(most, residentBytes(gateway) - before);
}

const open = (gateway: RunningGateway, headers: Record<string, string>, name: string, args = {}) =>
  EventStream.open(gateway.url, { method: "POST", headers, message: toolCall(1, name, args, { progressToken: 1 }) });

describe("a client that stops reading", () => {
  test("pauses the socket of an HTTP server, and the gateway stays small", async () => {
    const calls: UpstreamCall[] = [];
    await using upstream = await McpUpstream.start({ tools: ["flood"], onCall: (call) => void calls.push(call) });
    await using gateway = await startGateway({ config: upstream.table("up"), env });
    const session = await openSession(gateway.url);
    const opening = open(gateway, session, "up.flood");
    const call = (await eventually(
      () => calls[0],
      (one) => one !== undefined,
    )) as UpstreamCall;
    call.progress(0);
    const stream = await opening;
    stream.stopReading();
    let outcome = { sent: 0, wasPaused: false };
    const growth = await growthDuring(gateway, async () => {
      outcome = await flood(call);
    });
    expect(outcome.wasPaused).toBe(true);
    // What the buffers of two sockets and one journal hold, and no more.
    expect(outcome.sent).toBeLessThan(24 * MIB);
    expect(growth).toBeLessThan(GROWTH_BYTES);
    expect(await metric(gateway, "isthmus_events_dropped_total")).toBe(0);
    // The reader goes on: it gets every one of them, in order, and the result.
    stream.readAgain();
    call.answerText("flooded");
    expect(textOf(await stream.message(({ id }) => id === 1))).toBe("flooded");
    const steps = stream.messages.flatMap(({ params }) => params?.progress ?? []);
    expect(steps).toEqual(Array.from(steps, (_, index) => (index === 0 ? 0 : index - 1)));
  });

  test("loses progress of a stdio server, counted, while other calls on the same pipe go on", async () => {
    await using gateway = await startGateway({ config: scriptedServer("pipe"), env });
    const session = await openSession(gateway.url);
    const stream = await open(gateway, session, "pipe.flood", { megabytes: 60 });
    stream.stopReading();
    const other = await openSession(gateway.url);
    const growth = await growthDuring(gateway, async () => {
      for (let turn = 0; turn < 20; turn++) {
        expect(textOf(await callTool(gateway.url, other, "pipe.echo", { text: `turn ${turn}` }))).toBe(`turn ${turn}`);
      }
      const dropped = () => metric(gateway, "isthmus_events_dropped_total", "progress");
      expect(await eventually(dropped, (count) => count > 50_000, 20_000)).toBeGreaterThan(50_000);
    });
    expect(growth).toBeLessThan(DROPPING_GROWTH_BYTES);
    stream.readAgain();
    expect(textOf(await stream.message(({ id }) => id === 1))).toBe("flooded");
  });

  test("costs nothing more when it has gone altogether", async () => {
    const calls: UpstreamCall[] = [];
    await using upstream = await McpUpstream.start({ tools: ["flood"], onCall: (call) => void calls.push(call) });
    await using gateway = await startGateway({ config: upstream.table("up"), env });
    const session = await openSession(gateway.url);
    const opening = open(gateway, session, "up.flood");
    const call = (await eventually(
      () => calls[0],
      (one) => one !== undefined,
    )) as UpstreamCall;
    call.progress(0);
    const stream = await opening;
    await stream.message(({ method }) => method === "notifications/progress");
    const lastId = stream.lastId as string;
    stream.cut();
    let outcome = { sent: 0, wasPaused: true };
    const growth = await growthDuring(gateway, async () => {
      outcome = await flood(call);
    });
    expect(outcome).toEqual({ sent: expect.any(Number), wasPaused: false });
    expect(growth).toBeLessThan(DROPPING_GROWTH_BYTES);
    expect(await metric(gateway, "isthmus_events_dropped_total", "progress")).toBeGreaterThan(10_000);
    call.answerText("flooded");
    using back = await EventStream.open(gateway.url, {
      method: "GET",
      headers: { ...session, "last-event-id": lastId },
    });
    expect(textOf(await back.message(({ id }) => id === 1))).toBe("flooded");
  });
});

describe("calls that have ended and are kept for readers that come back", () => {
  test("are held within their bound, together with what they were asked", async () => {
    await using upstream = await McpUpstream.start({
      tools: ["talk"],
      onCall(call) {
        call.progress(1);
        call.answerText("done");
      },
    });
    await using gateway = await startGateway({
      config: upstream.table("up"),
      env: { NODE_OPTIONS: "--max-old-space-size=160" },
    });
    const session = await openSession(gateway.url);
    const text = "x".repeat(3 * MIB);
    // 300 MiB: the process would end, had it to hold them all.
    for (let turn = 0; turn < 25; turn++) {
      const calls = [1, 2].map(() => callTool(gateway.url, session, "up.talk", { text }, { progressToken: 1 }));
      for (const answer of await Promise.all(calls)) expect(textOf(answer)).toBe("done");
    }
    expect(await metric(gateway, "isthmus_runs_kept")).toBeGreaterThan(0);
    expect(await metric(gateway, "isthmus_runs_evicted_total")).toBeGreaterThan(0);
  });
});
