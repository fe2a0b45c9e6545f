import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { globs, PathFault, uriFault } from "./plain-path.ts";

const SPECIAL = /^(?:https?|wss?|ftp|file):/i;

/** What an attacker builds addresses of: each part as it is in its one form, and as somebody else may write it. */
const scheme = fc.constantFrom("https", "http", "ws", "wss", "ftp", "file", "HTTPS", "hTtp", " https");
const slashes = fc.constantFrom("://", ":///", ":/", ":", ":\\\\", "://///", ":/\t/");
const user = fc.constantFrom("", "", "", "@", ":@", "x@", "x:y@", "a@b@");
const label = fc.constantFrom(
  "intranet",
  "h.example",
  "Intranet",
  "intr\u00adanet",
  "ｉntranet",
  "bücher",
  "xn--bcher-kva",
  "%69ntranet",
  "",
);
const number = fc.constantFrom(
  "127.0.0.1",
  "127.1",
  "0x7f.1",
  "2130706433",
  "0177.0.0.1",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::FFFF:127.0.0.1]",
);
const end = fc.constantFrom("", "", "", ".", "。", "\u200b", ";", " ", "..");
const port = fc.constantFrom("", "", "", ":", ":443", ":0443", ":80", ":21", ":8080", ":08080", ":99999", ":８０");
const path = fc.constantFrom("/secret", "/", "", "?/secret", "/a%20b?x=1", "#x", "/a#x");
const address = fc
  .tuple(scheme, slashes, user, fc.oneof(label, number, fc.webAuthority(), fc.string()), end, port, path)
  .map((parts) => parts.join(""));

/** Up to the path. */
const written = (uri: string) => /^[^:]*:\/\/[^/?#]*/.exec(uri)?.[0] ?? "none";

describe("an address that is judged", () => {
  test("is requested where it is written, up to its path", () => {
    let judged = 0;
    fc.assert(
      fc.property(address, (uri) => {
        if (!SPECIAL.test(uri.trimStart()) || uriFault(uri) !== undefined) return;
        judged += 1;
        const { href, username, password } = new URL(uri);
        expect(href.startsWith(written(uri)), uri).toBe(true);
        expect(href[written(uri).length], uri).toBe("/");
        expect(username + password).toBe("");
      }),
      { numRuns: 5_000 },
    );
    expect(judged).toBeGreaterThan(10);
  });

  test("is not at a host of which glob says that it is not there", () => {
    fc.assert(
      fc.property(address, (uri) => {
        const isThere = URL.canParse(uri) && /^(?:https:\/\/intranet\.?(?::\d+)?\/)/.test(withoutUser(uri));
        if (!isThere || new URL(uri).port !== "") return;
        expect(saysOf(uri, "https://intranet/*"), uri).not.toBe(false);
      }),
      { numRuns: 5_000 },
    );
  });
});

function withoutUser(uri: string): string {
  const url = new URL(uri);
  [url.username, url.password] = ["", ""];
  return url.href;
}

function saysOf(text: string, pattern: string): boolean | "refused" {
  try {
    return globs(text, pattern);
  } catch (error) {
    if (error instanceof PathFault) return "refused";
    throw error;
  }
}
