export type { FrontCluster, McpFrontConfig, McpPorts } from "./front-context.ts";
export { createGate } from "./http/gate.ts";
export { createMcpFront, type McpFront, type McpPathKind } from "./mcp-front.ts";
export type { StdioOptions } from "./stdio/stdio-transport.ts";
