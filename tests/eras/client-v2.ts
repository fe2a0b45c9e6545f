/** The client of SDK v2: `--mode legacy` speaks 2025-11-25, `--mode modern` nothing but 2026-07-28. */
import { alike, options, subscribe2025 } from "./client-peer.ts";
import { drive } from "./drive.ts";
import { CAPABILITIES, INFO, NOTIFICATIONS, type Peer, QUESTIONS } from "./peer.ts";
import { type ClientPeerV2, type Constructor, type HttpClientTransport, type Json, load } from "./sdk.ts";

const { Client, StreamableHTTPClientTransport } = await load<{
  Client: Constructor<[Json, Json], ClientPeerV2>;
  StreamableHTTPClientTransport: Constructor<[URL], HttpClientTransport>;
}>("client/dist/index.mjs");

const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

await drive(async (url, ear, mode) => {
  const versionNegotiation = { mode: mode === "modern" ? { pin: "2026-07-28" } : "legacy" };
  const client = new Client(INFO, { capabilities: CAPABILITIES, versionNegotiation });
  for (const method of QUESTIONS) client.setRequestHandler(method, () => ear.answer(method));
  for (const method of NOTIFICATIONS) client.setNotificationHandler(method, (notification) => ear.hear(notification));
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  return peerOf(client, transport, mode === "modern");
});

function peerOf(client: ClientPeerV2, transport: HttpClientTransport, isModern: boolean): Peer {
  let meta: Json | undefined;
  const listen = async (filter: Json) => {
    const subscription = await client.listen(filter, options);
    return () => subscription.close();
  };
  return {
    ...alike(client),
    isModern,
    callTool: (name, args, more) =>
      client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) }, { ...options, ...more }),
    setLogLevel: async (level) => {
      if (isModern) meta = level === undefined ? undefined : { [LOG_LEVEL]: level };
      else if (level !== undefined) await client.setLoggingLevel(level, options);
    },
    subscribe: (uri) => (isModern ? listen({ resourceSubscriptions: [uri] }) : subscribe2025(client, uri)),
    watchLists: async () =>
      isModern ? listen({ toolsListChanged: true, resourcesListChanged: true }) : async () => {},
    close: async () => {
      if (!isModern) await transport.terminateSession();
      await client.close();
    },
  };
}
