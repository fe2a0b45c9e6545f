/** The lives of clients of both eras: what each does, and at which point it vanishes. */
import type { Random } from "../config/random.ts";
import { type Order, send, sendAndVanish } from "./wire.ts";

export type Clients = {
  readonly origin: string;
  readonly servers: readonly string[];
  /** Calls that were answered. */
  answered: number;
};

/** Connections are dropped within this time after a request, which is about as long as the slow tool takes. */
const VANISH_MS = 60;
const INITIALIZE = {
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "churn", version: "1" } },
};
const META = "io.modelcontextprotocol/";
const ENVELOPE = {
  [`${META}protocolVersion`]: "2026-07-28",
  [`${META}clientInfo`]: { name: "churn", version: "1" },
  [`${META}clientCapabilities`]: {},
};

type Place = { readonly url: string; readonly prefix: string };

/** Everything, or one server alone under its own names. */
function pickPlace({ origin, servers }: Clients, random: Random): Place {
  const server = random.pick(servers);
  const isEverything = random.below(4) === 0;
  return isEverything ? { url: `${origin}/mcp`, prefix: `${server}.` } : { url: `${origin}/${server}/mcp`, prefix: "" };
}

function call({ url, prefix }: Place, tool: string, headers: Record<string, string>): Order {
  return { url, headers, message: { id: 1, method: "tools/call", params: { name: prefix + tool, arguments: {} } } };
}

async function finish(clients: Clients, order: Order): Promise<void> {
  const { status, text } = await send(order);
  if (status !== 200 || !text.includes('"text":"here"')) throw new Error(`HTTP ${status}: ${text}`);
  clients.answered++;
}

async function openSession({ url }: Place): Promise<Record<string, string>> {
  const { session = "" } = await send({ url, message: INITIALIZE });
  const headers = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
  await send({ url, headers, message: { method: "notifications/initialized" } });
  return headers;
}

/** A client of everything whose call has no end but the gateway's. */
export async function stay({ origin, servers }: Clients, random: Random): Promise<void> {
  const place = { url: `${origin}/mcp`, prefix: `${random.pick(servers)}.` };
  send(call(place, "never", await openSession(place))).catch(() => {});
}

export async function live2025(clients: Clients, random: Random): Promise<void> {
  const place = pickPlace(clients, random);
  const vanishMs = random.below(VANISH_MS);
  const end = random.below(8);
  if (end <= 1) return sendAndVanish({ url: place.url, message: INITIALIZE }, vanishMs, end === 0);
  const headers = await openSession(place);
  const order = { url: place.url, headers };
  if (end === 2) await sendAndVanish({ ...order, message: { id: 2, method: "tools/list" } }, vanishMs);
  if (end === 3) await sendAndVanish({ ...order, method: "GET" }, vanishMs);
  if (end === 4) await sendAndVanish(call(place, "never", headers), vanishMs);
  if (end === 5) await sendAndVanish(call(place, "slow", headers), vanishMs);
  if (end >= 6) await finish(clients, call(place, random.pick(["echo", "slow"]), headers));
  // All others leave their session to the idle limit.
  if (end === 7) await send({ ...order, method: "DELETE" });
}

export async function live2026(clients: Clients, random: Random): Promise<void> {
  const { url, prefix } = pickPlace(clients, random);
  const vanishMs = random.below(VANISH_MS);
  const order = (method: string, params: { readonly name?: string } = {}): Order => ({
    url,
    headers: {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(params.name !== undefined && { "mcp-name": params.name }),
    },
    message: { id: 1, method, params: { ...params, _meta: ENVELOPE } },
  });
  const tool = (name: string) => order("tools/call", { name: prefix + name });
  const end = random.below(7);
  if (end === 0) await sendAndVanish(tool("echo"), vanishMs, true);
  else if (end === 1) await sendAndVanish(order("tools/list"), vanishMs);
  else if (end === 2) await sendAndVanish(order("subscriptions/listen"), vanishMs);
  else if (end === 3) await sendAndVanish(tool("never"), vanishMs);
  else if (end === 4) await sendAndVanish(tool("slow"), vanishMs);
  else await finish(clients, tool(random.pick(["echo", "slow"])));
}
