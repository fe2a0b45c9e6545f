/** The official SDK's clients, of both major versions, connected to a URL. */
import { type ClientPeer, type Constructor, type HttpTransport, type Json, load } from "./sdk.ts";

export type { ClientPeer, Json } from "./sdk.ts";

export type Connected = { readonly client: ClientPeer; close(): Promise<void> };

type HttpClientTransport = HttpTransport & { terminateSession(): Promise<void> };

const { Client: ClientV1 } = await load<{ Client: Constructor<[Json, Json], ClientPeer> }>(
  "sdk/dist/esm/client/index.js",
);
const { StreamableHTTPClientTransport: HttpTransportV1 } = await load<{
  StreamableHTTPClientTransport: Constructor<[URL], HttpClientTransport>;
}>("sdk/dist/esm/client/streamableHttp.js");
const { ElicitRequestSchema } = await load<{ ElicitRequestSchema: unknown }>("sdk/dist/esm/types.js");
const { Client: ClientV2, StreamableHTTPClientTransport: HttpTransportV2 } = await load<{
  Client: Constructor<[Json, Json], ClientPeer>;
  StreamableHTTPClientTransport: Constructor<[URL], HttpClientTransport>;
}>("client/dist/index.mjs");

const INFO = { name: "isthmus-conformance", version: "1.0.0" };
// The SDK fills in the defaults of a form.
const CAPABILITIES = { elicitation: { form: { applyDefaults: true } } };
const accept = async () => ({ action: "accept", content: {} });

export async function connectV1(url: string): Promise<Connected> {
  const client = new ClientV1(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(ElicitRequestSchema, accept);
  const transport = new HttpTransportV1(new URL(url));
  await client.connect(transport);
  return {
    client,
    async close() {
      await transport.terminateSession();
      await client.close();
    },
  };
}

/** Speaks 2026-07-28 with a server that can. */
export async function connectV2(url: string): Promise<Connected> {
  const client = new ClientV2(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode: "auto" } });
  client.setRequestHandler("elicitation/create", accept);
  await client.connect(new HttpTransportV2(new URL(url)));
  return { client, close: () => client.close() };
}
