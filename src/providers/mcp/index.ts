export { mcpConfig, mcpServerSchema } from "./mcp-config.ts";
export { type McpDeps, mcpProvider } from "./mcp-provider.ts";
export { createWatchdog, type Watchdog } from "./stdio/index.ts";
