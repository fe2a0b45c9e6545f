import { expect, test } from "vitest";
import { outcomeOf } from "../../hostile/kit/call.ts";
import { McpUpstream, type UpstreamCall } from "../../hostile/kit/mcp-upstream.ts";
import { metric } from "../../hostile/kit/observe.ts";
import { eventually } from "../../kit/eventually.ts";
import { startGateway } from "../kit/gateway.ts";
import { post, type RpcMessage, toolCall } from "../kit/rpc.ts";

const VERSION = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": VERSION,
  "io.modelcontextprotocol/clientInfo": { name: "e2e", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const order = toolCall(1, "shop.order", { what: "tea" }, META);
const headers = {
  ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
  ...{ "mcp-protocol-version": VERSION, "mcp-method": "tools/call", "mcp-name": "shop.order" },
  "idempotency-key": "order-17",
};

test("a call with a key is made once though its client goes away while the server works on it", async () => {
  const taken: UpstreamCall[] = [];
  await using upstream = await McpUpstream.start({ tools: ["order"], onCall: (call) => void taken.push(call) });
  await using gateway = await startGateway({ config: upstream.table("shop") });
  const leaving = new AbortController();
  const body = JSON.stringify({ jsonrpc: "2.0", ...order });
  const left = fetch(gateway.url, { method: "POST", headers, body, signal: leaving.signal }).catch(() => undefined);
  await eventually(
    () => taken.length,
    (count) => count === 1,
  );
  leaving.abort();
  await left;
  await eventually(
    () => metric(gateway, "isthmus_runs_open"),
    (open) => open === 0,
  );
  const again = [await post(gateway.url, order, headers), await post(gateway.url, order, headers)];
  expect(again.map(({ messages }) => outcomeOf(messages.at(-1) as RpcMessage))).toEqual([
    "OUTCOME_UNKNOWN",
    "OUTCOME_UNKNOWN",
  ]);
  expect(taken).toHaveLength(1);
});
