import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { endWith, mcpRig, until } from "../../../../tests/kit/mcp-rig.ts";
import { META, modernBody } from "../../../../tests/kit/modern-client.ts";
import { ALL, ask } from "../../../../tests/kit/round-rig.ts";
import { payload } from "../../../contract/index.ts";

const INITIALIZE =
  '{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}\n';
const call = (options: Parameters<typeof modernBody>[2] = {}, more = {}) =>
  `${modernBody("tools/call", { name: "files.echo", ...more }, options)}\n`;
const cancel = (requestId: unknown) =>
  `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } })}\n`;

async function lineRig() {
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

describe("both eras on one pipe", () => {
  test("are told apart message by message", async () => {
    await using rig = await lineRig();
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    rig.input.write(`${modernBody("server/discover", {}, { id: "d" })}\n`);
    expect(await rig.message(0)).toMatchObject({ id: "d", result: { supportedVersions: ["2026-07-28"] } });
    rig.input.write(call({ id: 1 }));
    expect(await rig.message(1)).toMatchObject({ id: 1, result: { resultType: "complete" } });
    rig.input.write(INITIALIZE);
    expect(await rig.message(2)).toMatchObject({ id: "i", result: { protocolVersion: "2025-11-25" } });
    rig.input.write('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"files.echo"}}\n');
    expect(await rig.message(3)).toEqual({ jsonrpc: "2.0", id: 2, result: { content: [] } });
    rig.input.write(call({ id: 3 }));
    expect(await rig.message(4)).toMatchObject({ id: 3, result: { resultType: "complete" } });
  });

  test("do without headers, and not without an envelope that is whole", async () => {
    await using rig = await lineRig();
    rig.input.write(call({ capabilities: 1 }));
    expect(await rig.message(0)).toMatchObject({ id: 1, error: { code: -32602 } });
    rig.input.write(call({ version: "2099-01-01" }));
    expect(await rig.message(1)).toMatchObject({ error: { code: -32022 } });
    rig.input.write(`${modernBody("ping")}\n`);
    expect(await rig.message(2)).toMatchObject({ error: { code: -32601 } });
  });

  test("cancel calls by notification, which get no answer", async () => {
    await using rig = await lineRig();
    rig.input.write(call({ id: 0 }));
    await until(() => rig.runs.started.length === 1);
    rig.input.write(cancel("0") + cancel(0));
    await until(() => rig.runs.last.cancelled !== undefined);
    rig.input.write(`${modernBody("server/discover", {}, { id: "d" })}\n`);
    expect(await rig.message(0)).toMatchObject({ id: "d" });
  });

  test("have rounds", async () => {
    await using rig = await lineRig();
    rig.runs.onStart = (run) => {
      run.onReply = () => run.write(endWith({ content: [] }));
    };
    rig.input.write(call({ id: 1, capabilities: ALL }));
    await until(() => rig.runs.started.length === 1);
    rig.runs.last.write({ type: "ask", asks: [ask("q1")] });
    rig.time.advance(25);
    const { result } = (await rig.message(0)) as { result: { requestState: string } };
    const more = { requestState: result.requestState, inputResponses: { q1: { action: "accept" } } };
    rig.input.write(call({ id: 2, capabilities: ALL }, more));
    expect(await rig.message(1)).toMatchObject({ id: 2, result: { resultType: "complete" } });
    expect(rig.runs.started).toHaveLength(1);
  });

  test("listen, until the client says no more", async () => {
    await using rig = await lineRig();
    const notifications = { toolsListChanged: true };
    rig.input.write(`${modernBody("subscriptions/listen", { notifications }, { id: "L" })}\n`);
    expect(await rig.message(0)).toMatchObject({
      params: { notifications, _meta: { [`${META}subscriptionId`]: "L" } },
    });
    rig.input.write(`${modernBody("subscriptions/listen", { notifications }, { id: "M" })}\n`);
    await rig.message(1);
    rig.input.write(cancel("M"));
    rig.input.end();
    await rig.serving.closed;
    expect(rig.lines()).toHaveLength(2);
  });

  test("end with the pipe", async () => {
    await using rig = await lineRig();
    rig.input.write(call({ meta: { progressToken: 1 } }));
    await until(() => rig.runs.started.length === 1);
    rig.runs.last.write({ type: "progress", payload: payload('{"progress":1}') });
    await rig.message(0);
    rig.serving.close();
    expect(rig.runs.last.cancelled).toBe("the client went away");
  });
});
