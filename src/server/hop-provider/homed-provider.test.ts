import { connect as connectTcp } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { atOnce } from "../../../tests/kit/at-once.ts";
import { describeProvider } from "../../../tests/kit/describe-provider.ts";
import {
  FakeHost,
  FakeMeter,
  FakeOut,
  fakeCall,
  fakeSession,
  monotonicClock,
  nodeTimers,
  silentLog,
  toolCall,
} from "../../../tests/kit/fake-host.ts";
import { GatewayError, payload, type SessionRef } from "../../contract/index.ts";
import type { HomeListener, HomeState, Homes } from "../../mechanisms/cluster/index.ts";
import { type HttpFixture, startHttpFixture } from "../../providers/mcp/fixtures/http-server.ts";
import { createWatchdog, type McpDeps, mcpConfig, mcpServerSchema } from "../../providers/mcp/index.ts";
import { type HomedProvider, homedMcpProvider } from "./index.ts";
import { WaitingCalls } from "./waiting-calls.ts";

const script = fileURLToPath(new URL("../../providers/mcp/fixtures/stdio-server.mjs", import.meta.url));
const watchdog = createWatchdog();
const deps: McpDeps = {
  clock: monotonicClock,
  timers: nodeTimers,
  slices: atOnce,
  log: silentLog,
  meter: new FakeMeter(),
  parentEnv: process.env,
  watchdog,
};

/** Says where the home is when the test says so. */
class ToldHomes implements Pick<Homes, "watch"> {
  home: HomeState;
  #listener: HomeListener | undefined;

  constructor(home: HomeState = "nobody") {
    this.home = home;
  }

  watch(_key: string, listener: HomeListener): () => Promise<void> {
    this.#listener = listener;
    if (this.home !== "nobody") void listener(this.home);
    return async () => await this.move("nobody");
  }

  async move(home: HomeState): Promise<void> {
    this.home = home;
    await this.#listener?.(home);
  }
}

type Rig = AsyncDisposable & { provider: HomedProvider; host: FakeHost; homes: ToldHomes; other: HttpFixture };

const elsewhere = (id = "b"): HomeState => ({ elsewhere: { id, address: "127.0.0.1:1" } });

function homed(homes: ToldHomes, other?: HttpFixture, more: object = {}): HomedProvider {
  const config = { id: "test", command: process.execPath, args: [script], ...more };
  return homedMcpProvider(mcpConfig(mcpServerSchema.parse(config)), deps, {
    homes,
    wayTo: ({ id, address }) => ({
      headers: address === "" ? nowhere() : { "isthmus-hop": `1 ${id}` },
      connect(reader) {
        const socket = connectTcp({ host: "127.0.0.1", port: other?.port ?? 1 });
        socket.setEncoding("latin1").on("data", (text: string) => reader.read(text));
        return { socket, openEvent: "connect" };
      },
    }),
  });
}

function nowhere(): never {
  throw new GatewayError("STATE_UNAVAILABLE", { message: "the home has no address" });
}

async function openRig(home: HomeState, more: object = {}): Promise<Rig> {
  const other = await startHttpFixture({
    initialize: (exchange) =>
      exchange.result({
        protocolVersion: "2025-11-25",
        capabilities: { tools: {}, resources: { subscribe: true } },
        serverInfo: { name: "elsewhere", version: "1" },
      }),
    "resources/subscribe": (exchange) => exchange.result({}),
  });
  const homes = new ToldHomes(home);
  const provider = homed(homes, other, { era: "2025", ...more });
  const host = new FakeHost();
  await provider.open(host, new AbortController().signal);
  const dispose = async () => {
    await provider.close();
    await other.stop();
  };
  return { provider, host, homes, other, [Symbol.asyncDispose]: dispose };
}

/** The process that served the call; undefined when it was none of our children. */
async function pidOf({ provider }: Rig, session?: SessionRef): Promise<number | undefined> {
  const out = new FakeOut();
  await provider.run(toolCall("who", {}, { session }), out);
  const { content } = out.result as { content: { text: string }[] };
  return content[0] && (JSON.parse(content[0].text) as { pid: number }).pid;
}

