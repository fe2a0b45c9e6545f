/** Tools of 2026-07-28 with schemas that the 2025 era has not, as clients of the official SDKs read them. */
import { describe, expect, test } from "vitest";
import { complete, ModernFixture } from "../../src/providers/mcp/fixtures/modern-http.ts";
import { gatewayTo } from "../e2e/eras/kit.ts";
import { type ClientKind, connectClient } from "./sdk-clients.ts";

const INPUT = { type: "object", properties: { any: true } };
const NODE = { type: "object", properties: { value: true, next: { $ref: "#/$defs/node" } }, required: ["value"] };
const TOOLS = [
  { name: "numbers", inputSchema: INPUT, outputSchema: { type: "array", items: { type: "integer" } } },
  { name: "chain", inputSchema: INPUT, outputSchema: { $defs: { node: NODE }, $ref: "#/$defs/node" } },
  { name: "object", inputSchema: INPUT, outputSchema: { type: "object", properties: { free: true, never: false } } },
];
const VALUES: Readonly<Record<string, unknown>> = {
  numbers: [1, 2],
  chain: { value: 1, next: { value: 2 } },
  object: { free: [null] },
};

async function setUp(kind: ClientKind, values: Readonly<Record<string, unknown>> = VALUES) {
  const server = new ModernFixture({
    "tools/list": (exchange) => exchange.result(complete({ tools: TOOLS, ttlMs: 0, cacheScope: "private" })),
    "tools/call": (exchange) => exchange.result(complete({ content: [], structuredContent: values[exchange.tool] })),
  });
  await server.listen();
  const gateway = await gatewayTo(server.url);
  const client = await connectClient(kind, gateway.url);
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      await gateway.stop();
      await server.stop();
    },
  };
}

describe.each<ClientKind>(["v1", "v2-2025"])("client %s", (kind) => {
  test("reads the whole list, and what the tools answer fits what it read", async () => {
    await using rig = await setUp(kind);
    const tools = await rig.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["numbers", "chain", "object"]);
    expect(tools.every(({ outputSchema }) => outputSchema?.type === "object")).toBe(true);
    expect(await rig.client.callTool("numbers")).toMatchObject({ structuredContent: { result: [1, 2] } });
    expect(await rig.client.callTool("chain")).toMatchObject({ structuredContent: { result: VALUES.chain } });
    expect(await rig.client.callTool("object")).toMatchObject({ structuredContent: VALUES.object });
  });

  test("still finds out when an answer does not fit", async () => {
    await using rig = await setUp(kind, { numbers: ["one"], chain: { value: 1, next: {} } });
    // A client that hears that the list has changed knows no schema until it has read it again.
    const call = async (name: string) => {
      await rig.client.listTools();
      return await rig.client.callTool(name).then(JSON.stringify, String);
    };
    for (const name of ["numbers", "chain"]) await expect.poll(() => call(name)).toMatch(/schema/i);
  });
});

describe("client v2-2026", () => {
  test("gets schemas and values as the server wrote them", async () => {
    await using rig = await setUp("v2-2026");
    expect(await rig.client.listTools()).toEqual(TOOLS);
    expect(await rig.client.callTool("numbers")).toMatchObject({ structuredContent: [1, 2] });
  });
});
