/** A client over Streamable HTTP that sends texts exactly as they are and reads events by the letter of the standard. */
import { Agent, type IncomingMessage, request } from "node:http";
import { type Client, type Conversation, INITIALIZED, initializeText, isListChange } from "./client.ts";
import { Inbox } from "./inbox.ts";

export type Answered = { readonly status: number; readonly session: string | undefined; readonly inbox: Inbox<string> };

export type PostOptions = {
  readonly agent: Agent;
  readonly session?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly inbox?: Inbox<string>;
};

/** Posts bytes. Resolves with the head; messages come into the inbox as they arrive. */
function post(url: string, body: Buffer, options: PostOptions): Promise<Answered> {
  const inbox = options.inbox ?? new Inbox<string>("an answer over HTTP");
  const session = options.session === undefined ? {} : { "mcp-session-id": options.session };
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "content-length": String(body.length),
    ...session,
    ...options.headers,
  };
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const sending = request(url, { method: "POST", agent: options.agent, headers }, (response) => {
    readMessages(response, inbox);
    const id = response.headers["mcp-session-id"];
    resolve({ status: response.statusCode ?? 0, session: id === undefined ? undefined : String(id), inbox });
  });
  sending.on("error", reject);
  sending.end(body);
  return promise;
}

function readMessages(response: IncomingMessage, inbox: Inbox<string>): void {
  let text = "";
  const isStream = response.headers["content-type"] === "text/event-stream";
  response.setEncoding("latin1");
  response.on("data", (chunk: string) => {
    text += chunk;
    if (isStream) text = takeEvents(text, inbox);
  });
  response.on("end", () => {
    if (!isStream && text !== "") inbox.push(text);
  });
  response.on("error", () => undefined);
}

/** Hands out the data of every whole event and returns what is left. */
function takeEvents(stream: string, inbox: Inbox<string>): string {
  let rest = stream;
  for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
    const lines = rest.slice(0, end).split(/\r\n|\r|\n/);
    const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(line[5] === " " ? 6 : 5));
    rest = rest.slice(end + 2);
    const text = data.join("\n");
    if (text !== "" && !isListChange(text)) inbox.push(text);
  }
  return rest;
}

export async function openHttpClient(url: string, capabilities?: object, version?: string): Promise<HttpClient> {
  const agent = new Agent({ keepAlive: true });
  const opened = await post(url, Buffer.from(initializeText(capabilities, version)), { agent });
  await opened.inbox.next();
  const client = new HttpClient(url, agent, opened.session ?? "");
  await client.tell(INITIALIZED);
  return client;
}

export class HttpClient implements Client {
  readonly url: string;
  readonly agent: Agent;
  readonly session: string;
  readonly outside = new Inbox<string>("a message outside any call");

  constructor(url: string, agent: Agent, session: string) {
    this.url = url;
    this.agent = agent;
    this.session = session;
  }

  request(text: string): Conversation {
    const inbox = new Inbox<string>("a message about a call over HTTP");
    const body = Buffer.from(text, "latin1");
    post(this.url, body, { agent: this.agent, session: this.session, inbox }).catch((error) =>
      inbox.push(`not sent: ${error}`),
    );
    return { inbox };
  }

  async tell(text: string): Promise<void> {
    const { status } = await post(this.url, Buffer.from(text, "latin1"), { agent: this.agent, session: this.session });
    if (status !== 202) throw new Error(`a message without an answer got HTTP ${status}`);
  }

  /** Opens the stream on which `outside` comes. */
  async listen(): Promise<void> {
    const headers = { accept: "text/event-stream", "mcp-session-id": this.session };
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sending = request(this.url, { agent: this.agent, headers }, (response) => {
      readMessages(response, this.outside);
      resolve();
    });
    sending.on("error", reject);
    sending.end();
    await promise;
  }

  close(): Promise<void> {
    this.agent.destroy();
    return Promise.resolve();
  }
}
