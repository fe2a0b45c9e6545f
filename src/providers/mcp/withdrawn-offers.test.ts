/** What is offered to a client that has an upstream session of its own, when that is closed. */
import { describe, expect, test, vi } from "vitest";
import { FakeOut, fakeSession, toolCall } from "../../../tests/kit/fake-host.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { ByteBudget, LOCAL, type Principal } from "../../contract/index.ts";
import { FakeCredentials } from "./fixtures/fake-credentials.ts";
import { type Exchange, startHttpFixture } from "./fixtures/http-server.ts";
import { openProvider } from "./fixtures/setup.ts";

const CHANGED = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
const IDLE_MS = 60_000;

async function rig(maxSessions: number, { isPerCaller = false } = {}) {
  const time = new ManualTime();
  const budget = new ByteBudget(10_000_000);
  /** Calls of `slow`, which are answered when the test says so. */
  const held: Exchange[] = [];
  let lists = 0;
  const server = await startHttpFixture({
    // What is the same as before is not offered again.
    "tools/list": (exchange) =>
      exchange.result({ tools: [{ name: `t${10 + lists++}`, inputSchema: { type: "object" } }] }),
    "tools/call": (exchange) => (exchange.tool === "slow" ? held.push(exchange.stream()) : exchange.result({})),
  });
  const config = { era: "2025", url: server.url, sessions: "per-client", maxSessions, idle: IDLE_MS };
  const credentials = isPerCaller ? { credentials: new FakeCredentials() } : {};
  const setup = await openProvider(config, { clock: time, timers: time, ownLists: budget, ...credentials });
  const { provider, host } = setup;
  const isOffered = (client: string) => host.offers.has(`session:${client}`);
  return {
    time,
    budget,
    provider,
    lists: () => lists,
    isOffered,
    offered: (...clients: string[]) => clients.map(isOffered),
    call: (client: string) => provider.run(toolCall("echo", {}, { session: fakeSession(client) }), new FakeOut()),
    /** A client of 2026-07-28 has no session of the gateway's either. */
    callAs: (principal: Principal) =>
      provider.run(toolCall("echo", {}, { principal, session: undefined }), new FakeOut()),
    /** Ends when the test says so; until then more can be said in its stream. */
    async callSlowly(client: string) {
      const over = provider.run(toolCall("slow", {}, { session: fakeSession(client) }), new FakeOut());
      const at = held.length;
      await vi.waitFor(() => expect(held.length).toBeGreaterThan(at));
      const [exchange] = held.slice(-1) as [Exchange];
      return {
        say: (message: object) => exchange.event(message),
        async end() {
          exchange.event({ jsonrpc: "2.0", id: exchange.message.id, result: {} });
          exchange.end();
          await over;
        },
      };
    },
    sweep: () => time.advance(IDLE_MS / 4),
    async [Symbol.asyncDispose]() {
      await setup[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}

type Rig = Awaited<ReturnType<typeof rig>>;

/** Whatever was listed for it has arrived. */
async function callAndList(it: Rig, client: string): Promise<void> {
  it.time.advance(1);
  await it.call(client);
  await vi.waitFor(() => expect(it.isOffered(client)).toBe(true));
}

describe("what a client is offered in a session of its own", () => {
  test("stays when that is closed to make room for another client's, and is withdrawn when its client is gone", async () => {
    await using it = await rig(2);
    for (const client of ["a", "b", "c"]) await callAndList(it, client);
    expect(it.provider.upstreamCount()).toBe(3);
    expect(it.offered("a", "b", "c")).toEqual([true, true, true]);
    const held = it.budget.held;
    expect(held).toBeGreaterThan(0);
    it.provider.release(fakeSession("a"), "ended");
    expect(it.offered("a", "b", "c")).toEqual([false, true, true]);
    expect(it.budget.held).toBe((held / 3) * 2);
  });

  test("takes no more memory when its client has another one in the place of what was closed", async () => {
    await using it = await rig(2);
    for (const client of ["a", "b", "c"]) await callAndList(it, client);
    const held = it.budget.held;
    const before = it.lists();
    await it.call("a");
    await vi.waitFor(() => expect(it.lists()).toBe(before + 1));
    await vi.waitFor(() => expect(it.budget.held).toBe(held));
    for (const client of ["a", "b", "c"]) it.provider.release(fakeSession(client), "ended");
    await vi.waitFor(() => expect(it.budget.held).toBe(0));
  });

  test("without a session of its own is withdrawn when that is closed to make room", async () => {
    await using it = await rig(2, { isPerCaller: true });
    const caller = (id: string) => ({ id, identity: { ...LOCAL.identity, user: id, proof: "token" } }) as Principal;
    for (const id of ["a", "b", "c"]) {
      it.time.advance(1);
      await it.callAs(caller(id));
      await vi.waitFor(() => expect(it.isOffered(`principal:${id}`)).toBe(true));
    }
    expect(it.offered("principal:a", "principal:b", "principal:c")).toEqual([false, true, true]);
  });

  test("is there while that only sleeps", async () => {
    await using it = await rig(2);
    await callAndList(it, "a");
    it.time.advance(2 * IDLE_MS);
    expect(it.provider.upstreamCount()).toBe(0);
    expect(it.isOffered("a")).toBe(true);
  });

  test("is withdrawn for good when a call ends that ran on after its client was gone, and listed once more", async () => {
    await using it = await rig(2);
    await callAndList(it, "a");
    const slow = await it.callSlowly("a");
    it.provider.release(fakeSession("a"), "ended");
    expect(it.isOffered("a")).toBe(false);
    slow.say(CHANGED);
    await vi.waitFor(() => expect(it.isOffered("a")).toBe(true));
    it.sweep();
    expect(it.isOffered("a")).toBe(true);
    await slow.end();
    it.sweep();
    expect(it.isOffered("a")).toBe(false);
  });

  test("stays while its client has another one, whatever of it is closed", async () => {
    await using it = await rig(4);
    await callAndList(it, "a");
    const slow = await it.callSlowly("a");
    it.provider.release(fakeSession("a"), "ended");
    await callAndList(it, "a");
    await slow.end();
    expect(it.provider.upstreamCount()).toBe(3);
    it.sweep();
    expect(it.provider.upstreamCount()).toBe(2);
    expect(it.isOffered("a")).toBe(true);
  });
});
