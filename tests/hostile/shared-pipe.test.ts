import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "../e2e/kit/gateway.ts";
import { post, type RpcMessage, toolCall } from "../e2e/kit/rpc.ts";
import { eventually } from "../kit/eventually.ts";
import { callTool, openSession, outcomeOf, type Session, textOf } from "./kit/call.ts";
import { defects, MIB, metric, residentBytes } from "./kit/observe.ts";
import { scriptedServer } from "./kit/stdio-table.ts";

const base64 = (text: string) => Buffer.from(text, "latin1").toString("base64");
const RELATED = '"io.modelcontextprotocol/related-task"';

describe("a server on a shared pipe", () => {
  let gateway: RunningGateway;
  let session: Session;

  beforeAll(async () => {
    gateway = await startGateway({ config: scriptedServer("pipe", 'timeout = "3s"') });
    session = await openSession(gateway.url);
  });

  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
  });

  test.each([
    ["text that is no message", "hello\n"],
    ["half a message", '{"jsonrpc":"2.0","id":@ID@,"res\n'],
    ["bytes that are no UTF-8", "\xff\xfe\xfd\n"],
    ["a message nested too deep", `${"[".repeat(500)}\n`],
    [
      "an ambiguous _meta in a notification",
      `{"jsonrpc":"2.0","method":"notifications/message","params":{"_meta":{${RELATED}:{},${RELATED}:{}}}}\n`,
    ],
    [
      "an ambiguous _meta in a question",
      `{"jsonrpc":"2.0","id":"q","method":"roots/list","params":{"_meta":{${RELATED}:{},${RELATED}:{}}}}\n`,
    ],
    ["a method named as a prototype", '{"jsonrpc":"2.0","id":"q","method":"__proto__"}\n'],
    [
      "notifications named as what every object has",
      ["hasOwnProperty", "__proto__", "valueOf"].map((name) => `{"jsonrpc":"2.0","method":"${name}"}\n`).join(""),
    ],
    ["answers to nobody", '{"jsonrpc":"2.0","id":98765,"result":{}}\n'.repeat(1000)],
    [
      "lists that changed a thousand times",
      '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'.repeat(1000),
    ],
  ])("that writes %s harms no call beside it", async (_title, text) => {
    const count = async () => Number(textOf(await callTool(gateway.url, session, "pipe.count")));
    const before = await count();
    const beside = callTool(gateway.url, session, "pipe.sleep", { ms: 50 });
    const answer = await callTool(gateway.url, session, "pipe.raw", { bytes: base64(text), isAnswered: true });
    expect(textOf(answer)).toBe("then");
    expect(textOf(await beside)).toBe("slept");
    // Still the same process.
    expect(await count()).toBe(before + 1);
    expect(defects(gateway)).toEqual([]);
  });

  test.each([
    ["of 30,000 messages", '{"jsonrpc":"2.0","method":"notifications/x"},'.repeat(30_000)],
    ["of two", '{"jsonrpc":"2.0","method":"notifications/x"},'],
    ["of what is no message", "1,".repeat(1_000_000)],
  ])("that answers in a batch %s fails that call alone, at once", async (_title, before) => {
    const beside = callTool(gateway.url, session, "pipe.sleep", { ms: 200 });
    const text = `[{"jsonrpc":"2.0","id":@ID@,"result":{"content":[]}},${before}1]\n`;
    expect(outcomeOf(await callTool(gateway.url, session, "pipe.raw", { bytes: base64(text) }))).toBe(
      "PROVIDER_FAILED",
    );
    expect(textOf(await beside)).toBe("slept");
    expect(defects(gateway)).toEqual([]);
  });

  test("that answers with an ambiguous _meta fails that call alone", async () => {
    const beside = callTool(gateway.url, session, "pipe.sleep", { ms: 200 });
    const text = `{"jsonrpc":"2.0","id":@ID@,"result":{"content":[],"_meta":{${RELATED}:{"taskId":"a"},${RELATED}:{}}}}\n`;
    expect(outcomeOf(await callTool(gateway.url, session, "pipe.raw", { bytes: base64(text) }))).toBe(
      "PROVIDER_FAILED",
    );
    expect(textOf(await beside)).toBe("slept");
    expect(defects(gateway)).toEqual([]);
  });
});

