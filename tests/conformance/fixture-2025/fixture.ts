/**
 * The MCP server itself, without a transport. It answers from raw params (the SDK's fallback handler), because typed
 * handlers drop the unknown fields that a relay has to keep.
 */
import { type Json, Server, type ServerPeer } from "../sdk.ts";
import { askingTools } from "./asking-tools.ts";
import { contentTools } from "./content-tools.ts";
import { complete, getPrompt, listPrompts } from "./prompts.ts";
import { listResources, listTemplates, readResource, subscribe, unsubscribe } from "./resources.ts";
import { schemaTool } from "./schema-tool.ts";
import { type Call, rpcError, type Session, setLogLevel } from "./session.ts";
import { timedTools } from "./timed-tools.ts";

const tools = [...contentTools, ...timedTools, ...askingTools, schemaTool];

const methods: Readonly<Record<string, (call: Call) => Json | Promise<Json>>> = {
  "tools/list": () => ({ tools: tools.map(({ run: _, ...listed }) => listed) }),
  "tools/call": callTool,
  "prompts/list": listPrompts,
  "prompts/get": getPrompt,
  "completion/complete": complete,
  "resources/list": listResources,
  "resources/templates/list": listTemplates,
  "resources/read": readResource,
  "resources/subscribe": subscribe,
  "resources/unsubscribe": unsubscribe,
  "logging/setLevel": setLogLevel,
};

/** Makes the server for one session; connect it to a transport. */
export function createFixture(): ServerPeer {
  const capabilities = { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {}, logging: {} };
  const server = new Server({ name: "fixture-2025", version: "1.0.0" }, { capabilities });
  const session: Session = {
    logLevel: undefined,
    subscriptions: new Set(),
    clientCapabilities: () => server.getClientCapabilities() ?? {},
  };
  // The SDK answers this one itself, and then only filters what it sends outside of calls.
  server.removeRequestHandler("logging/setLevel");
  server.fallbackRequestHandler = async (request, exchange) => {
    const answer = methods[request.method];
    if (answer === undefined) throw rpcError(-32601, `Method not found: ${request.method}`);
    return await answer({ params: request.params ?? {}, exchange, session });
  };
  return server;
}

async function callTool(call: Call): Promise<Json> {
  const tool = tools.find(({ name }) => name === call.params.name);
  if (tool === undefined) throw rpcError(-32602, `Unknown tool: ${call.params.name}`);
  return await tool.run(call);
}
