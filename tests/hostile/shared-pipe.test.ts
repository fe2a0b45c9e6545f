import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "../e2e/kit/gateway.ts";
import { callTool, openSession, outcomeOf, type Session, textOf } from "./kit/call.ts";
import { defects, eventually, MIB, residentBytes } from "./kit/observe.ts";
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
    const env = { NODE_OPTIONS: "--max-semi-space-size=1 --max-old-space-size=96" };
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
});