describe("a server on a pipe that goes too far", () => {
  test("by a line beyond maxMessage is ended, and comes back", async () => {
    await using gateway = await startGateway({ config: scriptedServer("pipe", 'maxMessage = "64KB"') });
    const session = await openSession(gateway.url);
    const answer = await callTool(gateway.url, session, "pipe.raw", { bytes: base64("x".repeat(70_000)) });
    expect(outcomeOf(answer)).toBe("PROVIDER_FAILED");
    expect(textOf(await callTool(gateway.url, session, "pipe.echo", { text: "back" }))).toBe("back");
  });

  test("and reads nothing any more does not fill the gateway's memory", async () => {
    const env = { NODE_OPTIONS: "--max-semi-space-size=1 --max-old-space-size=160" };
    await using gateway = await startGateway({ config: scriptedServer("pipe", 'timeout = "300ms"'), env });
    const session = await openSession(gateway.url);
    await callTool(gateway.url, session, "pipe.plug");
    const before = residentBytes(gateway);
    const text = "x".repeat(2 * MIB);
    const outcomes = new Set<string>();
    // Those that were sent run out of time; then nothing more is sent, and the server is started anew.
    for (let turn = 0; turn < 8; turn++) {
      const calls = Array.from({ length: 4 }, () => callTool(gateway.url, session, "pipe.echo", { text }));
      for (const answer of await Promise.all(calls)) outcomes.add(outcomeOf(answer));
    }
    expect(["DEADLINE_PASSED", "PROVIDER_UNREACHABLE", "ok"]).toEqual(expect.arrayContaining([...outcomes]));
    expect(outcomes).toContain("PROVIDER_UNREACHABLE");
    const again = () => callTool(gateway.url, session, "pipe.echo", { text: "back" });
    expect(textOf(await eventually(again, (answer) => outcomeOf(answer) === "ok"))).toBe("back");
    expect(residentBytes(gateway) - before).toBeLessThan(128 * MIB);
  });

  test("and asks on and on without reading an answer is ended, comes back, and leaves a few lines in the log", async () => {
    await using gateway = await startGateway({ config: scriptedServer("pipe", 'timeout = "1s"') });
    const session = await openSession(gateway.url);
    const before = gateway.program.stderr.length;
    expect(outcomeOf(await callTool(gateway.url, session, "pipe.nag"))).not.toBe("ok");
    const again = () => callTool(gateway.url, session, "pipe.echo", { text: "back" });
    expect(textOf(await eventually(again, (answer) => outcomeOf(answer) === "ok", 20_000))).toBe("back");
    const lines = gateway.program.stderr.slice(before).split("\n");
    expect(lines.filter((line) => line.includes("not delivered")).length).toBeLessThanOrEqual(1);
    expect(lines.filter((line) => line.includes("does not read")).length).toBeGreaterThan(0);
    expect(defects(gateway)).toEqual([]);
  });

  test("by a flood on standard error gets a part of it into the log, and the rest is counted", async () => {
    const config = `[gateway]\nlogLevel = "debug"\n${scriptedServer("pipe")}`;
    await using gateway = await startGateway({ config });
    const session = await openSession(gateway.url);
    expect(textOf(await callTool(gateway.url, session, "pipe.grumble", { lines: 20_000 }))).toBe("grumbled");
    const counted = () => /server wrote more to stderr.*/.exec(gateway.program.stderr)?.[0];
    expect(await eventually(counted, (line) => line !== undefined)).toMatch(/"lines":\d{3,}/);
    expect(gateway.program.stderr.match(/server wrote to stderr/g)?.length).toBeLessThan(5_000);
  });

  test.each([
    ["a log line", "notifications/message"],
    ["what nobody knows", "notifications/shout"],
  ])("by %s of many MiB says it to nobody, with one line in the log", async (_, method) => {
    await using gateway = await startGateway({ config: scriptedServer("pipe") });
    const session = await openSession(gateway.url);
    const { messages } = await post(
      gateway.url,
      toolCall(1, "pipe.shout", { bytes: 2 * MIB, times: 5, method }),
      session,
    );
    expect(messages).toHaveLength(1);
    expect(textOf(messages[0] as RpcMessage)).toBe("shouted");
    expect(gateway.program.stderr.match(/notification too large/g)).toHaveLength(1);
    expect(await metric(gateway, "isthmus_notices_dropped_total", "too-large")).toBe(5);
    expect(defects(gateway)).toEqual([]);
  });
});
