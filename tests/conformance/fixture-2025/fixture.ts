/**
 * The MCP server itself, without a transport. It answers from raw params (the SDK's fallback handler), because typed
 * handlers drop the unknown fields that a relay has to keep.
 */
import { rpcError } from "../offers/call.ts";
import { methods } from "../offers/methods.ts";
import { type Constructor, type Json, load, type ServerPeer } from "../sdk.ts";
import { createPushedCall, type Peer } from "./pushed-call.ts";
import { type Session, sessionMethods } from "./session.ts";
import { createSessionTasks } from "./tasks.ts";

const { Server } = await load<{ Server: Constructor<[Json, Json], ServerPeer> }>("sdk/dist/esm/server/index.js");

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true },
  completions: {},
  logging: {},
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
};

const open = new Set<ServerPeer>();

/** Makes the server for one session; connect it to a transport. */
export function createFixture(): ServerPeer {
  const server = new Server({ name: "fixture-2025", version: "1.0.0" }, { capabilities: CAPABILITIES });
  const tasks = createSessionTasks((method, params) => void server.notification({ method, params }).catch(() => {}));
  const session: Session = { logLevel: undefined, subscriptions: new Set(), tasks };
  open.add(server);
  server.onclose = () => {
    open.delete(server);
    tasks.close();
  };
  // The SDK answers this one itself, and then only filters what it sends outside of calls.
  server.removeRequestHandler("logging/setLevel");
  server.fallbackRequestHandler = async ({ method, params = {} }, exchange) => {
    const peer: Peer = { session, capabilities: server.getClientCapabilities() ?? {}, announce };
    const call = createPushedCall(params, exchange, peer);
    const answer = sessionMethods[method] ?? methods[method];
    if (answer === undefined) throw rpcError(-32601, `Method not found: ${method}`);
    return await answer(call, session);
  };
  return server;
}

/** Tells every session: which of them a client listens on is its own affair. */
async function announce(list: "tools" | "prompts"): Promise<void> {
  const told = [...open].map((server) =>
    list === "tools" ? server.sendToolListChanged() : server.sendPromptListChanged(),
  );
  // A session that is just closing has no one to tell.
  await Promise.allSettled(told);
}
