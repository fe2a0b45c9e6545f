export { type HomedMcpOptions, homedMcpProvider, type WayHome } from "./homed-mcp.ts";
export type { HomedProvider } from "./homed-provider.ts";
