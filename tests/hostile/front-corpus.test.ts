import { request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "../e2e/kit/gateway.ts";
import { BYTE_CASES } from "./corpus/byte-cases.ts";
import { FRONT_CASES, type FrontCase, MAX_BODY } from "./corpus/front-cases.ts";
import { callTool, openSession, type Session, textOf } from "./kit/call.ts";
import { defects, metric } from "./kit/observe.ts";
import { scriptedServer } from "./kit/stdio-table.ts";

describe("the front answers", () => {
  let gateway: RunningGateway;
  let session: Session;
  let canary: Session;

  beforeAll(async () => {
    const config = `[gateway]\nmaxBody = "${MAX_BODY / 1000}KB"\n${scriptedServer("canary")}${scriptedServer("other")}`;
    gateway = await startGateway({ config });
    session = await openSession(gateway.url);
    canary = await openSession(gateway.url);
  });

  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
  });

  /** Sends it as it is; nothing is added but what HTTP cannot do without. */
  function send(one: FrontCase): Promise<{ status: number; text: string }> {
    const base = { "content-type": "application/json", accept: "application/json, text/event-stream", ...session };
    const body = one.body === undefined ? undefined : Buffer.from(one.body);
    const length = body && { "content-length": String(body.length) };
    const headers = Object.entries({ ...base, ...length, ...one.headers }).filter(([, value]) => value !== undefined);
    return new Promise((resolve, reject) => {
      const sent = request(gateway.origin + (one.path ?? "/mcp"), {
        method: one.method ?? "POST",
        headers: Object.fromEntries(headers) as Record<string, string>,
        agent: false,
      });
      sent.on("error", reject);
      sent.on("response", (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part) => {
          text += part;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.on("error", reject);
      });
      sent.end(body);
    });
  }

  test.each(FRONT_CASES)("$name with $status", async (one) => {
    const { status, text } = await send(one);
    const answer = text.startsWith("{") ? JSON.parse(text) : undefined;
    expect({ status, error: answer?.error?.code }).toEqual({
      status: one.status,
      error: one.error ?? answer?.error?.code,
    });
    if (one.error === undefined && one.status === 200) expect(answer).not.toHaveProperty("error");
    if (one.error !== undefined && one.status !== 413) expect(text).toContain(`"id":${one.id ?? "null"}`);
    else if (one.id !== undefined) expect(text).toContain(`"id":${one.id}`);
    expect(text).not.toMatch(/\bat (file:|node:|\/)|The gateway failed/);
    expect(textOf(await callTool(gateway.url, canary, "canary.echo", { text: "still here" }))).toBe("still here");
  });

  test.each(BYTE_CASES)("$name with $status, and closes", async ({ bytes, status }) => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
      let text = "";
      socket.setEncoding("latin1").on("data", (part: string) => {
        text += part;
      });
      socket.on("close", () => resolve(text));
      socket.on("error", (error) => (text === "" ? reject(error) : resolve(text)));
      socket.write(Buffer.from(bytes, "latin1"));
    });
    expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
  });

  test("each without a defect of its own, and with nothing left open", async () => {
    expect(defects(gateway)).toEqual([]);
    expect(await metric(gateway, "isthmus_runs_open")).toBe(0);
    expect(gateway.program.child.exitCode).toBeNull();
  });
});
