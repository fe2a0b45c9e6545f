/** The token of a request: in one header, in one spelling, and nowhere else. */
import type { HttpRequest } from "../../contract/index.ts";
import { refuse } from "./refusal.ts";

/** Below the bound for a whole head, so that a token that is too long gets an answer that says so. */
const MAX_TOKEN = 8 * 1024;
/** `token68` of RFC 9110. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const LOOKS_LIKE_ONE = /[=&?;]isth_|=eyJ/i;

/** Undefined: there is none. Throws NOT_AUTHENTICATED. */
export function bearerOf({ url, headers }: Pick<HttpRequest, "url" | "headers">): string | undefined {
  if (url.includes("?") && hasToken(url)) throw refuse("query");
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  const space = authorization.indexOf(" ");
  const scheme = space < 0 ? authorization : authorization.slice(0, space);
  if (scheme.toLowerCase() !== "bearer") throw refuse("scheme");
  const token = space < 0 ? "" : authorization.slice(space + 1).replace(/^ +/, "");
  if (token.length > MAX_TOKEN || !TOKEN.test(token)) throw refuse("malformed");
  return token;
}

/** Whether the query has something that is called a token, or looks like one. In time that grows with its length: anybody may ask. */
function hasToken(url: string): boolean {
  if (LOOKS_LIKE_ONE.test(url)) return true;
  const members = url.slice(url.indexOf("?") + 1).split(/[&;]/);
  return members.some((member) => /token/i.test(member.slice(0, Math.max(0, member.indexOf("=")))));
}
