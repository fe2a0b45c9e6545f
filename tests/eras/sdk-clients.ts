/** Clients of the official SDKs inside the test: what they were asked and heard is there to look at. */
import type { Constructor, HttpClientTransport, Json, Message } from "./sdk.ts";
import { load } from "./sdk.ts";

export type SdkClient = {
  /** The questions it was asked, in order. */
  readonly asked: Message[];
  /** The ids of the pages that it was told have been visited. */
  readonly visited: unknown[];
  listTools(): Promise<{ readonly name: string; readonly outputSchema?: Json; readonly inputSchema: Json }[]>;
  callTool(name: string, args?: Json): Promise<Json>;
  close(): Promise<void>;
};

interface ClientPeer {
  connect(transport: HttpClientTransport): Promise<void>;
  close(): Promise<void>;
  setRequestHandler(request: unknown, handler: (request: Message) => Promise<Json>): void;
  setNotificationHandler(notification: unknown, handler: (notification: Message) => void): void;
  listTools(): Promise<{ tools: Awaited<ReturnType<SdkClient["listTools"]>> }>;
  callTool(params: Json): Promise<Json>;
}
type Sdk = {
  readonly Client: Constructor<[Json, Json], ClientPeer>;
  readonly StreamableHTTPClientTransport: Constructor<[URL], HttpClientTransport>;
};

const INFO = { name: "isthmus-eras", version: "1.0.0" };
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const ANSWERS: Readonly<Record<string, Json>> = {
  "elicitation/create": { action: "accept", content: { name: "Ada" } },
  "sampling/createMessage": { role: "assistant", model: "none", content: { type: "text", text: "hm" } },
  "roots/list": { roots: [{ uri: "file:///eras" }] },
};
const VISITED = "notifications/elicitation/complete";

export type ClientKind = "v1" | "v2-2025" | "v2-2026";

export async function connectClient(kind: ClientKind, url: string): Promise<SdkClient> {
  const { sdk, named, options } = await (kind === "v1" ? v1() : v2(kind === "v2-2026"));
  const client = new sdk.Client(INFO, { capabilities: CAPABILITIES, ...options });
  const asked: Message[] = [];
  const visited: unknown[] = [];
  for (const [method, answer] of Object.entries(ANSWERS)) {
    client.setRequestHandler(named(method), async (request) => {
      asked.push({ method, ...(request.params && { params: request.params }) });
      return answerTo(request.params, answer);
    });
  }
  if (kind !== "v2-2026")
    client.setNotificationHandler(named(VISITED), ({ params }) => void visited.push(params?.elicitationId));
  await client.connect(new sdk.StreamableHTTPClientTransport(new URL(url)));
  return {
    asked,
    visited,
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, args = {}) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
}

/** A page that is visited brings no content. */
const answerTo = (params: Json | undefined, answer: Json): Json =>
  params?.mode === "url" ? { action: "accept" } : answer;

async function v1() {
  const [{ Client }, { StreamableHTTPClientTransport }, types] = await Promise.all([
    load<Pick<Sdk, "Client">>("sdk/dist/esm/client/index.js"),
    load<Pick<Sdk, "StreamableHTTPClientTransport">>("sdk/dist/esm/client/streamableHttp.js"),
    load<Record<string, unknown>>("sdk/dist/esm/types.js"),
  ]);
  const schemas: Readonly<Record<string, unknown>> = {
    "elicitation/create": types.ElicitRequestSchema,
    "sampling/createMessage": types.CreateMessageRequestSchema,
    "roots/list": types.ListRootsRequestSchema,
    [VISITED]: types.ElicitationCompleteNotificationSchema,
  };
  return { sdk: { Client, StreamableHTTPClientTransport }, named: (method: string) => schemas[method], options: {} };
}

async function v2(isModern: boolean) {
  const sdk = await load<Sdk>("client/dist/index.mjs");
  const versionNegotiation = { mode: isModern ? { pin: "2026-07-28" } : "legacy" };
  return { sdk, named: (method: string): unknown => method, options: { versionNegotiation } };
}
