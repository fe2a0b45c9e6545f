import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { serveDemo } from "./demo-server.ts";

async function exchange(...messages: object[]): Promise<Record<string, unknown>[]> {
  const input = new PassThrough();
  const output = new PassThrough();
  let text = "";
  output.on("data", (chunk) => {
    text += chunk;
  });
  const served = serveDemo(input, output);
  for (const message of messages) input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const wanted = messages.filter((message) => "id" in message).length;
  const answers = () =>
    text
      .trimEnd()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  while (answers().filter((answer) => "id" in answer).length < wanted) await new Promise(setImmediate);
  input.end();
  await served;
  return answers();
}

const call = (id: number, name: string, args: object, meta?: object) => ({
  id,
  method: "tools/call",
  params: { name, arguments: args, ...(meta && { _meta: meta }) },
});

describe("serveDemo", () => {
  test("answers names with any character that JSON lets stand", async () => {
    const [answer] = await exchange(call(1, "greet", { name: "a\u2028b" }));
    expect(answer).toMatchObject({ id: 1, result: { content: [{ text: expect.stringContaining("a\u2028b") }] } });
  });

  test("opens, lists four tools and says nothing to notifications", async () => {
    const [opened, listed, ...rest] = await exchange(
      { id: 0, method: "initialize", params: { protocolVersion: "2025-06-18" } },
      { method: "notifications/initialized" },
      { id: "l", method: "tools/list" },
    );
    expect(opened).toMatchObject({ id: 0, result: { protocolVersion: "2025-06-18", capabilities: { tools: {} } } });
    const { tools } = (listed as { result: { tools: { name: string; run?: unknown }[] } }).result;
    expect(tools.map(({ name }) => name)).toEqual(["greet", "add", "count", "forget"]);
    expect(rest).toEqual([]);
  });

  test("answers calls", async () => {
    const answers = await exchange(call(1, "greet", { name: "Ada" }), call(2, "add", { a: 2, b: 3 }));
    expect(answers.map((answer) => (answer.result as { content: unknown }).content)).toEqual([
      [{ type: "text", text: "Hello, Ada!" }],
      [{ type: "text", text: "5" }],
    ]);
  });

  test("reports progress to whoever gave a token", async () => {
    const answers = await exchange(call(1, "count", { to: 2 }, { progressToken: "p" }));
    expect(answers.map((answer) => answer.params ?? answer.id)).toEqual([
      { progressToken: "p", progress: 1, total: 2 },
      { progressToken: "p", progress: 2, total: 2 },
      1,
    ]);
    expect(await exchange(call(1, "count", { to: 2 }))).toHaveLength(1);
  });

  test("refuses what it does not know", async () => {
    const answers = await exchange({ id: 1, method: "resources/list" }, call(2, "nope", {}));
    expect(answers.map((answer) => (answer.error as { code: number }).code)).toEqual([-32601, -32602]);
  });
});
