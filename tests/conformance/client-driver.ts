/**
 * The client under test of the suite's client scenarios, which append the URL of their own server:
 *
 *   client-driver.ts --direct URL     an SDK client on that server: shows that this driver is right
 *   client-driver.ts --through URL    a gateway in front of it, and the same client on the gateway: tests the upstream leg
 *
 * `--sdk v2` takes the client that speaks 2026-07-28; the one of v1 knows only what came before.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type ClientPeer, connectV1, connectV2, type Json } from "./clients.ts";
import { failedCall } from "./failed-calls.ts";
import { type Running, startGateway } from "./servers.ts";

type Tool = { name: string; inputSchema: Json };

/** Arguments for the tools that the scenarios offer; other tools are only listed. */
const ARGUMENTS: Readonly<Record<string, (tools: readonly Tool[]) => Json>> = {
  add_numbers: () => ({ a: 5, b: 3 }),
  test_client_elicitation_defaults: () => ({}),
  test_reconnection: () => ({}),
  json_schema_echo: (tools) => ({ schema: tools.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema }),
  test_headers: () => ({}),
  "my-hyphenated-tool": () => ({}),
  test_mrtr_echo_state: () => ({}),
  test_mrtr_no_state: () => ({}),
  test_mrtr_unrelated: () => ({}),
  test_mrtr_no_result_type: () => ({}),
  valid_tool: () => ({ region: "us-west1" }),
};

// Shorter than the suite's own limit, which would kill us and leave the gateway behind.
setTimeout(() => process.exit(1), 25_000).unref();

const { values, positionals } = parseArgs({
  options: {
    direct: { type: "boolean" },
    through: { type: "boolean" },
    sdk: { type: "string", default: "v1" },
  },
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
  const { client, close } = await (values.sdk === "v2" ? connectV2 : connectV1)(target);
  const capabilities = client.getServerCapabilities() ?? {};
  if (capabilities.tools !== undefined) {
    const { tools } = await client.listTools();
    // All at once: what belongs to one call must not reach another.
    await Promise.all(callsFor(tools).map((call) => callTool(client, call)));
  }
  if (capabilities.resources !== undefined) await readAll(client);
  if (capabilities.prompts !== undefined) await getAll(client);
  await close();
}

/** Goes on after a call that fails, because scenarios also look at what a client does next; the runner tells of it. */
async function callTool(client: ClientPeer, call: { name: string; arguments: Json }): Promise<void> {
  try {
    await client.callTool(call);
  } catch (error) {
    process.stderr.write(failedCall(call.name, error));
    process.exitCode = 1;
  }
}

async function readAll(client: ClientPeer): Promise<void> {
  const { resources } = await client.listResources();
  for (const { uri } of resources) await client.readResource({ uri });
}

async function getAll(client: ClientPeer): Promise<void> {
  const { prompts } = await client.listPrompts();
  for (const { name } of prompts) await client.getPrompt({ name });
}

/** What the scenario says in its context, else what its tools need. */
function callsFor(tools: readonly Tool[]): { name: string; arguments: Json }[] {
  const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
  if (context.toolCalls !== undefined) return context.toolCalls;
  return tools.flatMap(({ name }) => {
    // A tool that must not be offered to us is called when it is.
    const given = name.startsWith("invalid_") ? {} : ARGUMENTS[name]?.(tools);
    return given === undefined ? [] : [{ name, arguments: given }];
  });
}
