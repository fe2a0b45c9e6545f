import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "../e2e/kit/gateway.ts";
import { post } from "../e2e/kit/rpc.ts";
import { eventually } from "../kit/eventually.ts";
import { callTool, openSession, outcomeOf, type Session, textOf } from "./kit/call.ts";
import { McpUpstream, type UpstreamCall } from "./kit/mcp-upstream.ts";
import { defects, MIB, metric, residentBytes } from "./kit/observe.ts";
import { scriptedServer } from "./kit/stdio-table.ts";
import { wrongHandshake, wrongLines, wrongResponse } from "./kit/wrong-answers.ts";

const BATCH = 100;
/** 6,000 cases in all; `FUZZ_TIMES=10` for ten times as many. */
const TIMES = Number(process.env.FUZZ_TIMES ?? 1);
/** Sessions and runs that are kept for a while have their bounds; ten times as much fuzz comes nearer to them. */
const GROWTH_BYTES = (150 + 10 * TIMES) * MIB;

/** Every way a call to such a server may end; a fault is its own error, as it wrote it. INTERNAL is none of them. */
const DOCUMENTED = /^(ok$|fault |PROVIDER_FAILED$|PROVIDER_UNREACHABLE$|OUTCOME_UNKNOWN$|DEADLINE_PASSED$)/;

describe("a provider, fuzzed", () => {
  const answers: string[] = [];
  const handshakes = new Map<string, string>();
  let upstream: McpUpstream;
  let gateway: RunningGateway;
  let session: Session;
  let before = 0;

  function throwBytes(call: Pick<UpstreamCall, "socket" | "message">, text: string, cut = text.length / 2): void {
    const bytes = text.replaceAll("@ID@", String(call.message.id));
    call.socket.write(bytes.slice(0, cut), "latin1");
    setImmediate(() => call.socket.end(bytes.slice(cut), "latin1"));
  }

  beforeAll(async () => {
    upstream = await McpUpstream.start({
      tools: ["play"],
      onCall: (call) => throwBytes(call, answers[Number(call.args.index)] as string),
      onRequest(message, request) {
        // A session of a client's own is opened under the client's own name.
        const { name = "" } = (message.params?.clientInfo ?? {}) as { name?: string };
        const handshake = message.method === "initialize" ? handshakes.get(name) : undefined;
        if (handshake !== undefined) throwBytes({ socket: request.socket, message }, handshake);
        return handshake !== undefined;
      },
    });
    const wild = 'timeout = "1s"\nmaxMessage = "64KB"\nconcurrency = 128\n';
    const config = `[gateway]\nlogLevel = "error"\n${upstream.table("wild", wild)}${upstream.table("own", `sessions = "per-client"\n${wild}`)}${scriptedServer("pipe", wild)}${scriptedServer("canary")}`;
    gateway = await startGateway({ config });
    session = await openSession(gateway.url);
    for (let turn = 0; turn < 50; turn++) await sing();
    before = residentBytes(gateway);
  });

  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await upstream?.close();
  });

  async function sing(): Promise<void> {
    expect(textOf(await callTool(gateway.url, session, "canary.echo", { text: "sings" }))).toBe("sings");
  }

  async function judge(
    cases: readonly string[],
    call: (text: string, index: number) => ReturnType<typeof callTool>,
  ): Promise<void> {
    const ends = await Promise.all(cases.map(call));
    for (const [index, end] of ends.entries()) {
      const outcome = outcomeOf(end);
      if (!DOCUMENTED.test(outcome)) throw new Error(`${outcome} after ${JSON.stringify(cases[index])}`);
    }
    await sing();
  }

  const batchOf = (one: fc.Arbitrary<string>) => fc.array(one, { minLength: BATCH, maxLength: BATCH });
  const options = (numRuns: number) => ({ numRuns: numRuns * TIMES, endOnFailure: true });

  test(
    "ends each of 3,000 calls to an HTTP server as documented",
    async () => {
      const property = fc.asyncProperty(batchOf(wrongResponse), async (cases) => {
        answers.splice(0, answers.length, ...cases);
        await judge(cases, (_text, index) =>
          callTool(gateway.url, session, "wild.play", { index }, { progressToken: index }),
        );
      });
      await fc.assert(property, options(30));
    },
    60_000 * TIMES,
  );

  test(
    "ends each of 2,800 calls to a stdio server as documented",
    async () => {
      const property = fc.asyncProperty(batchOf(wrongLines), async (cases) => {
        const bytes = (text: string) => Buffer.from(text, "latin1").toString("base64");
        await judge(cases, (text) =>
          callTool(gateway.url, session, "pipe.raw", { bytes: bytes(text), isAnswered: true }, { progressToken: 1 }),
        );
      });
      await fc.assert(property, options(28));
    },
    60_000 * TIMES,
  );

  test(
    "opens or refuses each of 200 sessions that begin wrong",
    async () => {
      async function begin(text: string, index: number) {
        const name = `client ${index}`;
        handshakes.set(name, text);
        const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1" } };
        const { headers } = await post(gateway.url, { id: 0, method: "initialize", params });
        const own = { "mcp-session-id": headers.get("mcp-session-id") ?? "" };
        const end = await callTool(gateway.url, own, "own.play", { index: 0 });
        await fetch(gateway.url, { method: "DELETE", headers: own });
        return end;
      }
      const property = fc.asyncProperty(fc.array(wrongHandshake, { minLength: 40, maxLength: 40 }), (cases) =>
        judge(cases, begin),
      );
      await fc.assert(property, options(5));
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
    expect(await metric(gateway, "isthmus_calls_total", "INTERNAL")).toBe(0);
    expect(residentBytes(gateway) - before).toBeLessThan(GROWTH_BYTES);
  });
});
