/** What an issuer says of a refusal is for people to read: one short line, and never what we told it in confidence. */

const MAX_WORDS = 300;
/** Shorter ones are words that may stand there by themselves. */
const MIN_SECRET = 8;
/** What would steer a terminal or turn the direction of a text, and line ends. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]+/gu;

/** `confided`: what was sent to the issuer that nobody else may see. */
export function plainWords(text: unknown, confided: readonly string[]): string {
  if (typeof text !== "string") return "";
  // The longest first: one may be a part of another.
  const secrets = [...confided].filter((secret) => secret.length >= MIN_SECRET).sort((a, b) => b.length - a.length);
  const told = secrets.reduce((words, secret) => words.replaceAll(secret, "…"), text);
  const plain = told.replace(/\s+/g, " ").replace(UNSEEN, "").trim();
  return plain.length > MAX_WORDS ? `${plain.slice(0, MAX_WORDS - 1)}…` : plain;
}
