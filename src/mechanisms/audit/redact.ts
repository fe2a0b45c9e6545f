/** What looks like a secret is not recorded, also where a rule wants the value. */
const SECRET_NAME =
  /pass(word|wd|phrase)?$|secret|token|credential|authorization|cookie|api[-_]?key|private[-_]?key|^key$|signature/i;

/** The id of an approval; after it and a dot its page has the secret that opens it. */
const APPROVAL = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

const SECRET_VALUE: readonly RegExp[] = [
  /\b(bearer|basic)\s+[a-z0-9+/=._~-]{8,}/i,
  // Once for each run of such letters, and only where the next one follows it: not from each of its "eyJ" to its end.
  /(?<![\w-])(?=[\w-]+\.[\w-]{8})[\w-]*?\beyJ[\w-]{8}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[abprs]|isth?)[-_][a-zA-Z0-9_-]{12,}/,
  /\bAKIA[0-9A-Z]{12,}/,
  /\/\/[^/\s:@]+:[^/\s@]+@/,
  new RegExp(`${APPROVAL}\\.[\\w-]{43}`, "i"),
];

const REDACTED = "[redacted]";
const MAX_TEXT = 256;
const MAX_PATH = 200;
const MAX_ITEMS = 16;
const MAX_DEPTH = 3;

export function looksSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || SECRET_VALUE.some((pattern) => pattern.test(value));
}

export function redactValue(name: string, value: unknown, depth = 0): unknown {
  if (SECRET_NAME.test(name)) return REDACTED;
  if (typeof value === "string") return redactText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return "[deep]";
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((one) => redactValue("", one, depth + 1));
  const members = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(members.map(([key, inner]) => [redactText(key), redactValue(key, inner, depth + 1)]));
}

export function redactText(text: string): string {
  if (looksSecret("", text) || (/[\\%]/.test(text) && looksSecret("", withoutEscapes(text)))) return REDACTED;
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

/** As a reader of JSON, of JSON in JSON, or of a URL would understand it, as far as a secret looks like one. */
function withoutEscapes(text: string): string {
  return (
    text
      .replace(/%(?:25)*([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      // First, so that no run of them is looked at from each of its places.
      .replace(/\\+/g, "\\")
      .replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replace(/\\(.)/gs, "$1")
  );
}

/** Where a query or fragment begins, also in escapes and in wide letters. */
const QUERY = /(?:[?#\uff1f\uff03]|%(?:25)*(?:3f|23)).*$/is;
/**
 * Of an address all up to its user, and the user, which some write behind one slash, behind none or in an address in another one
 * (`jdbc:`, also behind the name of a server, as rules have it). A password may have a slash in it, a port has none.
 */
const USER =
  /^([\s\p{Cc}]*(?:(?:[\w.+-]*:)+[/\\]+|[/\\]{2,}|[\w.+-]*:))(?:[^/\\]*@|[^/\\@:]*:(?!\d+(?:[/\\]|$))[^@]*@)/u;

/** Addresses may carry passwords and tokens: only where they lead is recorded. */
export function plainAddress(uri: string): string {
  return uri
    .replace(QUERY, "")
    .replace(USER, "$1")
    .slice(0, MAX_TEXT * 4);
}

/** In a path: whatever follows the id, which may be in escapes or cut off. */
const APPROVAL_SECRET = new RegExp(`(${APPROVAL})[.%][^/]*`, "gi");

/**
 * Of the URL of a request: clients put tokens also between its slashes, plain or escaped, and the link to an approval opens it,
 * also where it was sent to another path.
 */
export function plainPath(url: string): string {
  const path = plainAddress(url)
    .replace(/^(\/approvals\/[^.%]*)[.%].*$/s, "$1")
    .replace(APPROVAL_SECRET, "$1");
  const read = path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return redactText(read) === REDACTED ? REDACTED : path.slice(0, MAX_PATH);
}
