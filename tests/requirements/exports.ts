/**
 * Finds the declaration behind an export and the text ranges to break in it. TypeScript 7 has no compiler API to
 * ask, so this reads masked source: enough for the plain declarations our lint rules leave possible.
 */
import { closeOf, mask } from "../structure/mask.ts";

/** `start` up to `end` is replaced: a body with its braces, or an initializer without its semicolon. */
export type Range = { readonly start: number; readonly end: number };
export type Declaration = { readonly kind: "function" | "class" | "const"; readonly ranges: readonly Range[] };

export function hasExport(source: string, name: string): boolean {
  return findExport(source, name) !== undefined;
}

/** Undefined when the file does not itself declare and export `name`; re-exports and types do not count. */
export function findExport(source: string, name: string): Declaration | undefined {
  const masked = mask(source);
  const prefix = isListed(masked, name) ? "^" : "^export\\s+";
  const pattern = `${prefix}(?:abstract\\s+|async\\s+)*(function\\s*\\*?|class|const|let)\\s+${name.replaceAll("$", "\\$")}(?![\\w$])`;
  const found = [...masked.matchAll(new RegExp(pattern, "gm"))];
  const kind = found[0]?.[1]?.replace(/[\s*]/g, "");
  const ends = found.map((match) => match.index + match[0].length);
  if (kind === "function") return { kind, ranges: ends.flatMap((end) => functionBody(masked, end)) };
  if (kind === "class") return { kind, ranges: ends.flatMap((end) => methodBodies(masked, skipTypes(masked, end))) };
  if (kind !== undefined) return { kind: "const", ranges: ends.flatMap((end) => initializer(masked, end)) };
  return undefined;
}

/** True for `export { a, name };` without a `from`. */
function isListed(masked: string, name: string): boolean {
  const lists = masked.matchAll(/^export\s*\{([^}]*)\}(?!\s*from)/gm);
  return [...lists].some((match) => (match[1] as string).split(",").some((entry) => entry.trim() === name));
}

/** From the end of the name. Empty for an overload, which has no body. */
function functionBody(masked: string, from: number): Range[] {
  const close = closeOf(masked, masked.indexOf("(", skipAngles(masked, from)));
  const start = skipTypes(masked, close);
  return masked[start] === "{" ? [{ start, end: closeOf(masked, start) }] : [];
}

/** From a parameter list or class name, over types, to the brace of the body or the semicolon of an overload. */
function skipTypes(masked: string, from: number): number {
  let i = from;
  // An opening brace right after one of these is an object type, not the body.
  let expectsType = false;
  while (i < masked.length) {
    const char = masked[i] as string;
    if (/\s/.test(char)) {
      i++;
    } else if (char === ";" || (char === "{" && !expectsType)) {
      return i;
    } else if ("{([".includes(char)) {
      i = closeOf(masked, i);
      expectsType = false;
    } else if (char === "<") {
      i = skipAngles(masked, i);
      expectsType = false;
    } else {
      const word = /^(?:=>|[\w$]+|.)/s.exec(masked.slice(i, i + 200))?.[0] ?? char;
      expectsType = /^(?:[:|&?]|=>|is|extends|keyof|readonly|asserts)$/.test(word);
      i += word.length;
    }
  }
  return i;
}

/** Past a balanced `<…>` when one starts here (after spaces), else the same place. Arrows do not close it. */
function skipAngles(masked: string, from: number): number {
  const start = from + (/^\s*/.exec(masked.slice(from))?.[0].length ?? 0);
  if (masked[start] !== "<") return from;
  let depth = 0;
  for (let i = start; i < masked.length; i++) {
    if (masked[i] === "<") depth++;
    else if (masked[i] === ">" && masked[i - 1] !== "=" && --depth === 0) return i + 1;
  }
  return from;
}

function methodBodies(masked: string, open: number): Range[] {
  const last = closeOf(masked, open) - 1;
  const ranges: Range[] = [];
  let i = open + 1;
  while (i < last) {
    const head = /[(=;{:}[]/.exec(masked.slice(i, last));
    if (head === null) break;
    const at = i + head.index;
    if (head[0] === "[") {
      i = closeOf(masked, at);
    } else if (head[0] === "(") {
      const body = functionBody(masked, at);
      ranges.push(...body);
      i = body[0]?.end ?? endOfStatement(masked, at);
    } else {
      // A static block ends with its brace, a field with its semicolon.
      i = head[0] === "{" ? closeOf(masked, at) : endOfStatement(masked, at) + 1;
    }
  }
  return ranges;
}

function initializer(masked: string, from: number): Range[] {
  const end = endOfStatement(masked, from);
  for (let i = from; i < end; i++) {
    if ("([{".includes(masked[i] as string)) i = closeOf(masked, i) - 1;
    else if (masked[i] === "=" && masked[i + 1] !== ">") return [{ start: i + 1, end }];
  }
  return [];
}

/** The semicolon at this level; the formatter writes one after every statement. */
function endOfStatement(masked: string, from: number): number {
  let i = from;
  while (i < masked.length && masked[i] !== ";") i = "([{".includes(masked[i] as string) ? closeOf(masked, i) : i + 1;
  return i;
}
