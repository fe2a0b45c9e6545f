/** Every way to reach a tool. */
import { Agent, get, type IncomingMessage, request } from "node:http";
import { INITIALIZED, initializeText, isListChange } from "../kit/client.ts";
import { openHttpClient } from "../kit/http-client.ts";
import { Inbox } from "../kit/inbox.ts";
import { openStdioClient } from "../kit/stdio-client.ts";

/** What came back: over HTTP the status and the body; on a line one message. */
export type Outcome = { readonly status: number; readonly body: string };

export interface Way {
  readonly name: string;
  /** What stands before the names of the tools of "files". */
  readonly prefix: string;
  readonly inCatalog: boolean;
  /** `hasAnswer`: wait for what comes back on the line. */
  send(bytes: Buffer, hasAnswer: boolean): Promise<Outcome>;
  /** Messages that came and were not waited for. */
  rest(): string[];
  log(): string;
  close(): Promise<void>;
}

const IN_ALL = { prefix: "files.", inCatalog: false };
const agent = new Agent({ keepAlive: true });

/** Posts bytes and reads the response to its end. */
export function exchange(url: string, bytes: Buffer, headers: Record<string, string> = {}): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const all = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers };
  const sending = request(url, { method: "POST", agent, headers: all }, (response) => {
    let body = "";
    response.setEncoding("latin1").on("data", (chunk: string) => {
      body += chunk;
    });
    response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
  });
  sending.on("error", reject);
  sending.end(bytes);
  return promise;
}

const overHttp = { rest: () => [], close: () => Promise.resolve() };

export async function openSessionWay(origin: string, log: () => string): Promise<Way> {
  const { session } = await openHttpClient(`${origin}/mcp`, {});
  const send = (bytes: Buffer) => exchange(`${origin}/mcp`, bytes, { "mcp-session-id": session });
  return { ...overHttp, ...IN_ALL, name: "a session on /mcp", log, send };
}

export async function openCatalogWay(origin: string, log: () => string): Promise<Way> {
  const { session } = await openHttpClient(`${origin}/files/mcp`, {});
  const send = (bytes: Buffer) => exchange(`${origin}/files/mcp`, bytes, { "mcp-session-id": session });
  return { ...overHttp, name: "a session on /files/mcp", prefix: "", inCatalog: true, log, send };
}

export function openEphemeralWay(origin: string, log: () => string): Promise<Way> {
  const send = (bytes: Buffer) => exchange(`${origin}/mcp`, bytes);
  return Promise.resolve({ ...overHttp, ...IN_ALL, name: "no session on /mcp", log, send });
}

export async function openBatchWay(origin: string, log: () => string): Promise<Way> {
  const { session } = await openHttpClient(`${origin}/mcp`, {}, "2025-03-26");
  const send = (bytes: Buffer) => {
    const batch = Buffer.concat([Buffer.from("["), bytes, Buffer.from("]")]);
    return exchange(`${origin}/mcp`, batch, { "mcp-session-id": session });
  };
  return { ...overHttp, ...IN_ALL, name: "a batch on 2025-03-26", log, send };
}

export async function openStdioWay(config: string): Promise<Way> {
  const client = await openStdioClient(config);
  return {
    ...IN_ALL,
    name: "isthmus stdio",
    async send(bytes, hasAnswer) {
      client.write(Buffer.from(bytes.toString("latin1").replace(/[\r\n]/g, " "), "latin1"));
      return { status: 200, body: hasAnswer ? await client.outside.next() : "" };
    },
    rest: () => client.outside.drain(),
    log: () => client.program.stderr,
    close: () => client.close(),
  };
}

/** HTTP+SSE of 2024: a stream, and an address to post to that it names. */
export async function openSseWay(origin: string, log: () => string): Promise<Way> {
  const inbox = new Inbox<string>("an event of the 2024 transport");
  const response = await new Promise<IncomingMessage>((resolve) => get(`${origin}/sse`, { agent: false }, resolve));
  let stream = "";
  response.setEncoding("latin1").on("data", (chunk: string) => {
    const events = (stream + chunk).split("\n\n");
    stream = events.pop() ?? "";
    for (const event of events) {
      const text = /^data: (.*)$/m.exec(event)?.[1];
      if (text !== undefined && !isListChange(text)) inbox.push(text);
    }
  });
  response.on("error", () => undefined);
  const url = origin + (await inbox.next());
  await exchange(url, Buffer.from(initializeText({}, "2024-11-05")));
  await inbox.next();
  await exchange(url, Buffer.from(INITIALIZED));
  return {
    ...IN_ALL,
    name: "HTTP+SSE of 2024",
    async send(bytes, hasAnswer) {
      const { status, body } = await exchange(url, bytes);
      return { status, body: hasAnswer && status === 202 ? await inbox.next() : body };
    },
    rest: () => inbox.drain(),
    log,
    close() {
      response.destroy();
      return Promise.resolve();
    },
  };
}
