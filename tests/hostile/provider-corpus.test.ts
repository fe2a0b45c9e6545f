import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "../e2e/kit/gateway.ts";
import { eventually } from "../kit/eventually.ts";
import { MAX_MESSAGE, PROVIDER_CASES } from "./corpus/provider-cases.ts";
import { callTool, openSession, outcomeOf, type Session, textOf } from "./kit/call.ts";
import { McpUpstream, type UpstreamCall } from "./kit/mcp-upstream.ts";
import { defects, metric } from "./kit/observe.ts";
import { scriptedServer } from "./kit/stdio-table.ts";

describe("a call to a server that answers", () => {
  let upstream: McpUpstream;
  let gateway: RunningGateway;
  let session: Session;

  function play(call: UpstreamCall): void {
    const one = PROVIDER_CASES[Number(call.args.index)];
    if (!one) return call.fail({ code: -32602, message: "no such case" });
    const bytes = one.bytes.replaceAll("@ID@", String(call.message.id));
    call.socket.write(Buffer.from(bytes, "latin1"));
    if (one.connection === "reset") setTimeout(() => call.socket.resetAndDestroy(), 20);
    else if (one.connection !== "held") call.socket.end();
  }

  beforeAll(async () => {
    upstream = await McpUpstream.start({ tools: ["play"], onCall: play });
    const table = upstream.table(
      "wild",
      `timeout = "1s"\nbreaker = false\nmaxMessage = "${MAX_MESSAGE / 1000}KB"\n[servers.headers]\nAuthorization = "Bearer hush-hush"\n`,
    );
    gateway = await startGateway({ config: table + scriptedServer("canary") });
    session = await openSession(gateway.url);
  });

  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await upstream?.close();
  });

  test.concurrent.each(PROVIDER_CASES.map((one, index) => ({ ...one, index })))(
    "$name ends with $outcome",
    async ({ index, outcome }) => {
      const [answer, canary] = await Promise.all([
        callTool(gateway.url, session, "wild.play", { index }),
        callTool(gateway.url, session, "canary.echo", { text: "unharmed" }),
      ]);
      expect({ outcome: outcomeOf(answer), text: textOf(answer) }).toMatchObject({
        outcome,
        ...(outcome === "ok" && { text: "good" }),
      });
      expect(textOf(canary)).toBe("unharmed");
      expect(JSON.stringify(answer)).not.toMatch(/hush-hush|secret-stack|127\.0\.0\.1|169\.254|\bat (file:|node:|\/)/);
    },
  );

  test("each without a defect of the gateway, and with nothing left open", async () => {
    expect(defects(gateway)).toEqual([]);
    expect(
      await eventually(
        () => metric(gateway, "isthmus_runs_open"),
        (open) => open === 0,
      ),
    ).toBe(0);
    expect(await metric(gateway, "isthmus_calls_total", "INTERNAL")).toBe(0);
  });
});
