/** Bytes in text have several spellings that most readers take: what is known by its text must have one. */
const BASE64URL = /^[A-Za-z0-9_-]*$/;

/** Undefined for anything that is not the one spelling of its bytes: no padding, no other alphabet, no unused bits. */
export function bytesOfBase64Url(text: string): Buffer | undefined {
  if (!BASE64URL.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : undefined;
}
