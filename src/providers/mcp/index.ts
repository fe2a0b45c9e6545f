export { SocketBound, type SocketOpener } from "./http/index.ts";
export { type McpConfig, mcpConfig, mcpServerSchema } from "./mcp-config.ts";
export { hasOwnChild, type McpDeps, mcpProvider } from "./mcp-provider.ts";
export { createWatchdog, type Watchdog } from "./stdio/index.ts";
