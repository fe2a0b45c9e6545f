import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { FakeOut, fakeSession, monotonicClock, nodeTimers, toolCall } from "../../../tests/kit/fake-host.ts";
import { testKernel } from "../../../tests/kit/test-kernel.ts";
import type { CallEvent, SessionRef } from "../../contract/index.ts";
import { createProvider, openProvider, type Setup, stdioConfig } from "./fixtures/setup.ts";

type Runner = Pick<Setup, "provider">;

/** Which process serves the next call. */
async function pidOf({ provider }: Runner, session?: SessionRef): Promise<number> {
  const out = new FakeOut();
  await provider.run(toolCall("who", {}, { session }), out);
  const { content } = out.result as { content: [{ text: string }] };
  return (JSON.parse(content[0].text) as { pid: number }).pid;
}

function start({ provider }: Runner, tool: string, args: object = {}, session?: SessionRef): Promise<unknown> {
  return provider.run(toolCall(tool, args, { session }), new FakeOut()).catch((error: unknown) => error);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Kills a child, and comes back when its pipes are closed but we have had no chance to hear of it. */
function killUnheard(pid: number): void {
  process.kill(pid, "SIGKILL");
  const nap = new Int32Array(new SharedArrayBuffer(4));
  // Its pipes are closed with the last of its threads, of which the first only waits for us then.
  const isOver = () =>
    readdirSync(`/proc/${pid}/task`).length === 1 && /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  while (!isOver()) Atomics.wait(nap, 0, 0, 1);
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const onLinux = test.skipIf(process.platform !== "linux");

describe("a call in a child that is killed", () => {
  test("ends as unknown when it had been written", async () => {
    await using setup = await openProvider(stdioConfig());
    const running = start(setup, "never");
    const pid = await pidOf(setup); // the same pipe: what stood before it was read
    process.kill(pid, "SIGKILL");
    expect(await running).toMatchObject({ code: "OUTCOME_UNKNOWN" });
  });

  onLinux("ends as unreachable when the child was dead before anything was written", async () => {
    await using setup = await openProvider(stdioConfig());
    const written = start(setup, "never");
    killUnheard(await pidOf(setup));
    const late = start(setup, "never");
    expect(await late).toMatchObject({ code: "PROVIDER_UNREACHABLE", message: "ended by SIGKILL" });
    expect(await written).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await vi.waitFor(() => expect(setup.host.status).toBe("ok"));
  });

  test("ends as unreachable when it stood behind others that the child did not read", async () => {
    await using setup = await openProvider(stdioConfig());
    const pid = await pidOf(setup);
    process.kill(pid, "SIGSTOP");
    const large = start(setup, "echo", { text: "x".repeat(2_000_000) });
    await turn();
    await turn();
    const small = start(setup, "echo");
    await turn();
    await turn();
    process.kill(pid, "SIGKILL");
    expect(await small).toMatchObject({ code: "PROVIDER_UNREACHABLE" });
    expect(await large).toMatchObject({ code: "OUTCOME_UNKNOWN" });
  });

  test.each([
    ["is made again in the next child if it is read-only", "test.echo", "end"],
    ["is not made again if it is not", "test.cancelled", "OUTCOME_UNKNOWN"],
  ])("%s", async (_, tool, expected) => {
    const provider = createProvider(stdioConfig());
    const { kernel, order } = await testKernel([provider], { clock: monotonicClock, timers: nodeTimers });
    try {
      const pid = await pidOf({ provider });
      process.kill(pid, "SIGSTOP");
      const ended = Promise.withResolvers<CallEvent>();
      kernel.runs.start(order(tool), {
        keeps: false,
        take(event) {
          if (event.type === "end" || event.type === "error") ended.resolve(event);
          return true;
        },
      });
      await turn();
      await turn();
      process.kill(pid, "SIGKILL");
      const event = await ended.promise;
      expect(event.type === "error" ? event.error.code : event.type).toBe(expected);
    } finally {
      await kernel.close();
    }
  });
});

describe("children of clients", () => {
  const config = stdioConfig({}, { sessions: "per-client" });
  const clients = ["a", "b", "c", "d"].map((id) => fakeSession(id));

  test("never outnumber the clients, however many calls start at once and whatever is killed", async () => {
    await using setup = await openProvider(config);
    const calls = () => Promise.all(clients.flatMap((one) => Array.from({ length: 6 }, () => pidOf(setup, one))));
    const first = new Set(await calls());
    expect(first.size).toBe(clients.length);
    expect(setup.provider.upstreamCount()).toBe(clients.length); // the one that listed is gone
    const [killed = 0] = first;
    process.kill(killed, "SIGKILL");
    await vi.waitFor(() => expect(setup.provider.upstreamCount()).toBe(clients.length - 1));
    const second = new Set(await calls());
    expect(second.size).toBe(clients.length);
    expect([...first].filter((pid) => !second.has(pid))).toEqual([killed]);
  });

  test("end with the session of their client", async () => {
    await using setup = await openProvider(config);
    const [one, other] = [fakeSession("a"), fakeSession("b")];
    const [pid, staying] = [await pidOf(setup, one), await pidOf(setup, other)];
    setup.provider.release(one);
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false));
    expect(await pidOf(setup, other)).toBe(staying);
  });

  test("end at once when their client moves to another process, and so do the calls in them", async () => {
    await using setup = await openProvider(config);
    const client = fakeSession("a");
    const running = start(setup, "never", {}, client);
    const pid = await pidOf(setup, client);
    setup.provider.release(client, "moved");
    expect(await running).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false));
    expect(setup.provider.upstreamCount()).toBe(0);
  });

  test("that are just being started end, too, when their client moves", async () => {
    await using setup = await openProvider(config);
    const client = fakeSession("a");
    const running = start(setup, "who", {}, client);
    setup.provider.release(client, "moved");
    expect(await running).toMatchObject({ code: "PROVIDER_UNREACHABLE" });
    expect(setup.provider.upstreamCount()).toBe(0);
  });
});

test("a fault of ours in one call of a child leaves the child and its other calls alone", async () => {
  await using setup = await openProvider(stdioConfig());
  const pid = await pidOf(setup);
  const other = start(setup, "never");
  const faulty = new FakeOut();
  faulty.onEvent = () => {
    throw new RangeError("Invalid string length");
  };
  const failed = setup.provider.run(toolCall("who", {}), faulty);
  await expect(failed).rejects.toMatchObject({ code: "INTERNAL" });
  expect(await pidOf(setup)).toBe(pid);
  expect(await Promise.race([other, turn().then(() => "runs")])).toBe("runs");
});
