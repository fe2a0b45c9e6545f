/**
 * The client under test of the suite's client scenarios, which append the URL of their own server:
 *
 *   client-driver.ts --direct URL     an SDK client on that server: shows that this driver is right
 *   client-driver.ts --through URL    a gateway in front of it, and the same client on the gateway: tests the upstream leg
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Client, ElicitRequestSchema, type Json, StreamableHTTPClientTransport } from "./sdk.ts";
import { type Running, startGateway } from "./servers.ts";

type Tool = { name: string; inputSchema: Json };

/** Arguments for the tools that the scenarios offer; other tools are only listed. */
const ARGUMENTS: Readonly<Record<string, (tools: readonly Tool[]) => Json>> = {
  add_numbers: () => ({ a: 5, b: 3 }),
  test_client_elicitation_defaults: () => ({}),
  test_reconnection: () => ({}),
  json_schema_echo: (tools) => ({ schema: tools.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema }),
};

// Shorter than the suite's own limit, which would kill us and leave the gateway behind.
setTimeout(() => process.exit(1), 25_000).unref();

const { values, positionals } = parseArgs({
  options: { direct: { type: "boolean" }, through: { type: "boolean" } },
  allowPositionals: true,
});
const url = positionals[0] ?? "";
if (values.through) await useThroughGateway(url);
else await useServer(url);

async function useThroughGateway(upstream: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "isthmus-client-scenario-"));
  let gateway: Running | undefined;
  try {
    gateway = await startGateway({ url: upstream }, folder);
    await useServer(gateway.url);
  } finally {
    await gateway?.close();
    // The suite keeps our stderr with its report.
    process.stderr.write(await readFile(join(folder, "gateway.log"), "utf8").catch(() => ""));
    await rm(folder, { recursive: true });
  }
}

async function useServer(target: string): Promise<void> {
  const capabilities = { elicitation: { form: { applyDefaults: true } } };
  const client = new Client({ name: "isthmus-conformance", version: "1.0.0" }, { capabilities });
  // The SDK fills in the defaults of the form.
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: {} }));
  const transport = new StreamableHTTPClientTransport(new URL(target));
  await client.connect(transport);
  if (client.getServerCapabilities()?.tools !== undefined) {
    const { tools } = await client.listTools();
    for (const call of callsFor(tools)) await client.callTool(call);
  }
  await transport.terminateSession();
  await client.close();
}

/** What the scenario says in its context, else what its tools need. */
function callsFor(tools: readonly Tool[]): { name: string; arguments: Json }[] {
  const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
  if (context.toolCalls !== undefined) return context.toolCalls;
  return tools.flatMap(({ name }) => {
    const given = ARGUMENTS[name]?.(tools);
    return given === undefined ? [] : [{ name, arguments: given }];
  });
}
