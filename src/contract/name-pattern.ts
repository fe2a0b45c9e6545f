/** Patterns over dotted names. `*` stands for any text, everything else for itself; matching takes linear time. */

export function matchesPattern(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}

/** Whether a name under this segment could match. Segments have no dots; the names of the segment "" have none before them. */
export function patternReaches(pattern: string, segment: string): boolean {
  const dot = pattern.indexOf(".");
  if (segment === "") return dot < 0;
  if (dot >= 0) return matchesPattern(pattern.slice(0, dot), segment);
  const star = pattern.indexOf("*");
  return star >= 0 && segment.startsWith(pattern.slice(0, star));
}

/** Whether every name under this segment matches. */
export function patternCovers(pattern: string, segment: string): boolean {
  return pattern.endsWith("*") && matchesPattern(pattern, segment === "" ? "" : `${segment}.`);
}
