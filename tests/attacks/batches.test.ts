/** A caller whose batch has answers that are longer together than any text can be, and others who use the same server. */
import { type ClientRequest, request } from "node:http";
import { afterEach, expect, test } from "vitest";
import { post, toolCall } from "../e2e/kit/rpc.ts";
import { openTo, PEOPLE } from "./kit/config-parts.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const config = openTo("wordy", "wordy-server.mjs");

/** Together more than the 512 MiB that a text can have. */
const CALLS = 255;
const MIB_EACH = 2.2;
const LAST_ID = 1_000;

const batch = JSON.stringify(
  [
    toolCall(LAST_ID, "wordy.wait", {}),
    ...Array.from({ length: CALLS }, (_none, at) => toolCall(at, "wordy.say", { mib: MIB_EACH })),
  ].map((call) => ({ jsonrpc: "2.0", ...call })),
);

describeAttacks("a batch of very long answers", { config, tokens: PEOPLE }, (field) => {
  let sent: ClientRequest | undefined;
  afterEach(() => sent?.destroy());

  const call = (name: string) => field.rpc(toolCall(1, `wordy.${name}`, {}), { as: "ann", at: 0 });
  const answered = async () =>
    Number(((await call("greet")).messages[0]?.result?._meta as { number: number } | undefined)?.number);

  async function send(accept: string, isRead: boolean): Promise<void> {
    const url = `${field.origin(0)}/mcp`;
    const params = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "eve", version: "1" } };
    const opened = await post(url, { id: 0, method: "initialize", params }, field.as("eve"));
    const headers = {
      "content-type": "application/json",
      accept,
      "mcp-session-id": opened.headers.get("mcp-session-id") ?? "",
      ...field.as("eve"),
    };
    sent = request(url, { method: "POST", headers, agent: false });
    sent.on("error", () => undefined);
    sent.on("response", (response) => {
      response.on("error", () => undefined);
      if (isRead) response.resume();
    });
    sent.end(batch);
  }

  test.each([
    ["an array that is not read", "application/json", false],
    ["an array that is read", "application/json", true],
    ["a stream that is not read", "application/json, text/event-stream", false],
  ])("as %s does not touch the calls of others", { timeout: 60_000 }, async (_form, accept, isRead) => {
    const before = await answered();
    const running = fetch(`${field.origin(0)}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", ...field.as("ann") },
      body: JSON.stringify({ jsonrpc: "2.0", ...toolCall(2, "wordy.wait", {}) }),
    }).then((response) => response.json() as Promise<{ result?: object }>);
    await send(accept, isRead);
    await expect.poll(answered, { timeout: 50_000 }).toBeGreaterThan(before + CALLS);
    // The last of the batch, and the one that ann waits for.
    expect((await call("wake")).messages[0]?.result).toBeDefined();
    expect((await running).result).toBeDefined();
    // The server is the same: it has not been started again.
    expect(await answered()).toBeGreaterThan(before + CALLS);
  });
});
