/** Two processes' worth of homed providers over one store, and the internal way between them. */
import { connect as connectTcp } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { atOnce } from "../../../tests/kit/at-once.ts";
import {
  FakeHost,
  FakeMeter,
  FakeOut,
  monotonicClock,
  nodeTimers,
  silentLog,
  toolCall,
} from "../../../tests/kit/fake-host.ts";
import type { SharedState } from "../../contract/index.ts";
import { createHomes, createMembership, type Homes, type OwnMembership } from "../../mechanisms/cluster/index.ts";
import { startHttpFixture } from "../../providers/mcp/fixtures/http-server.ts";
import { createWatchdog, mcpConfig, mcpProvider, mcpServerSchema } from "../../providers/mcp/index.ts";
import { createMemorySharedState } from "../../stores/memory/index.ts";
import { createHopOpener, createHopServer } from "../hop/hop-tls.ts";
import { type HomedProvider, homedMcpProvider, type WayHome } from "./index.ts";

const script = fileURLToPath(new URL("../../providers/mcp/fixtures/stdio-server.mjs", import.meta.url));
const watchdog = createWatchdog();
const ports = { clock: monotonicClock, timers: nodeTimers, slices: atOnce, log: silentLog, meter: new FakeMeter() };
const deps = { ...ports, parentEnv: process.env, watchdog };

type Process = { provider: HomedProvider; host: FakeHost; homes: Homes; membership: OwnMembership };

async function startProcess(state: SharedState, way: WayHome): Promise<Process> {
  const membership = createMembership({ state, ...ports, address: "127.0.0.1:1" });
  await membership.open();
  const homes = createHomes({ state, membership, timers: nodeTimers, log: silentLog });
  const config = mcpConfig(
    mcpServerSchema.parse({ id: "test", command: process.execPath, args: [script], era: "2025" }),
  );
  const provider = homedMcpProvider(config, deps, { homes, wayTo: () => way });
  const host = new FakeHost();
  await provider.open(host, new AbortController().signal);
  return { provider, host, homes, membership };
}

/** The process that served the call; undefined when it was none of our children. */
async function pidOf(provider: HomedProvider): Promise<number | undefined> {
  const out = new FakeOut();
  await provider.run(toolCall("who"), out);
  const { content } = out.result as { content: { text: string }[] };
  return content[0] && (JSON.parse(content[0].text) as { pid: number }).pid;
}

function plainWay(port: number): WayHome {
  return {
    headers: {},
    connect(reader) {
      const socket = connectTcp({ host: "127.0.0.1", port });
      socket.setEncoding("latin1").on("data", (text: string) => reader.read(text));
      return { socket, openEvent: "connect" };
    },
  };
}

describe("homes of a shared server", () => {
  test("are one at a time: the second process has no child until the first has left", async () => {
    await using other = await startHttpFixture();
    const state = createMemorySharedState({ clock: monotonicClock });
    const a = await startProcess(state, plainWay(other.port));
    const b = await startProcess(state, plainWay(other.port));
    const first = await pidOf(a.provider);
    expect([a.provider.isHome, b.provider.isHome]).toEqual([true, false]);
    expect(first).toBeGreaterThan(0);
    expect(await pidOf(b.provider)).toBeUndefined(); // served by what stands for the first process here
    await a.homes.leave(() => true);
    expect(() => process.kill(first ?? 0, 0)).toThrow();
    await vi.waitFor(() => expect(b.provider.isHome).toBe(true));
    expect(await pidOf(b.provider)).toBeGreaterThan(0);
    for (const { provider, membership } of [a, b]) {
      await provider.close();
      await membership.leave();
    }
    await state.close();
  });
});

describe("an HTTP server that is reached over the hop's TLS", () => {
  test("is served over sockets that both ends have proved the key for, and over no others", async () => {
    await using fixture = await startHttpFixture();
    const key = Buffer.alloc(32, 7);
    const door = createHopServer(key, {
      onConnection: () => undefined,
      onPeer: (socket) => void socket.pipe(connectTcp({ host: "127.0.0.1", port: fixture.port })).pipe(socket),
      onStranger: () => undefined,
    });
    await new Promise<void>((resolve) => door.listen({ host: "127.0.0.1", port: 0 }, resolve));
    const address = `127.0.0.1:${(door.address() as { port: number }).port}`;
    const open = async (secret: Buffer) => {
      const config = mcpConfig(
        mcpServerSchema.parse({ id: "test", url: "http://localhost/test/mcp", restart: "never" }),
      );
      const provider = mcpProvider(config, { ...deps, connect: createHopOpener(address, secret, () => "a") });
      const host = new FakeHost();
      await provider.open(host, new AbortController().signal);
      return { provider, host };
    };
    const friend = await open(key);
    const out = new FakeOut();
    await friend.provider.run(toolCall("echo", { n: 1 }), out);
    expect(out.result).toMatchObject({ structuredContent: { n: 1 } });
    const stranger = await open(Buffer.alloc(32, 8));
    expect(stranger.host.status).toBe("unreachable");
    await Promise.all([friend.provider.close(), stranger.provider.close()]);
    await new Promise((resolve) => door.close(resolve));
  });
});
