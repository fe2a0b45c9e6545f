/** The client of SDK v1, which knows the revisions up to 2025-11-25. */
import { alike, options, subscribe2025 } from "./client-peer.ts";
import { drive } from "./drive.ts";
import { CAPABILITIES, INFO, NOTIFICATIONS, type Peer, QUESTIONS } from "./peer.ts";
import { type ClientPeerV1, type Constructor, type HttpClientTransport, type Json, load } from "./sdk.ts";

const { Client } = await load<{ Client: Constructor<[Json, Json], ClientPeerV1> }>("sdk/dist/esm/client/index.js");
const { StreamableHTTPClientTransport } = await load<{
  StreamableHTTPClientTransport: Constructor<[URL], HttpClientTransport>;
}>("sdk/dist/esm/client/streamableHttp.js");
const schemas = await load<Record<string, unknown>>("sdk/dist/esm/types.js");

const SCHEMAS: Readonly<Record<(typeof QUESTIONS)[number] | (typeof NOTIFICATIONS)[number], unknown>> = {
  "elicitation/create": schemas.ElicitRequestSchema,
  "sampling/createMessage": schemas.CreateMessageRequestSchema,
  "roots/list": schemas.ListRootsRequestSchema,
  "notifications/message": schemas.LoggingMessageNotificationSchema,
  "notifications/resources/updated": schemas.ResourceUpdatedNotificationSchema,
  "notifications/tools/list_changed": schemas.ToolListChangedNotificationSchema,
  "notifications/resources/list_changed": schemas.ResourceListChangedNotificationSchema,
};

await drive(async (url, ear) => {
  const client = new Client(INFO, { capabilities: CAPABILITIES });
  for (const method of QUESTIONS) client.setRequestHandler(SCHEMAS[method], () => ear.answer(method));
  for (const method of NOTIFICATIONS)
    client.setNotificationHandler(SCHEMAS[method], (notification) => ear.hear(notification));
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  return peerOf(client, transport);
});

function peerOf(client: ClientPeerV1, transport: HttpClientTransport): Peer {
  return {
    ...alike(client),
    isModern: false,
    callTool: (name, args, more) => client.callTool({ name, arguments: args }, undefined, { ...options, ...more }),
    setLogLevel: async (level) => {
      if (level !== undefined) await client.setLoggingLevel(level, options);
    },
    subscribe: (uri) => subscribe2025(client, uri),
    watchLists: async () => async () => {},
    close: async () => {
      await transport.terminateSession();
      await client.close();
    },
  };
}
