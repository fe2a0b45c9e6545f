import { posix } from "node:path";
import { mask } from "./mask.ts";

/** `to` is a path from the root for a relative import, else the specifier as written (`node:fs`, `zod`). */
export type Edge = { from: string; to: string };

// On masked text: `from "…"` of an import or export, a bare `import "…"`, and `import("…")` with a literal.
const SPECIFIER = /(?:\bfrom|\bimport)\s*\(?\s*(["'`])/g;

/** Every import, export-from and dynamic import of a file that names its target as a literal. */
export function readImports(path: string, source: string): Edge[] {
  const masked = mask(source);
  return [...masked.matchAll(SPECIFIER)].map((match) => {
    const start = match.index + match[0].length;
    const specifier = source.slice(start, masked.indexOf(match[1] as string, start));
    return { from: path, to: resolveSpecifier(path, specifier) };
  });
}

function resolveSpecifier(path: string, specifier: string): string {
  return specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : specifier;
}
