/** A server on stdio as most are written: with the official SDK, which says more of each tool than its author does. */
import { type Constructor, type Json, load, type Transport } from "../../eras/sdk.ts";

type Text = { readonly content: readonly { readonly type: "text"; readonly text: string }[] };
interface Server {
  registerTool(name: string, about: Json, run: (args: Json) => Promise<Text>): void;
  registerPrompt(name: string, about: Json, run: () => Json): void;
  registerResource(name: string, uri: string, about: Json, run: (uri: URL) => Json): void;
  connect(transport: Transport): Promise<void>;
}

const { McpServer } = await load<{ McpServer: Constructor<[Json, Json], Server> }>("sdk/dist/esm/server/mcp.js");
const { StdioServerTransport } = await load<{ StdioServerTransport: Constructor<[], Transport> }>(
  "sdk/dist/esm/server/stdio.js",
);

const server = new McpServer({ name: "disks", version: "1" }, { instructions: "Wipe nothing that you need." });
server.registerTool("wipe", { description: "Wipes a disk.", annotations: { destructiveHint: true } }, async () => ({
  content: [{ type: "text", text: `wiped by ${process.pid}` }],
}));
server.registerTool("look", { description: "Looks at it.", annotations: { readOnlyHint: true } }, async () => ({
  content: [{ type: "text", text: "still there" }],
}));
server.registerPrompt("plan", { title: "Plan", description: "How to wipe it." }, () => ({ messages: [] }));
server.registerResource("label", "disk://label", { title: "Label", mimeType: "text/plain" }, (uri) => ({
  contents: [{ uri: uri.href, text: "a" }],
}));
await server.connect(new StdioServerTransport());