function isAlive(pid = 0): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describeProvider("a server whose home is here", () => ({
  provider: homed(new ToldHomes("mine")),
  quickCall: () => toolCall("echo"),
  endlessCall: () => toolCall("never"),
}));

describe("a shared server on stdio, in several processes", () => {
  test("runs where its home is, and elsewhere is reached there, under its id and over the internal way", async () => {
    await using rig = await openRig(elsewhere());
    expect(rig.provider.isHome).toBe(false);
    expect(rig.host.status).toBe("ok");
    expect(rig.host.names("tool")).toEqual(["echo"]); // as the fixture elsewhere lists it
    expect(await pidOf(rig)).toBeUndefined();
    const call = rig.other.seen.findLast(({ rpc }) => rpc.method === "tools/call");
    expect(call?.headers).toMatchObject({ host: "localhost", "isthmus-hop": "1 b" });
    expect(rig.provider.upstreamCount()).toBe(1);
  });

  test("moves here when its home is gone: offers stay until it has listed, and the state says so", async () => {
    await using rig = await openRig(elsewhere());
    rig.host.states.length = 0;
    await rig.homes.move("nobody");
    expect(rig.host.states).toMatchObject([{ status: "starting" }]);
    expect(rig.host.names("tool")).toEqual(["echo"]);
    const waiting = pidOf(rig); // there is no home: it waits for one
    await rig.homes.move("mine");
    expect(await waiting).toBeGreaterThan(0);
    await vi.waitFor(() => expect(rig.host.status).toBe("ok"));
    expect(rig.host.names("tool")).toContain("askLate");
    expect(rig.provider.isHome).toBe(true);
  });

  test("ends its child before anybody else may begin, and the calls in it as unknown", async () => {
    await using rig = await openRig("mine");
    const running = rig.provider.run(toolCall("never"), new FakeOut()).catch((error: unknown) => error);
    const pid = await pidOf(rig);
    await rig.homes.move(elsewhere());
    expect(isAlive(pid)).toBe(false);
    expect(await running).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(await pidOf(rig)).toBeUndefined();
  });

  test("ends its child also when the gateway closes, before the home is given up", async () => {
    const rig = await openRig("mine");
    const pid = await pidOf(rig);
    await rig.provider.close();
    expect(isAlive(pid)).toBe(false);
    expect(rig.homes.home).toBe("nobody");
    await rig.other.stop();
  });

  test("serves clients with instances of their own from children of this process, wherever the home is", async () => {
    await using rig = await openRig("mine");
    const client = fakeSession("c", { capabilities: { elicitation: {} } });
    const pid = await pidOf(rig, client);
    expect(pid).not.toBe(await pidOf(rig));
    expect(await rig.provider.scope(client)).toBe("session:c");
    await rig.homes.move(elsewhere());
    expect(await pidOf(rig, client)).toBe(pid);
    expect(await pidOf(rig)).toBeUndefined();
    rig.provider.release(client, "moved");
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false));
  });

  test("subscribes again in its next home to what sessions still want, and to nothing else", async () => {
    await using rig = await openRig("mine");
    const [staying, leaving] = [fakeSession("s"), fakeSession("l")];
    const subscribe = (session: SessionRef, uri: string) =>
      rig.provider.run(
        fakeCall({ verb: "subscribe", method: "resources/subscribe", input: { uri }, session }),
        new FakeOut(),
      );
    await subscribe(staying, "file:///a");
    await subscribe(leaving, "file:///b");
    rig.provider.release(leaving);
    await rig.homes.move(elsewhere());
    await vi.waitFor(() => expect(rig.other.count("resources/subscribe")).toBe(1));
    const { rpc } = rig.other.seen.find((one) => one.rpc.method === "resources/subscribe") ?? {};
    expect(rpc?.params).toEqual({ uri: "file:///a" });
  });

  test("cancels a call that waits for a home, and refuses it when none comes in time", async () => {
    await using rig = await openRig("mine");
    await rig.homes.move("nobody");
    const call = toolCall("who");
    const cancelled = rig.provider.run(call, new FakeOut()).catch((error: unknown) => error);
    rig.provider.reply(call.id, { type: "cancel" });
    expect(await cancelled).toMatchObject({ code: "CANCELLED" });
    const late = toolCall("who", {}, { deadline: performance.now() + 10 });
    await expect(rig.provider.run(late, new FakeOut())).rejects.toMatchObject({ code: "PROVIDER_UNREACHABLE" });
  });

  test("ends a call as unreachable where the home cannot be reached", async () => {
    await using rig = await openRig(elsewhere());
    await rig.other.stop();
    // The first ones may go out on sockets that look open.
    const attempt = () => rig.provider.run(toolCall("x", {}, { deadline: performance.now() + 20 }), new FakeOut());
    await vi.waitFor(() => expect(attempt()).rejects.toMatchObject({ code: "PROVIDER_UNREACHABLE" }));
  });

  test("makes a call in the next home that the former one turned away, once", async () => {
    await using rig = await openRig(elsewhere());
    rig.other.on["tools/call"] = (exchange) => exchange.raw("", 421, {});
    const add = vi.spyOn(WaitingCalls.prototype, "add");
    const waiting = pidOf(rig);
    await vi.waitFor(() => expect(add).toHaveBeenCalledOnce());
    await rig.homes.move("mine");
    expect(await waiting).toBeGreaterThan(0);
    expect(rig.other.count("tools/call")).toBe(1);
  });

  test("makes a call in the next home that was on its way to the former one when that was given up", async () => {
    await using rig = await openRig(elsewhere());
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<() => void>();
    rig.other.on["tools/call"] = (exchange) => arrive(() => exchange.raw("", 421, {}));
    const called = pidOf(rig);
    const turnAway = await arrived;
    const moved = rig.homes.move("mine");
    turnAway();
    await moved;
    expect(await called).toBeGreaterThan(0);
  });

  test("waits only so long for what a former home says of calls on their way", async () => {
    await using rig = await openRig(elsewhere());
    rig.other.on["tools/call"] = () => undefined;
    const lost = rig.provider.run(toolCall("who"), new FakeOut()).catch((error: unknown) => error);
    await vi.waitFor(() => expect(rig.other.count("tools/call")).toBe(1));
    await rig.homes.move("mine");
    expect(await lost).toMatchObject({ code: "OUTCOME_UNKNOWN" });
  });

  test("says so where there is no way to its home, and goes on with the next", async () => {
    await using rig = await openRig({ elsewhere: { id: "b", address: "" } });
    expect(rig.host.states.at(-1)).toMatchObject({ status: "unreachable", message: "the home has no address" });
    await rig.homes.move("mine");
    expect(await pidOf(rig)).toBeGreaterThan(0);
  });

  test("ends up in the last home it was told of, however fast they change", async () => {
    await using rig = await openRig("mine");
    const moves = [elsewhere("b"), "nobody", "mine", elsewhere("c"), "mine", elsewhere("d")] as const;
    await Promise.all(moves.map((home) => rig.homes.move(home)));
    expect(await pidOf(rig)).toBeUndefined();
    const last = rig.other.seen.findLast(({ rpc }) => rpc.method === "tools/call");
    expect(last?.headers["isthmus-hop"]).toBe("1 d");
    expect(rig.provider.upstreamCount()).toBe(1);
  });

  test("tells the next instance the log level of its sessions", async () => {
    await using rig = await openRig(elsewhere());
    rig.provider.notify(fakeSession("s"), "logging/setLevel", payload('{"level":"error"}'));
    await rig.homes.move("mine");
    await rig.provider.run(toolCall("echo", {}, { session: fakeSession("s") }), new FakeOut());
    await vi.waitFor(() =>
      expect(rig.host.notices.map(({ payload: body }) => body.value())).toContainEqual({
        level: "info",
        data: "level error",
      }),
    );
  });
});
