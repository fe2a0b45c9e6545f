/** What of `WWW-Authenticate` matters here. */
export type Challenge = {
  readonly resourceMetadata?: string;
  readonly scope?: string;
  readonly error?: string;
};

const MAX_CHALLENGE = 8 * 1024;
/** A name is read from its first letter alone: from each of them, one long word would be read as often as it is long. */
const PARAMETER = /(?<![\w-])([A-Za-z][\w-]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g;

/** Reads the parameters of the Bearer challenge; of several schemes, those of Bearer alone. */
export function parseChallenge(header: string): Challenge {
  const start = /(?:^|,|\s)bearer(?=\s|$)/i.exec(header.slice(0, MAX_CHALLENGE));
  if (!start) return {};
  const text = header.slice(start.index + start[0].length, MAX_CHALLENGE);
  const found = new Map<string, string>();
  for (const [, name = "", quoted, plain] of text.matchAll(PARAMETER)) {
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, quoted?.replace(/\\(.)/g, "$1") ?? plain ?? "");
  }
  const [resourceMetadata, scope, error] = ["resource_metadata", "scope", "error"].map((name) => found.get(name));
  return {
    ...(resourceMetadata !== undefined && { resourceMetadata }),
    ...(scope !== undefined && { scope }),
    ...(error !== undefined && { error }),
  };
}

/** Scopes as a sorted set. */
export function scopeSet(...texts: readonly (string | undefined)[]): string[] {
  const all = texts.flatMap((text) => (text ?? "").split(/\s+/)).filter((scope) => scope !== "");
  return [...new Set(all)].sort();
}
