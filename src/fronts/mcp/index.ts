export type { McpFrontConfig, McpPorts } from "./front-context.ts";
export { createGate, type Gate } from "./http/gate.ts";
export { createMcpFront, type McpFront, type McpPathKind } from "./mcp-front.ts";
export type { StdioOptions, StdioServing } from "./stdio/stdio-transport.ts";
