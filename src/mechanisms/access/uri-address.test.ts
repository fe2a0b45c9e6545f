import { describe, expect, test } from "vitest";
import { globs, PathFault, uriFault } from "./plain-path.ts";

describe("the address in a URI", () => {
  test.each([
    "https:///intranet/secret",
    "https:////intranet/secret",
    "https:/intranet/secret",
    "https:intranet/secret",
    "https:intranet",
    "https:",
    "https://",
    "https://intranet:443/secret",
    "https://intranet:0443/secret",
    "https://intranet:/secret",
    "https://intranet:08443/secret",
    "https://intranet:99999/secret",
    "http://intranet:80/secret",
    "ws://intranet:80/secret",
    "wss://intranet:443/secret",
    "ftp://intranet:21/secret",
    "https://x@intranet/secret",
    "https://@intranet/secret",
    "https://:@intranet/secret",
    "https://x:y@intranet/secret",
    "https://a@b@intranet/secret",
    "https://intr\u00adanet/secret",
    "https://ｉntranet/secret",
    "https://intranet\u200b/secret",
    "https://b\u00fccher.example/secret",
    "https://h。example/secret",
    "https://intranet./secret",
    "https://intranet../secret",
    "https://a..b/secret",
    "https://.intranet/secret",
    "https://INTRANET/secret",
    "HTTPS://intranet/secret",
    "Https:intranet",
    "https://%69ntranet/secret",
    "https://intranet%2e/secret",
    "https://intranet%20/secret",
    "https://intranet;/secret",
    "https://intranet,x/secret",
    "https://intra net/secret",
    "https://intra\tnet/secret",
    "https://intranet\\secret",
    "https:\\\\intranet\\secret",
    " https://intranet/secret",
    "\u00a0https://intranet/secret",
    "https://127.1/secret",
    "https://0x7f.1/secret",
    "https://0x7f000001/secret",
    "https://2130706433/secret",
    "https://0177.0.0.1/secret",
    "https://127.0.0.01/secret",
    "https://[0:0:0:0:0:0:0:1]/secret",
    "https://[::0001]/secret",
    "https://[::127.0.0.1]/secret",
    "https://[FE80::1]/secret",
    "https://[fe80::1%25eth0]/secret",
    "file:/etc/passwd",
    "file:etc/passwd",
    "file://localhost/etc/passwd",
    "file:////etc/passwd",
    "file:///etc/passwd?x",
    "file:///etc/passwd#x",
    "file:///C|/etc",
    "file:passwd",
  ])("%j has other spellings, and is not judged", (uri) => {
    expect(uriFault(uri)).toEqual(expect.any(String));
    for (const pattern of ["https://intranet/*", "file:///etc/*", "https://*"])
      expect(() => globs(uri, pattern)).toThrow(PathFault);
  });

  test.each([
    "https://intranet/secret",
    "https://intranet",
    "https://h.example:8443/a?b=c",
    "http://h.example:443/",
    "https://a_b.h-1.example/",
    "https://xn--bcher-kva.example/",
    "http://127.0.0.1:9/mcp",
    "http://[::1]:8080/",
    "http://[fe80::1]/x",
    "wss://h.example/socket",
    "ftp://h.example:2121/a",
    "file:///etc/passwd",
    "file:///C:/Users/ann",
    "notes://bob/x",
    "notes://bob@acme/x",
    "mem:foo",
    "a:b",
    "urn:isbn:0451450523",
    "mailto:ann@h.example",
    "db://t?id=1&at=2",
    "postgres://h:5432/a",
    "httpsx:intranet",
    "doc://日本/x",
    "ui://widget/a.html",
  ])("%j is in its one form", (uri) => {
    expect(uriFault(uri)).toBeUndefined();
  });

  test("is the same with and without the slash that begins its path", () => {
    for (const uri of ["https://intranet", "https://intranet?op=delete", "https://intranet#x"])
      expect(() => globs(uri, "https://intranet/*")).toThrow(PathFault);
    expect(globs("https://h.example", "https://intranet/*")).toBe(false);
    expect(globs("https://h.example?x", "https://h.example?*")).toBe(true);
    expect(globs("https://h.example", "https://*")).toBe(true);
  });

  test("is the same with and without what no server is sent", () => {
    expect(() => globs("https://h.example/a/secret#x", "https://h.example/*/secret")).toThrow(PathFault);
    expect(globs("https://h.example/a#part", "https://h.example/*")).toBe(true);
    expect(globs("https://h.example/a#part", "https://intranet/*")).toBe(false);
    expect(globs("/srv/C#/a", "/srv/C#/*")).toBe(true);
    expect(globs("/srv/C#/a", "/srv/C#/b")).toBe(false);
  });

  test("of another scheme is the same with and without a user, an empty port and a dot at its end", () => {
    for (const host of ["x@intranet", "@intranet", ":@intranet", "a@b@intranet", "intranet:", "intranet."])
      expect(() => globs(`ssh://${host}/secret`, "ssh://intranet/*"), host).toThrow(PathFault);
    expect(globs("ssh://git@h.example/a", "ssh://git@h.example/*")).toBe(true);
    expect(globs("ssh://git@h.example/a", "ssh://*@h.example/*")).toBe(true);
    expect(globs("ssh://git@h.example/a", "ssh://intranet/*")).toBe(false);
    expect(globs("mailto:ann@h.example/x", "mailto:*@h.example/*")).toBe(true);
  });

  test("of another scheme is the same with any slashes before it, and any port", () => {
    const places = [
      "://private?x=",
      ":private",
      ":/private",
      ":///private",
      ":////private",
      "://private:80",
      "://private:",
      "://private:foo",
    ];
    for (const place of [...places, "://me@private", "://me:pass@private:80", "://private:a:b"])
      expect(() => globs(`notes${place}/x`, "notes://private/*"), place).toThrow(PathFault);
    expect(() => globs("notes://private/x", "notes:private/*")).toThrow(PathFault);
    expect(globs("notes://public/x", "notes://private/*")).toBe(false);
    expect(globs("notes:///public/x", "notes:///public/*")).toBe(true);
    expect(globs("db://h:5432/x", "db://h:5432/*")).toBe(true);
    expect(() => globs("db://[::1]:5432/x", "db://[::1]/*")).toThrow(PathFault);
    expect(globs("db://[::1]/x", "db://[::1]/*")).toBe(true);
    expect(globs("db://t?mail=a%40b.c", "db://t?*/*")).toBe(false);
  });

  test.each([
    "./private",
    "../root/private",
    "x/../private",
    "%2e/private",
    "\uff0e/private",
    ".;x/private",
    ". /private",
    "%23@private",
    "%3f@private",
    "me%40private",
    "me%23%40private",
    "\u212aey",
    "%e2%84%aaey",
    "\uff4bey",
  ])("of another scheme may be the first segment of a path, and so is refused as %j", (place) => {
    expect(uriFault(`notes://${place}/x`)).toEqual(expect.any(String));
    expect(() => globs(`notes://${place}/x`, "notes://private/*")).toThrow(PathFault);
  });

  test.each(["docs.https://h.example/a", "x.file:///etc/passwd", "user-1.ftp:/a"])(
    "of two schemes is refused: %j",
    (uri) => {
      expect(uriFault(uri)).toBe("its scheme ends as another one");
    },
  );

  test.each([
    ["https://evil.test/a.corp.example/x", "https://*.corp.example/*"],
    ["https://evil.test/?.corp.example/x", "https://*.corp.example/*"],
    ["https://evil.test?.corp.example/x", "https://*.corp.example/*"],
    ["https://evil.test/#.corp.example/x", "https://*.corp.example/*"],
    ["https://evil.test/?u=x://h.example/a", "*://h.example/*"],
    ["https://h.example:8443/:9/x", "https://h.example:*:9/*"],
  ])("%j is not where the host of %j is", (text, pattern) => {
    expect(() => globs(text, pattern)).toThrow(PathFault);
  });

  test("is where a pattern leaves its host, port or scheme open", () => {
    expect(globs("https://a.corp.example/x/y.corp.example/z", "https://*.corp.example/*")).toBe(true);
    expect(globs("https://a.b.corp.example/", "https://*.corp.example/*")).toBe(true);
    expect(globs("https://h.example:8443/x", "https://h.example:*/*")).toBe(true);
    expect(globs("https://h.example/x", "*://h.example/*")).toBe(true);
    expect(globs("https://h.example/x", "*://*/*")).toBe(true);
    expect(globs("https://evil.test/x", "https://*.corp.example/*")).toBe(false);
    expect(globs("https://h.example/x", "*.example/*")).toBe(true);
    expect(globs("notes://bob/a/pub/x", "notes://*/pub/*")).toBe(true);
    expect(globs("/srv/a", "*://*/*")).toBe(false);
  });
});
