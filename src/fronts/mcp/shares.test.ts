/** What is bounded for all callers together, and how much of it one of them can have. */
import { describe, expect, test } from "vitest";
import { mcpRig } from "../../../tests/kit/mcp-rig.ts";
import { modern } from "../../../tests/kit/modern-client.ts";
import { who } from "../../../tests/kit/policy-rig.ts";
import { type BodyTaker, type HttpRequest, type HttpResponse, LOCAL, type Principal } from "../../contract/index.ts";
import type { McpPathKind } from "./index.ts";

const [ANN, BOB] = [who("ann"), who("bob")];

/** A response that nobody reads. */
class Unread implements HttpResponse {
  status = 0;
  isOver = false;
  onDrain: (() => void) | undefined;
  onClose: (() => void) | undefined;

  answer(status: number): void {
    this.status = status;
    this.isOver = true;
  }

  answerParts(status: number): void {
    this.answer(status);
  }

  open(status: number): void {
    this.status = status;
  }

  write(): boolean {
    return true;
  }

  end(): void {
    this.isOver = true;
  }

  cut(): void {
    this.isOver = true;
  }
}

async function start() {
  const rig = await mcpRig();
  const send = async (principal: Principal, kind: McpPathKind, method: string, body = "", headers = {}) => {
    const response = new Unread();
    const request: HttpRequest = {
      method,
      url: `/${kind}`,
      headers: { host: "127.0.0.1", accept: "application/json, text/event-stream", ...headers },
      principal,
      clientAddress: undefined,
      body: (_max: number, taker: BodyTaker) => taker.onBody(body),
      discard: () => undefined,
    };
    rig.front.handle(request, response, "", kind);
    while (response.status === 0) await new Promise((resolve) => setImmediate(resolve));
    return response;
  };
  const sse = (principal: Principal) => send(principal, "sse", "GET");
  const listen = (principal: Principal, capabilities: object = {}) => {
    const { body, headers } = modern("subscriptions/listen", { notifications: {} }, { capabilities });
    return send(principal, "mcp", "POST", String(body), { "content-type": "application/json", ...headers });
  };
  return { ...rig, sse, listen };
}

async function openAll(count: number, open: (at: number) => Promise<Unread>): Promise<Unread[]> {
  const opened: Unread[] = [];
  for (let at = 0; at < count; at++) opened.push(await open(at));
  expect(opened.every(({ status, isOver }) => status === 200 && !isOver)).toBe(true);
  return opened;
}

describe("one caller", () => {
  test("has a quarter of the streams of 2024, and leaves the rest to others", async () => {
    await using rig = await start();
    const [first] = await openAll(2500, () => rig.sse(ANN));
    expect((await rig.sse(ANN)).status).toBe(503);
    expect((await rig.sse(BOB)).status).toBe(200);
    first?.onClose?.();
    expect([(await rig.sse(ANN)).status, (await rig.sse(ANN)).status]).toEqual([200, 503]);
  });

  test("has a quarter of the listening streams, and leaves the rest to others", async () => {
    await using rig = await start();
    const [first] = await openAll(2500, () => rig.listen(ANN));
    expect((await rig.listen(ANN)).status).toBe(503);
    expect((await rig.listen(BOB)).status).toBe(200);
    first?.onClose?.();
    expect([(await rig.listen(ANN)).status, (await rig.listen(ANN)).status]).toEqual([200, 503]);
  });

  test("has a quarter of the profiles, and makes room among its own", async () => {
    await using rig = await start();
    const profile = (at: number) => ({ experimental: { [`x${at}`]: {} } });
    const bobs = await rig.listen(BOB, profile(0));
    bobs.onClose?.();
    const [first] = await openAll(250, (at) => rig.listen(ANN, profile(at)));
    expect((await rig.listen(ANN, profile(250))).status).toBe(503);
    first?.onClose?.();
    expect((await rig.listen(ANN, profile(250))).status).toBe(200);
    expect((await rig.listen(ANN, profile(251))).status).toBe(503);
    expect((await rig.listen(BOB, profile(1))).status).toBe(200);
    expect(rig.sessions.list().filter(({ principal }) => principal.id === "bob")).toHaveLength(2);
  });

  test("has all of them where nobody is asked who they are", async () => {
    await using rig = await start();
    await openAll(2501, () => rig.sse(LOCAL));
    await openAll(251, (at) => rig.listen(LOCAL, { experimental: { [`x${at}`]: {} } }));
  });
});
