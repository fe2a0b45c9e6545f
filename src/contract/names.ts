/** Name rules: how a provider's name becomes a name in a catalog. */

/** A segment from an id: what does not fit `[A-Za-z0-9_-]` becomes `_`, at most 63 characters. */
export function segmentOf(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 63);
}

/**
 * The name under which a view shows a primitive. An empty segment leaves it exactly as it is; under a segment only
 * what does not fit `[A-Za-z0-9_-]` is mapped, so that the first dot always ends the segment.
 */
export function joinName(segment: string, name: string): string {
  return segment === "" ? name : `${segment}.${name.replace(/[^A-Za-z0-9_-]/g, "_")}`;
}

/** Path words of the outside surface: no catalog may take one as its id. */
export const RESERVED_CATALOG_IDS: readonly string[] = [
  "mcp",
  "sse",
  "messages",
  "mcpax",
  "a2a",
  ".well-known",
  "ws",
  "admin",
  "macp",
  "api",
  "openapi.json",
  "healthz",
  "readyz",
  "metrics",
];
