import type { Candidate } from "./candidate.ts";
import { direct } from "./direct.ts";
import { fastmcp } from "./fastmcp.ts";
import { isthmus, isthmusGoverned, isthmusTwin } from "./isthmus.ts";
import { mcpHub } from "./mcp-hub.ts";
import { mcpProxy } from "./mcp-proxy.ts";
import { nginx } from "./nginx.ts";
import { sdkNaive } from "./sdk-naive.ts";
import { supergateway } from "./supergateway.ts";

/** In the order of the tables. */
export const CANDIDATES: readonly Candidate[] = [
  direct,
  nginx,
  isthmus,
  isthmusTwin,
  isthmusGoverned,
  mcpProxy,
  supergateway,
  mcpHub,
  fastmcp,
  sdkNaive,
];
