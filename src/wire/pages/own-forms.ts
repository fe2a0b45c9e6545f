/**
 * Tells forms of our own pages from those of other sites, which can neither read the cookie of a browser nor have it sent with
 * what they post.
 */
import { createHash, randomBytes } from "node:crypto";
import { type HttpRequest, headerLine } from "../../contract/index.ts";

type Headed = Pick<HttpRequest, "headers">;

/** `path`: the pages that it is for. */
export type BrowserCookie = { readonly name: string; readonly path: string; readonly seconds: number };

/** What only this browser knows; undefined: it has not been here before. */
export function browserIn({ headers }: Headed, { name }: BrowserCookie): string | undefined {
  const [, found] = new RegExp(`(?:^|;\\s*)${name}=([\\w-]{32})(?:;|$)`).exec(headers.cookie ?? "") ?? [];
  return found;
}

export function newBrowser(): string {
  return randomBytes(24).toString("base64url");
}

/** What a form of our own carries in this browser. `about`: what it is a form for. */
export function formCheck(browser: string, about = ""): string {
  return createHash("sha256").update(`form ${about} ${browser}`).digest("base64url");
}

/** Comes back with links from other sites, and is sent with no form of theirs. `url`: where browsers reach us. */
export function cookieLine(browser: string, url: string, { name, path, seconds }: BrowserCookie): string {
  const secure = url.startsWith("https:") ? "; Secure" : "";
  const value = `${name}=${browser}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
  return headerLine("Set-Cookie", value);
}

/**
 * The browser says that a page of another origin sent this; old ones say nothing. `url`: where browsers reach us; a proxy may call us by
 * another name. That MCP answers pages of an origin makes these no pages of ours.
 */
export function isFromElsewhere({ headers }: Headed, url: string | undefined): boolean {
  const { "sec-fetch-site": site, origin, host = "" } = headers;
  if (site !== undefined && site !== "same-origin") return true;
  return origin !== undefined && !isOwnOrigin(origin, host, url);
}

/** That of the public address, or of the name that the request was sent to, whoever speaks TLS before us. */
function isOwnOrigin(origin: string, host: string, url: string | undefined): boolean {
  const [said] = /^https?:\/\//i.exec(origin) ?? [];
  if (said === undefined || !URL.canParse(origin)) return false;
  const { origin: theirs } = new URL(origin);
  const own = url === undefined ? undefined : new URL(url);
  if (theirs === own?.origin) return true;
  // By our public name we are reached in no other way.
  if (host.toLowerCase() === own?.host) return false;
  const called = `${said}${host}`;
  return /^[^/?#@\\\s]+$/.test(host) && URL.canParse(called) && theirs === new URL(called).origin;
}

/** Asked for by the very name that people are sent to. */
export function isAskedAt({ headers: { host, origin } }: Headed, url: string): boolean {
  const own = new URL(url);
  return host?.toLowerCase() === own.host && (origin === undefined || origin.toLowerCase() === own.origin);
}
