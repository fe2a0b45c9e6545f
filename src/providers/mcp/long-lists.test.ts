import { describe, expect, test, vi } from "vitest";
import { type FakeHost, FakeOut, silentLog, toolCall } from "../../../tests/kit/fake-host.ts";
import { finish, type Offer, type Slices } from "../../contract/index.ts";
import { type Exchange, type Handler, startHttpFixture } from "./fixtures/http-server.ts";
import { openProvider } from "./fixtures/setup.ts";

/** Counts what is worked on entry by entry, and how often it could have been left. */
class CountingSlices implements Slices {
  works = 0;
  steps = 0;

  run: Slices["run"] = (steps) => {
    for (let count = 0; ; count++) {
      const { done, value } = steps.next();
      if (done) {
        // What came in one read is taken in a few.
        if (count >= 10) this.works++;
        return value;
      }
      this.steps++;
    }
  };
}

const entry = (index: number, description = `Does what ${index} does.`) => ({
  name: `tool_${index}`,
  description,
  inputSchema: { type: "object" },
});
const listOf = (count: number, first?: string) =>
  Array.from({ length: count }, (_, index) => entry(index, index === 0 ? first : undefined));

/** A server that lists what the test says, and says that it has changed whenever its tool is called. */
async function rig(tools: () => object[], config: object = {}, on: Record<string, Handler> = {}) {
  const server = await startHttpFixture({
    initialize: (exchange) =>
      exchange.result({
        protocolVersion: "2025-11-25",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "fixture", version: "1" },
      }),
    "tools/list": (exchange) => exchange.result({ tools: tools() }),
    "tools/call"(exchange: Exchange) {
      exchange.stream();
      exchange.event({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      exchange.event({ jsonrpc: "2.0", id: exchange.message.id, result: { content: [] } });
      exchange.end();
    },
    ...on,
  });
  const slices = new CountingSlices();
  const warnings: unknown[] = [];
  const log = { ...silentLog, warn: (message: string, fields?: object) => void warnings.push([message, fields]) };
  log.child = () => log;
  const setup = await openProvider({ era: "2025", url: server.url, ...config }, { slices, log });
  /** The server says that it has changed, and is listed again. */
  async function change(): Promise<void> {
    const lists = server.count("tools/list");
    await setup.provider.run(toolCall("tool_0"), new FakeOut());
    await vi.waitFor(() => expect(server.count("tools/list")).toBe(lists + 1));
  }
  return {
    server,
    setup,
    slices,
    warnings,
    change,
    async [Symbol.asyncDispose]() {
      await setup.provider.close();
      await server.stop();
    },
  };
}

function toolsOf(host: FakeHost): Offer["primitives"] {
  return host.offers.get("shared")?.get("tool")?.primitives ?? [];
}

describe("a list that has not changed", () => {
  // Above and below the size from which an answer is read in steps.
  test.each([20, 5_000])("of %d tools is neither read nor offered again, though the server says so", async (count) => {
    await using it = await rig(() => listOf(count));
    const { works } = it.slices;
    const { offerCount } = it.setup.host;
    await it.change();
    await it.change();
    expect([it.slices.works, it.setup.host.offerCount]).toEqual([works, offerCount]);
    expect(toolsOf(it.setup.host)).toHaveLength(count);
  });

  test("is offered as soon as one word of it is another one", async () => {
    let word = "old";
    await using it = await rig(() => listOf(5_000, word));
    await it.change();
    word = "new";
    await it.change();
    await vi.waitFor(() => expect(toolsOf(it.setup.host)[0]?.definition.text).toContain("new"));
  });

  test("that follows its id is known as well as one before it, whatever stands around it", async () => {
    const tools = JSON.stringify(listOf(5_000));
    let turn = 0;
    const spelled = (id: unknown) =>
      turn++ % 2 === 0
        ? `{"result": {"tools":${tools}},"jsonrpc":"2.0","id":${String(id)}}`
        : `{"jsonrpc":"2.0","id":${String(id)},"result": {"tools":${tools}}}`;
    const on: Record<string, Handler> = {
      "tools/list": (exchange) =>
        exchange.raw(spelled(exchange.message.id), 200, { "content-type": "application/json" }),
    };
    await using it = await rig(() => [], {}, on);
    const { works } = it.slices;
    await it.change();
    expect(it.slices.works).toBe(works);
    expect(toolsOf(it.setup.host)).toHaveLength(5_000);
  });
});

describe("a long list", () => {
  test("can be left after every entry while it is read", async () => {
    await using it = await rig(() => listOf(5_000));
    expect(it.slices.steps).toBeGreaterThan(5_000);
  });

  test("is cut after maxEntries, and the log and the state of the server say which key to raise", async () => {
    await using it = await rig(() => listOf(5_000), { maxEntries: 3_000 });
    const message = "tools/list is cut short: it has more than 3000 entries: raise maxEntries of the server";
    expect(it.setup.host.states.at(-1)).toMatchObject({ status: "ok", message });
    expect(toolsOf(it.setup.host)).toHaveLength(3_000);
    const reason = expect.stringMatching(/more than 3000 entries.*maxEntries/);
    expect(it.warnings).toEqual([["list cut short", expect.objectContaining({ reason })]]);
    // And it is said once.
    await it.change();
    expect(it.warnings).toHaveLength(1);
  });

  test("that is cut no more is said of no more, and one that was not read again still is", async () => {
    let count = 5_000;
    let changed = "resources";
    await using it = await rig(
      () => listOf(count),
      { maxEntries: 3_000 },
      {
        initialize: (exchange) =>
          exchange.result({
            protocolVersion: "2025-11-25",
            capabilities: { tools: { listChanged: true }, resources: { listChanged: true } },
            serverInfo: { name: "fixture", version: "1" },
          }),
        "resources/list": (exchange) => exchange.result({ resources: [] }),
        "resources/templates/list": (exchange) => exchange.result({ resourceTemplates: [] }),
        "tools/call"(exchange: Exchange) {
          exchange.stream();
          exchange.event({ jsonrpc: "2.0", method: `notifications/${changed}/list_changed` });
          exchange.event({ jsonrpc: "2.0", id: exchange.message.id, result: { content: [] } });
          exchange.end();
        },
      },
    );
    const lastState = () => it.setup.host.states.at(-1);
    await it.setup.provider.run(toolCall("tool_0"), new FakeOut());
    await vi.waitFor(() => expect(it.server.count("resources/list")).toBe(2));
    expect(lastState()).toMatchObject({ status: "ok", message: expect.stringContaining("cut short") });
    count = 10;
    changed = "tools";
    await it.change();
    await vi.waitFor(() => expect(lastState()?.message).toBeUndefined());
  });

  test("is cut after maxList, over all its pages", async () => {
    const pages: Handler = (exchange) => {
      const from = Number(exchange.message.params?.cursor ?? 0);
      exchange.result({ tools: listOf(1_000), nextCursor: String(from + 1) });
    };
    await using it = await rig(() => [], { maxList: "200KB" }, { "tools/list": pages });
    expect(it.server.count("tools/list")).toBeLessThan(4);
    expect(toolsOf(it.setup.host).length).toBeLessThan(3_000);
    expect(it.warnings).toEqual([
      ["list cut short", expect.objectContaining({ reason: expect.stringContaining("maxList") })],
    ]);
  });

  test.each([
    ["ends in the middle", (text: string) => text.slice(0, -40)],
    ["has something behind it", (text: string) => `${text}{}`],
    ["is no text", (text: string) => text.replace("Does what 77 does", "\xff\xfe")],
    ["answers somebody else as well", (text: string) => text.replace(/^\{/, '{"id":99999,')],
  ])("that %s is not taken", async (_, broken) => {
    const on: Record<string, Handler> = {
      "tools/list"(exchange) {
        const text = JSON.stringify({ result: { tools: listOf(5_000) }, jsonrpc: "2.0", id: exchange.message.id });
        exchange.response.setHeader("content-type", "application/json");
        exchange.response.end(Buffer.from(broken(text), "latin1"));
      },
    };
    await using it = await rig(() => [], {}, on);
    expect(toolsOf(it.setup.host)).toEqual([]);
    expect(it.setup.host.status).toBe("invalid");
  });
});

test("work that is done in steps comes to the same as work that is done at once", () => {
  function* counting() {
    yield;
    return 7;
  }
  expect(finish(counting())).toBe(new CountingSlices().run(counting()));
});
