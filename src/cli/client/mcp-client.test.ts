import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import type { Channel, Hear } from "./channel.ts";
import { NoAnswer } from "./channel.ts";
import { type ClientOptions, McpClient, RpcFault } from "./mcp-client.ts";

/** A server that answers each request with what `answer` makes of it; undefined: nobody is there. */
function rig(answer: (method: string, params: JsonObject) => object | undefined, options: Partial<ClientOptions> = {}) {
  const sent: JsonObject[] = [];
  let hear: Hear = () => {};
  const channel: Channel = {
    agree() {},
    close: () => Promise.resolve(),
    send(message) {
      sent.push(message);
      const { id, method, params } = message;
      if (id === undefined || typeof method !== "string") return Promise.resolve();
      const answered = answer(method, (params ?? {}) as JsonObject);
      if (!answered) return Promise.reject(new NoAnswer("gone", true));
      hear({ jsonrpc: "2.0", id, ...answered });
      return Promise.resolve();
    },
  };
  const client = new McpClient({
    ...options,
    connect: (given) => {
      hear = given;
      return channel;
    },
  });
  return { client, sent, hear: (message: JsonObject) => hear(message) };
}

describe("McpClient", () => {
  test("opens a session and says what it can", async () => {
    const { client, sent } = rig(() => ({ result: { protocolVersion: "2025-06-18", serverInfo: { name: "x" } } }), {
      capabilities: { elicitation: {} },
    });
    expect(await client.open()).toMatchObject({ serverInfo: { name: "x" } });
    expect(sent[0]).toMatchObject({ method: "initialize", params: { capabilities: { elicitation: {} } } });
    expect(sent[1]).toEqual({ jsonrpc: "2.0", method: "notifications/initialized" });
  });

  test("reads a list page by page, with what its first page says about servers", async () => {
    const { client } = rig((_method, { cursor }) => ({
      result:
        cursor === undefined
          ? { tools: [{ name: "a" }, "no object"], nextCursor: "2", _meta: { x: 1 } }
          : { tools: [{ name: "b" }] },
    }));
    expect(await client.list("tools/list", "tools")).toEqual({
      entries: [{ name: "a" }, { name: "b" }],
      meta: { x: 1 },
    });
  });

  test("rejects with what the server says, or that nobody is there", async () => {
    const refusing = rig(() => ({ error: { code: -32602, message: "no", data: { a: 1 } } })).client;
    await expect(refusing.request("x", {})).rejects.toMatchObject({ code: -32602, message: "no", data: { a: 1 } });
    await expect(refusing.request("x", {})).rejects.toBeInstanceOf(RpcFault);
    await expect(rig(() => undefined).client.request("x", {})).rejects.toBeInstanceOf(NoAnswer);
  });

  test("answers what it is asked, pings always, and refuses what it does not know", async () => {
    const { sent, hear } = rig(() => ({}), {
      onAsk: (method) => (method === "known" ? Promise.resolve({ yes: true }) : undefined),
    });
    for (const [id, method] of ["known", "ping", "other"].entries()) hear({ jsonrpc: "2.0", id, method });
    await expect.poll(() => sent).toHaveLength(3);
    expect(sent.toSorted((a, b) => Number(a.id) - Number(b.id))).toEqual([
      { jsonrpc: "2.0", id: 0, result: { yes: true } },
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: 2, error: { code: -32601, message: "This client does not know other." } },
    ]);
  });

  test("passes notices on, and survives answers that nobody asked for", () => {
    const heard: string[] = [];
    const { hear } = rig(() => ({}), { onNotice: (method) => heard.push(method) });
    hear({ jsonrpc: "2.0", method: "notifications/progress", params: {} });
    hear({ jsonrpc: "2.0", id: 99, result: {} });
    expect(heard).toEqual(["notifications/progress"]);
  });
});
