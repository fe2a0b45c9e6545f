import { describe, expect, test, vi } from "vitest";
import { FakeOut, fakeSession, silentLog, toolCall } from "../../../tests/kit/fake-host.ts";
import { ByteBudget } from "../../contract/index.ts";
import { startHttpFixture } from "./fixtures/http-server.ts";
import { openProvider } from "./fixtures/setup.ts";

const LONG = "x".repeat(10_000);

/** A server that lists ten long tools, for each session under names of its own where `differs`, and a provider for it. */
async function rig(budget: ByteBudget, differs: boolean, id = "test") {
  let lists = 0;
  const server = await startHttpFixture({
    initialize: (exchange) =>
      exchange.result({
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "fixture", version: "1" },
      }),
    "tools/list"(exchange) {
      const of = differs ? lists++ : 0;
      const named = (index: number) => ({
        name: `t${of}_${index}`,
        description: LONG,
        inputSchema: { type: "object" },
      });
      exchange.result({ tools: Array.from({ length: 10 }, (_, index) => named(index)) });
    },
    "tools/call": (exchange) => exchange.result({ content: [] }),
  });
  const warnings: unknown[] = [];
  const log = { ...silentLog, warn: (message: string, fields?: object) => void warnings.push([message, fields]) };
  log.child = () => log;
  const config = { id, era: "2025", url: server.url, sessions: "per-client" };
  const setup = await openProvider(config, { ownLists: budget, log });
  /** How many tools the session of its own of this client offers. */
  async function open(client: string): Promise<number | undefined> {
    await setup.provider.run(toolCall("t", {}, { session: fakeSession(client) }), new FakeOut());
    const offer = () => setup.host.offers.get(`session:${client}`)?.get("tool")?.primitives.length;
    await vi.waitFor(() => expect(offer()).not.toBe(undefined));
    return offer();
  }
  return {
    setup,
    warnings,
    open,
    end: (client: string) => setup.provider.release?.(fakeSession(client), "ended"),
    async [Symbol.asyncDispose]() {
      await setup.provider.close();
      await server.stop();
    },
  };
}

describe("what a server lists for single clients", () => {
  test("is there once where it is the same", async () => {
    const budget = new ByteBudget(10_000_000);
    await using it = await rig(budget, false);
    expect(await it.open("a")).toBe(10);
    const { held } = budget;
    expect(held).toBeGreaterThan(100_000);
    for (const client of ["b", "c", "d"]) expect(await it.open(client)).toBe(10);
    expect(budget.held).toBe(held);
    for (const client of ["a", "b", "c"]) it.end(client);
    expect(budget.held).toBe(held);
    it.end("d");
    await vi.waitFor(() => expect(budget.held).toBe(0));
  });

  test("takes no more memory than would then still be free, and leaves other servers theirs", async () => {
    const budget = new ByteBudget(800_000);
    await using it = await rig(budget, true);
    await using other = await rig(budget, true, "other");
    const offered: (number | undefined)[] = [];
    for (let client = 0; client < 8; client++) offered.push(await it.open(`c${client}`));
    expect(offered.slice(0, 3)).toEqual([10, 10, 10]);
    expect(offered.slice(-3)).toEqual([0, 0, 0]);
    expect(budget.held).toBeLessThanOrEqual(400_000);
    expect(it.warnings).toContainEqual([
      "list cut short",
      expect.objectContaining({ reason: expect.stringContaining('set sessions = "shared"') }),
    ]);
    expect(await other.open("mine")).toBe(10);
  });

  test("gives back what it took with each session, also where it could not be read whole", async () => {
    const budget = new ByteBudget(800_000);
    const it = await rig(budget, true);
    for (let client = 0; client < 8; client++) await it.open(`c${client}`);
    for (let client = 0; client < 8; client++) it.end(`c${client}`);
    await vi.waitFor(() => expect(budget.held).toBe(0));
    expect(await it.open("another")).toBe(10);
    await it[Symbol.asyncDispose]();
    expect(budget.held).toBe(0);
  });
});
