/**
 * A view of TypeScript source for simple scanners: the same text, position for position, with the insides of
 * strings, templates, comments and regular expressions blanked out. What is left can be searched with plain
 * patterns and balanced by counting brackets.
 */

// A slash after one of these words starts a regular expression; after any other word it divides.
const BEFORE_REGEX = /(?:^|[^\w$.])(?:return|typeof|case|in|of|void|delete|throw|new|do|else|yield|await|instanceof)$/;

export function mask(source: string): string {
  const out = source.split("");
  const blank = (from: number, to: number) => {
    for (let i = from; i < to; i++) if (out[i] !== "\n") out[i] = " ";
  };
  // Each entry counts the open braces inside one `${…}`; the innermost is last.
  const holes: number[] = [];
  let i = 0;
  while (i < source.length) {
    const char = source[i];
    const hole = holes.at(-1);
    if (char === "/" && source[i + 1] === "/") {
      const end = orEnd(source.indexOf("\n", i), source);
      blank(i, end);
      i = end;
    } else if (char === "/" && source[i + 1] === "*") {
      const end = orEnd(source.indexOf("*/", i + 2), source, 2);
      blank(i, end);
      i = end;
    } else if (char === '"' || char === "'") {
      const end = endOfString(source, i);
      blank(i + 1, end - 1);
      i = end;
    } else if (char === "/" && startsRegex(out, i)) {
      const end = endOfRegex(source, i);
      blank(i, end);
      // Something must stand here, or a division after the literal would read as another one.
      out[i] = "0";
      i = end;
    } else if (char === "`" || (char === "}" && hole === 0)) {
      if (char === "}") holes.pop();
      const end = endOfTemplateText(source, i + 1);
      const opensHole = source[end - 1] === "{";
      if (opensHole) holes.push(0);
      blank(i + 1, end - (opensHole ? 2 : 1));
      i = end;
    } else {
      if (hole !== undefined && char === "{") holes[holes.length - 1] = hole + 1;
      if (hole !== undefined && char === "}") holes[holes.length - 1] = hole - 1;
      i++;
    }
  }
  return out.join("");
}

/** The position just after the bracket that closes the one at `open`; works on masked text. */
export function closeOf(masked: string, open: number): number {
  let depth = 0;
  for (let i = open; i < masked.length; i++) {
    const char = masked[i] as string;
    if ("([{".includes(char)) depth++;
    else if (")]}".includes(char) && --depth === 0) return i + 1;
  }
  return masked.length;
}

function orEnd(index: number, source: string, extra = 0): number {
  return index === -1 ? source.length : index + extra;
}

function endOfString(source: string, start: number): number {
  let i = start + 1;
  while (i < source.length && source[i] !== source[start] && source[i] !== "\n") i += source[i] === "\\" ? 2 : 1;
  return Math.min(i + 1, source.length);
}

/** The position after the closing backtick or after the `${` that opens the next hole. */
function endOfTemplateText(source: string, start: number): number {
  let i = start;
  while (i < source.length) {
    if (source[i] === "\\") i++;
    else if (source[i] === "`") return i + 1;
    else if (source[i] === "$" && source[i + 1] === "{") return i + 2;
    i++;
  }
  return source.length;
}

function endOfRegex(source: string, start: number): number {
  let inClass = false;
  for (let i = start + 1; i < source.length && source[i] !== "\n"; i++) {
    if (source[i] === "\\") i++;
    else if (source[i] === "[") inClass = true;
    else if (source[i] === "]") inClass = false;
    else if (source[i] === "/" && !inClass) return i + 1;
  }
  return start + 1;
}

function startsRegex(out: readonly string[], at: number): boolean {
  const before = out
    .slice(Math.max(0, at - 40), at)
    .join("")
    .trimEnd();
  if (before === "" || BEFORE_REGEX.test(before)) return true;
  return !/[\w$)\]"'`]$/.test(before);
}
