/** Name rules: how a provider's name becomes a name in a catalog. */
import { createHash } from "node:crypto";

/** How names look to clients: as they are inside, or without dots and short, for model APIs that allow no others. */
export type Naming = "dotted" | "underscore";

/** The longest name in underscore naming, and how much of a longer one is kept before its mark. */
const MAX_NAME = 64;
const KEPT = 55;

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

/** Whether a name looks like one under a segment. */
export function hasSegment(name: string): boolean {
  return /^[A-Za-z0-9_-]{1,63}\./.test(name);
}

/**
 * A dotted name as underscore naming shows it: "." becomes "__", other characters that model APIs refuse become "_".
 * What is too long then ends in a mark, and so does what could be read as a name under another segment: which name it
 * gets depends on nothing but the name itself, so it stays the same whatever else is served.
 */
export function underscoreName(segment: string, dotted: string): string {
  const plain = plainUnderscores(dotted);
  return plain.length <= MAX_NAME && endsClearly(segment) ? plain : markName(dotted, "underscore");
}

/** The name with eight hex digits that stand for the whole of it; `again` gives further ones. */
export function markName(dotted: string, naming: Naming, again = 0): string {
  const hashed = again === 0 ? dotted : `${dotted} ${again}`;
  const mark = createHash("sha256").update(hashed).digest("hex").slice(0, 8);
  return naming === "dotted" ? `${dotted}_${mark}` : `${plainUnderscores(dotted).slice(0, KEPT)}_${mark}`;
}

function plainUnderscores(dotted: string): string {
  return dotted.replaceAll(".", "__").replace(/[^A-Za-z0-9_-]/g, "_");
}

/** Whether the first "__" after this segment can only be its end. */
function endsClearly(segment: string): boolean {
  return !segment.includes("__") && !segment.endsWith("_");
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
  "oauth",
  "approvals",
  "healthz",
  "readyz",
  "metrics",
];
