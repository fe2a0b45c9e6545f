import { Agent, request } from "node:http";
import { connect } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "../e2e/kit/gateway.ts";
import { eventually } from "../kit/eventually.ts";
import { callTool, openSession, type Session, textOf } from "./kit/call.ts";
import { mutate, mutations } from "./kit/mutation.ts";
import { defects, MIB, metric, residentBytes } from "./kit/observe.ts";
import { scriptedServer } from "./kit/stdio-table.ts";
import { wrongMessage } from "./kit/wrong-messages.ts";

const BATCH = 100;
/** 10,000 cases in all; `FUZZ_TIMES=10` for ten times as many. */
const TIMES = Number(process.env.FUZZ_TIMES ?? 1);
const BATCHES_OF_BYTES = 40 * TIMES;
const BATCHES_OF_BODIES = 60 * TIMES;
/** Sessions and runs that are kept for a while have their bounds; ten times as much fuzz comes nearer to them. */
const GROWTH_BYTES = (150 + 10 * TIMES) * MIB;
const HANG_MS = 8_000;

const MESSAGES = [
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"canary.echo","arguments":{"text":"h\\u00e9"},"_meta":{"progressToken":"p"}}}',
  '{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"cursor":"x"}}',
  '{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"f","version":"1"}}}',
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
  '{"jsonrpc":"2.0","id":9,"result":{"action":"accept"}}',
];

describe("the front, fuzzed", () => {
  let gateway: RunningGateway;
  let session: Session;
  let canary: Session;
  let before = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });

  beforeAll(async () => {
    gateway = await startGateway({
      config: `[gateway]\nlogLevel = "warn"\nmaxBody = "256KB"\n${scriptedServer("canary", 'timeout = "2s"')}`,
    });
    session = await openSession(gateway.url, { elicitation: {} });
    canary = await openSession(gateway.url);
    for (let turn = 0; turn < 50; turn++) await sing();
    before = residentBytes(gateway);
  });

  afterAll(async () => {
    agent.destroy();
    await gateway?.[Symbol.asyncDispose]();
  });

  async function sing(): Promise<void> {
    expect(textOf(await callTool(gateway.url, canary, "canary.echo", { text: "sings" }))).toBe("sings");
  }

  /** Writes them in pieces, hangs up, and waits for the other side to do so, too. */
  function throwBytes(text: string, cut: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
      const timer = setTimeout(() => reject(new Error(`no end to ${JSON.stringify(text)}`)), HANG_MS);
      socket.on("error", () => {});
      socket.on("close", () => {
        clearTimeout(timer);
        resolve();
      });
      socket.resume();
      socket.write(text.slice(0, cut), "latin1");
      setImmediate(() => socket.end(text.slice(cut), "latin1"));
    });
  }

  /** A proper request with any body: it gets a proper answer. */
  function send(body: string): Promise<{ status: number; text: string }> {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...session };
    return new Promise((resolve, reject) => {
      const sent = request(gateway.url, {
        method: "POST",
        headers: { ...headers, "content-length": body.length },
        agent,
        timeout: HANG_MS,
      });
      sent.on("timeout", () => sent.destroy(new Error("no answer")));
      sent.on("error", (error) => reject(new Error(`${error.message} to ${body}`)));
      sent.on("response", (response) => {
        let text = "";
        response.setEncoding("latin1").on("data", (part: string) => {
          text += part;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      });
      sent.end(body, "latin1");
    });
  }

  function judge(body: string, { status, text }: { status: number; text: string }): void {
    const isProper = [200, 202, 400, 413].includes(status) && (status === 202) === (text === "");
    const isStream =
      text.startsWith(":") || text.startsWith("id:") || text.startsWith("event:") || text.startsWith("data:");
    const isOurFault = text.includes("The gateway failed");
    if (!isProper || isOurFault || !(text === "" || isStream || text.startsWith('{"jsonrpc":"2.0"')))
      throw new Error(`${status} ${text.slice(0, 300)}\n  to ${JSON.stringify(body)}`);
  }

  const head = () =>
    `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Session-Id: ${session["mcp-session-id"]}\r\n`;
  const requestOf = (message: string, form: number) => {
    const chunks = `${message.length.toString(16)}\r\n${message}\r\n0\r\n\r\n`;
    if (form === 0) return `${head()}Content-Length: ${message.length}\r\n\r\n${message}`;
    if (form === 1) return `${head()}Transfer-Encoding: chunked\r\n\r\n${chunks}`;
    return `${head().replace("POST", form === 2 ? "GET" : "PUT")}Last-Event-ID: x.1\r\n\r\n`;
  };

  test(
    "closes on 4,000 broken requests and stays well",
    async () => {
      const bytes = fc.record({
        text: fc.uint8Array({ maxLength: 300 }).map((all) => Buffer.from(all).toString("latin1")),
        cut: fc.nat(100),
      });
      const broken = fc.record({
        text: fc
          .tuple(fc.constantFrom(...MESSAGES), fc.nat(3), mutations)
          .map(([message, form, list]) => mutate(requestOf(message, form), list)),
        cut: fc.nat(400),
      });
      const batch = fc.array(fc.oneof({ weight: 1, arbitrary: bytes }, { weight: 3, arbitrary: broken }), {
        minLength: BATCH,
        maxLength: BATCH,
      });
      await fc.assert(
        fc.asyncProperty(batch, async (cases) => {
          await Promise.all(cases.map(({ text, cut }) => throwBytes(text, cut)));
          await sing();
        }),
        { numRuns: BATCHES_OF_BYTES, endOnFailure: true },
      );
    },
    60_000 * TIMES,
  );

  test(
    "answers 6,000 wrong bodies properly and stays well",
    async () => {
      const broken = fc.tuple(fc.constantFrom(...MESSAGES), mutations).map(([message, list]) => mutate(message, list));
      const wrong = wrongMessage.map((text) => Buffer.from(text).toString("latin1"));
      const batch = fc.array(fc.oneof(broken, wrong), { minLength: BATCH, maxLength: BATCH });
      await fc.assert(
        fc.asyncProperty(batch, async (cases) => {
          const answers = await Promise.all(cases.map(send));
          for (const [index, answer] of answers.entries()) judge(cases[index] as string, answer);
          await sing();
        }),
        { numRuns: BATCHES_OF_BODIES, endOnFailure: true },
      );
    },
    60_000 * TIMES,
  );

  test("has then no call open, no defect told, and its memory back", async () => {
    expect(
      await eventually(
        () => metric(gateway, "isthmus_runs_open"),
        (open) => open === 0,
      ),
    ).toBe(0);
    expect(defects(gateway)).toEqual([]);
    expect(gateway.program.child.exitCode).toBeNull();
    expect(residentBytes(gateway) - before).toBeLessThan(GROWTH_BYTES);
  });
});
