/** The ways in which programs write a secret that they were given: as it is, quoted, escaped for URLs, in base64, in hex. */

/** Whoever searched for less would find it in every other word. */
const MIN_CHARACTERS = 4;
/** Of a line of a secret of several lines, such as a key. */
const MIN_LINE = 16;
const MIN_ENCODED = 6;

/** Longest first, each once. Line breaks are left out: whoever looks for them leaves them out, too. */
export function spellingsOf(secrets: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const secret of secrets.flatMap(partsOf)) {
    for (const spelling of [secret, JSON.stringify(secret).slice(1, -1), ...escapedForUrls(secret)]) add(spelling, 1);
    const bytes = Buffer.from(secret, "utf8");
    for (const spelling of [...base64Of(bytes), ...hexOf(bytes)]) add(spelling, MIN_ENCODED);
  }
  return [...found].sort((a, b) => b.length - a.length);

  function add(spelling: string, atLeast: number): void {
    const joined = spelling.replace(/[\r\n]/g, "");
    if (joined.length >= atLeast) found.add(joined);
  }
}

/** The password of a URL, which is printed without the rest of it. */
export function passwordIn(text: string): readonly string[] {
  const [, user = "", password = ""] = /^[a-z][a-z0-9+.-]*:\/\/([^/\s:@]*):([^/\s]*)@/i.exec(text) ?? [];
  const secret = password === "" ? user : password;
  return secret === "" ? [] : [secret, unescaped(secret)];
}

function partsOf(secret: string): readonly string[] {
  const trimmed = secret.trim();
  const lines = trimmed.split(/\r?\n/).filter((line) => line.length >= MIN_LINE && !line.startsWith("-----"));
  const words = /^(?:bearer|basic|token)\s+(\S+)$/i.exec(trimmed)?.slice(1) ?? [];
  return [trimmed, ...lines, ...words, ...passwordIn(trimmed)].filter((part) => part.length >= MIN_CHARACTERS);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function escapedForUrls(secret: string): readonly string[] {
  const escaped = [...Buffer.from(secret, "utf8")]
    .map((byte) => (/[\w.~-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : percent(byte)))
    .join("");
  const component = secret.isWellFormed() ? encodeURIComponent(secret) : escaped;
  const all = [...Buffer.from(secret, "utf8")].map(percent).join("");
  return [escaped, component, component.replaceAll("%20", "+"), all].flatMap((one) => [one, lowered(one)]);
}

function percent(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

function lowered(escaped: string): string {
  return escaped.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

/** At each of the three places where it can begin in a longer text: the characters that are made of it alone, and its end. */
function base64Of(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const padded = whole.toString("base64").slice(Math.ceil((before * 8) / 6));
    const own = Math.floor((whole.length * 8) / 6) - Math.ceil((before * 8) / 6);
    const endings = [padded, padded.replaceAll("=", ""), padded.slice(0, own)];
    return endings.flatMap((one) => [one, one.replaceAll("+", "-").replaceAll("/", "_")]);
  });
}

function hexOf(bytes: Buffer): readonly string[] {
  const hex = bytes.toString("hex");
  return [hex, hex.toUpperCase()];
}
