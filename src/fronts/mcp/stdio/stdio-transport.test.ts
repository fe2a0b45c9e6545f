import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { endWith, mcpRig, until } from "../../../../tests/kit/mcp-rig.ts";
import { payload } from "../../../contract/index.ts";

const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}\n';
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}\n';
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"files.echo"}}\n';

async function stdioRig() {
  const rig = await mcpRig();
  const [input, output] = [new PassThrough(), new PassThrough()];
  let text = "";
  output.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  const serving = rig.front.stdio({ input, output, catalog: "" });
  const lines = () => text.split("\n").filter((line) => line !== "");
  async function message(index: number): Promise<Record<string, unknown>> {
    await until(() => lines().length > index);
    return JSON.parse(lines()[index] as string);
  }
  return { ...rig, input, serving, lines, message };
}

describe("MCP on pipes", () => {
  test("answers a client that writes everything at once, in a session", async () => {
    await using rig = await stdioRig();
    rig.runs.onStart = (run) => run.write(endWith({ done: true }));
    rig.input.end(INITIALIZE + INITIALIZED + CALL);
    expect(await rig.message(0)).toMatchObject({ id: 0, result: { protocolVersion: "2025-11-25" } });
    expect(await rig.message(1)).toEqual({ jsonrpc: "2.0", id: 1, result: { done: true } });
    expect(rig.runs.last.call.session?.isEphemeral).toBe(false);
    await rig.serving.closed;
    expect(rig.sessions.size).toBe(0);
  });

  test("takes lines cut anywhere, and bytes beyond ASCII", async () => {
    await using rig = await stdioRig();
    const bytes = Buffer.from('{"jsonrpc":"2.0","id":"ä","method":"ping"}\r\n');
    for (const byte of bytes) rig.input.write(Buffer.from([byte]));
    await until(() => rig.lines().length === 1);
    expect(Buffer.from(rig.lines()[0] as string, "latin1").toString()).toBe('{"jsonrpc":"2.0","id":"ä","result":{}}');
  });

  test("writes each message on one line, however it came", async () => {
    await using rig = await stdioRig();
    rig.runs.onStart = (run) => run.write({ type: "end", outcome: "result", payload: payload('{\n  "a": 1\r\n}') });
    rig.input.write(INITIALIZE + CALL);
    expect(await rig.message(1)).toEqual({ jsonrpc: "2.0", id: 1, result: { a: 1 } });
  });

  test("says what is wrong with a line and goes on", async () => {
    await using rig = await stdioRig();
    rig.input.write(Buffer.from([0xff, 10]));
    rig.input.write("{\n\n");
    rig.input.write(`"${"x".repeat(70_000)}"\n`);
    rig.input.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    await until(() => rig.lines().length === 4);
    expect(rig.lines().map((line) => JSON.parse(line).error?.code)).toEqual([-32700, -32700, -32600, undefined]);
  });

  test("carries questions and notices to the client once it has initialized", async () => {
    await using rig = await stdioRig();
    rig.input.write(INITIALIZE);
    await rig.message(0);
    rig.sessions.notice({ from: "x", to: { principal: "local" }, method: "x/early", payload: payload("{}") });
    expect(rig.lines().length).toBe(1);
    rig.input.write(INITIALIZED);
    expect(await rig.message(1)).toMatchObject({ method: "x/early" });
    const ask = { key: "k", kind: "elicit", method: "elicitation/create", input: payload("{}") } as const;
    rig.runs.onStart = (run) => {
      run.onReply = () => run.write(endWith({}));
      run.write({ type: "ask", asks: [ask] });
    };
    rig.input.write(CALL);
    expect(await rig.message(2)).toMatchObject({ id: 1, method: "elicitation/create" });
    rig.input.write('{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}\n');
    expect(await rig.message(3)).toMatchObject({ id: 1, result: {} });
  });

  test("gives running calls a grace time after the client closed its side, then cancels them", async () => {
    await using rig = await stdioRig();
    rig.input.end(INITIALIZE + CALL);
    await until(() => rig.runs.started.length === 1);
    await until(() => rig.input.readableEnded);
    rig.time.advance(4999);
    expect(rig.runs.last.cancelled).toBeUndefined();
    rig.time.advance(1);
    await rig.serving.closed;
    expect(rig.runs.last.cancelled).toBe("the connection was closed");
  });

  test("goes on without a session that was ended, until the client initializes again", async () => {
    await using rig = await stdioRig();
    rig.runs.onStart = (run) => run.write(endWith({}));
    rig.input.write(INITIALIZE + CALL);
    await rig.message(1);
    rig.sessions.endWhere(() => true, "its catalog is gone");
    rig.input.write(CALL);
    await rig.message(2);
    expect(rig.runs.last.call.session?.isEphemeral).toBe(true);
    rig.input.write(INITIALIZE + CALL);
    await rig.message(4);
    expect(rig.runs.last.call.session?.isEphemeral).toBe(false);
    rig.input.end();
    await rig.serving.closed;
    expect(rig.sessions.size).toBe(0);
  });

  test("starts over when the client initializes again", async () => {
    await using rig = await stdioRig();
    rig.input.write(INITIALIZE + INITIALIZE + CALL);
    await rig.message(1);
    expect(rig.sessions.size).toBe(1);
    expect(rig.catalog.left.length).toBe(1);
  });
});
