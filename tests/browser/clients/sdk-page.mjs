// What runs in a page: the official SDK's clients of both major versions, bundled for browsers. The test calls `useGateway`.
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const INFO = { name: "a-page", version: "1.0.0" };
const negotiation = (mode) => ({ versionNegotiation: { mode } });

const KINDS = {
  v1: {
    Client: ClientV1,
    Transport: TransportV1,
    options: {},
    call: (client, params, how) => client.callTool(params, undefined, how),
  },
  "v2-2025": { Client: ClientV2, Transport: TransportV2, options: negotiation("legacy") },
  "v2-2026": { Client: ClientV2, Transport: TransportV2, options: negotiation({ pin: "2026-07-28" }) },
};

/** Connects, lists, calls and leaves; resolves with all that came of it. */
globalThis.useGateway = async ({ kind, url, token }) => {
  const { Client, Transport, options, call = (client, params, how) => client.callTool(params, how) } = KINDS[kind];
  const client = new Client(INFO, { capabilities: {}, ...options });
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const transport = new Transport(new URL(url), { requestInit: { headers } });
  await client.connect(transport);
  const { sessionId } = transport;
  const { tools } = await client.listTools();
  const steps = [];
  const onprogress = ({ progress }) => steps.push(progress);
  const { content } = await call(client, { name: "hello.count", arguments: { to: 3 } }, { onprogress });
  if (sessionId !== undefined) await transport.terminateSession();
  await client.close();
  return { sessionId, tools: tools.map(({ name }) => name), steps, text: content[0].text };
};
