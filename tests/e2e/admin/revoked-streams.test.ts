import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { modern } from "../../kit/modern-client.ts";
import { helloServer, type RunningGateway, startGateway } from "../kit/gateway.ts";
import { operatorToken } from "../kit/operator.ts";
import { apiAt, makeToken } from "./api.ts";

const OPEN = '[access]\ndefaultPolicy = "opt-out"\n\n';
const CONFIG = `[gateway]\nsse = true\n\n[auth]\ntokens = true\nlocal = true\n\n${OPEN}${helloServer()}`;
const EVENTS = "text/event-stream";
const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}';

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({ config: CONFIG });
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

/** Reads a stream: until something is in it, and to its end. */
class Reading {
  readonly #reader: ReadableStreamDefaultReader<string>;
  text = "";

  constructor(response: Response) {
    expect(response.status).toBe(200);
    if (!response.body) throw new Error("the answer has no body");
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** False: it ended. */
  async more(): Promise<boolean> {
    const { value, done } = await this.#reader.read().catch(() => ({ value: "", done: true }));
    this.text += value ?? "";
    return !done;
  }

  async until(part: string): Promise<void> {
    while (!this.text.includes(part)) if (!(await this.more())) throw new Error(`it ended: ${this.text}`);
  }

  async ended(): Promise<void> {
    while (await this.more());
  }
}

test("streams of a revoked client end, whether they have a session or not", async () => {
  const api = apiAt(gateway.origin, operatorToken(gateway.program.folder));
  const { token } = await makeToken(api, { user: randomUUID() });
  const headers = { authorization: `Bearer ${token}` };
  const openSse = async () => new Reading(await fetch(`${gateway.origin}/sse`, { headers }));
  const [bare, opened] = [await openSse(), await openSse()];
  for (const stream of [bare, opened]) await stream.until("\n\n");
  const path = /data: (\S+)/.exec(opened.text)?.[1];
  await fetch(`${gateway.origin}${path}`, { method: "POST", headers, body: INITIALIZE });
  await opened.until("serverInfo");
  const { body, headers: more } = modern("subscriptions/listen", { notifications: { toolsListChanged: true } });
  const posted = { ...headers, ...more, "content-type": "application/json", accept: `application/json, ${EVENTS}` };
  const listening = new Reading(await fetch(gateway.url, { method: "POST", headers: posted, body: String(body) }));
  await listening.until("acknowledged");
  const hash = createHash("sha256").update(token).digest("hex");
  expect((await api("POST", "/api/revocations", { type: "client", hash })).status).toBe(201);
  await Promise.all([bare, opened, listening].map((stream) => stream.ended()));
  expect((await fetch(`${gateway.origin}${path}`, { method: "POST", headers, body: INITIALIZE })).status).toBe(401);
});
