import { describe, expect, test, vi } from "vitest";
import { CountedPattern, CountedUri } from "./counted-uri.ts";
import { barest, globs, PathFault, pathFault, uriFault } from "./plain-path.ts";

describe("the form of paths and URIs", () => {
  test.each([
    "/srv/../etc/passwd",
    "/srv/..",
    "../etc",
    "/srv/./a",
    "/srv/%2e%2e/etc",
    "/srv/.%2E/etc",
    "/srv/..%2fetc",
    "/srv/%252e%252e/etc",
    "/srv/%c0%ae%c0%ae/etc",
    "/srv\\..\\etc",
    "/srv/..\\etc",
    "/srv/%5c..",
    "/srv//etc",
    "//etc/passwd",
    "/srv/a\0.txt",
    "/srv/a%00.txt",
    "/srv/.. /etc",
    "/srv/..;/etc",
    "/srv/．．/etc",
    "/srv/..／etc",
    "/%65tc/passwd",
    "https://HOST/a",
    "https://host/a/../b",
    "/srv/a?/../../etc",
  ])("%j can be read in two ways", (text) => {
    expect(pathFault(text)).toEqual(expect.any(String));
    expect(() => globs(text, "/srv/*")).toThrow(PathFault);
  });

  // Letters that one server or another takes for dots and slashes: by form, by looks, or by an escape of its own.
  test.each([
    "/srv/..∕etc",
    "/srv/..⁄etc",
    "/srv/..⧸etc",
    "/srv/..╱etc",
    "/srv/a／b",
    "/srv/a＼b",
    "/srv/a∕b",
    "/srv/a∖b",
    "/srv/a⧵b",
    "/srv/a﹨b",
    "/srv/a℀b",
    "/srv/。。/etc",
    "/srv/｡｡/etc",
    "/srv/%u002e%u002e/etc",
    "/srv/%U002E./etc",
    "/srv/a%u2215b",
    "/srv/&#46;&#46;/etc",
    "/srv/&#x2e;&#X2E;/etc",
    "/srv/&period;&period;&sol;etc",
    "/srv/a&#0000047;b",
    "/srv/a&bsol;b",
    "/srv/&#46&#46/etc",
    "/srv/&#x2e&#X2E/etc",
    "/srv/&#x2e&#x2e;/etc",
    "/srv/..&#47x",
    "/srv/&#0046.&#x02fetc",
    "/srv/%26%2346%26%2346/etc",
    "/srv/&amp;#46&ampperiod;/etc",
    "/srv/&amp&#46;./etc",
    "/srv/..&nbsp/etc",
    "/srv/.&shy./etc",
    "/srv/..&zwnj;/etc",
    "/srv/&percnt;2e./etc",
    "/srv/&nldr;/etc",
    "/srv/a&colon;&dollar;DATA",
    "/srv/..%e2%88%95etc",
    "/srv/..\u27cbetc",
    "/srv/a\u27cdb",
    "/srv/..\u00a5etc",
    "/srv/..\u20a9etc",
    "/srv/..\uffe5etc",
    "/srv/..\uffe6etc",
    "/srv/..%c2%a5etc",
  ])("%j holds what some take for a dot or a slash", (text) => {
    expect(() => globs(text, "/srv/*")).toThrow(PathFault);
    expect(uriFault(`file://${text}`)).toEqual(expect.any(String));
  });

  test.each([
    "/srv/R&D/a",
    "/srv/a&b;c",
    "/srv/x&#y",
    "/srv/a&amp;b",
    "/srv/a&sold&periods",
    "/srv/½",
    "/srv/50%u",
    "/srv/a…",
    "/srv/日本。txt",
    "/srv/a．txt",
    "/srv/Ａ",
  ])("%j holds none", (text) => expect(globs(text, "/srv/*")).toBe(true));

  // Each as it stands there, with escapes for what is not plain, and with its dots escaped as well.
  const SEGMENTS = [
    "．．",
    "‥",
    "︰",
    "﹒﹒",
    "․․",
    "..;",
    "..;x",
    "..\u00a0",
    ".. ",
    "..／etc",
    ".\u200b.",
    "..\u200b",
    "\u2060..",
    ".\u00ad.",
    "..\ufe0f",
    "a\u0085",
    "..\u3000",
    "\ufeff..",
    "..\u2028",
    "..;\u2028x",
    "..?",
    "..?op=delete&all",
    ".. ?x",
    ".?x",
    "..#x",
    "..？x",
    "..＃x",
    "..；x",
    "..\u200b?x",
    "..:x",
    "..::$INDEX_ALLOCATION",
    "..\u0301",
    ".\u0301.",
    "\u0301..",
    ".\u0316.\u0301",
    "..\u20dd",
  ];
  const escaped = (text: string) => encodeURIComponent(text).replaceAll(".", "%2E");
  const spellings = SEGMENTS.flatMap((segment) => [segment, encodeURIComponent(segment), escaped(segment)]);
  test.each(spellings)("the segment %j is read as a dot segment or a control character, escaped or not", (segment) => {
    for (const text of [`/srv/${segment}/etc`, `/srv/${segment}`, `${segment}/etc`]) {
      expect(pathFault(text), text).toEqual(expect.any(String));
      expect(uriFault(`file:///${text.replace(/^\//, "")}`), text).toEqual(expect.any(String));
    }
  });

  test.each([
    "/srv/a.txt",
    "/srv/",
    "/srv/...txt",
    "/srv/.hidden",
    "/srv/a..b",
    "srv/a",
    "",
    "/srv/100% sure",
    "/srv/my%20docs/a",
    "/srv/.%20a",
    "/srv/a%3Bv=1/b",
    "/srv/caf%C3%A9",
    "/srv/a\u200bb",
    "/srv/café",
    "/srv/cafe\u0301..",
    "/srv/А.С. Пушкин/x",
    "/srv/.ё/x",
    "/srv/.\u0939\u093f\u0928/x",
    "https://host/a/b?u=https://other/x",
    "https://host/a?..b",
    "/srv/a?..",
    "/srv/what?.txt",
    "/srv/.env#old",
    "/srv/.env?raw",
    "C:/Users/ann",
    "plain text. With dots... and 50% more",
  ])("%j has one reading", (text) => {
    expect(pathFault(text)).toBeUndefined();
  });

  test.each([
    "..?",
    "..?op=delete&all",
    ".?x",
    "..#x",
    "..#",
    "..;x?y",
    "..%3fx",
    "..%23x",
    "..%3Bx",
    "%2e%2e?x",
    ".. ?x",
    "..?/../x",
  ])("a URI does not leave its place by %j", (end) => {
    expect(() => globs(`https://h.example/api/pub/${end}`, "https://h.example/api/pub/*")).toThrow(PathFault);
    expect(uriFault(`https://h.example/api/pub/${end}`)).toEqual(expect.any(String));
    expect(uriFault(`notes://bob/${end}`)).toEqual(expect.any(String));
  });

  test.each([
    "file:///pub/../priv",
    "file:///pub/%2e%2e/priv",
    "FILE:///priv",
    "File:///priv",
    "file:////priv",
    "file://localhost/priv",
    "file:/priv",
    "file:///priv?x",
    "file:///priv#x",
    "file:///a%zz",
    " file:///priv",
    "doc:pub/../priv",
    "DOC:priv",
  ])("the URI %j is not in its one form", (uri) => expect(uriFault(uri)).toEqual(expect.any(String)));

  test.each(["file:///pub/a", "doc://a/b", "doc:a", "db://t?id=1&at=2", "file:///my%20docs/caf%C3%A9"])(
    "the URI %j is",
    (uri) => expect(uriFault(uri)).toBeUndefined(),
  );

  // As Windows and others read names: they drop dots and blanks at the end, and know drives and streams.
  test.each([
    ["/priv./x", "/priv/*"],
    ["/priv /x", "/priv/*"],
    ["/priv. . /x", "/priv/*"],
    ["/priv%20/x", "/priv/*"],
    ["/priv\u00a0/x", "/priv/*"],
    ["/a/secret.txt.", "*/secret.txt"],
    ["/a/secret.txt::$DATA", "*/secret.txt"],
    ["/a/secret.txt::$data", "*/secret.txt"],
    ["/a/secret.txt:x:$DATA", "*/secret.txt"],
    ["/priv::$INDEX_ALLOCATION/x", "/priv/*"],
    ["/priv:$I30:$INDEX_ALLOCATION/x", "/priv/*"],
    ["C:priv/x", "C:/priv/*"],
    ["c:priv", "c:/priv*"],
    ["C:", "C:/*"],
    ["\\\\?\\C:\\priv\\x", "C:/priv/*"],
    ["//?/C:/priv/x", "C:/priv/*"],
    ["//./C:/priv/x", "C:/priv/*"],
    [" /priv/x", "/priv/*"],
    ["/priv/x ", "*/x"],
    ["/priv/x\0.txt", "*/x"],
    ["/cafe\u0301/x", "/caf\u00e9/*"],
  ])("%j is not told from what %j fits, and refused", (text, pattern) => {
    expect(() => globs(text, pattern)).toThrow(PathFault);
  });

  test.each([
    ["/srv/Acme Inc./a", "/srv/*", true],
    ["/srv/Acme Inc./a", "/srv/Acme Inc./*", true],
    ["/srv/Acme Inc./a", "/etc/*", false],
    ["/srv/ns:prod/a", "/srv/ns:dev/*", false],
    ["/srv/a:$HOME", "/srv/*", true],
    ["C:/pub/x", "C:/pub/*", true],
    ["~/pub/x", "~/pub/*", true],
    ["~/pub/x", "/etc/*", false],
    ["/srv/cafe\u0301/x", "/srv/*", true],
  ])("%j is told from what %j does not fit", (text, pattern, isThere) => {
    expect(globs(text, pattern)).toBe(isThere);
  });

  // Marks without their letters, each in another place than the one form has it: bringing 300,000 into it takes minutes.
  const marks = "\u0301\u0316".repeat(150_000);

  test("what is longer than any path is not judged, and not looked through", () => {
    for (const text of [`/srv/${marks}`, `/srv/${"a".repeat(4_096)}`])
      expect(() => globs(text, "/srv/*")).toThrow(PathFault);
    expect(uriFault(`doc://a/${marks}`)).toEqual(expect.any(String));
    expect(globs(`/srv/${"a".repeat(4_000)}`, "/srv/*")).toBe(true);
  });

  const escapedMarks = encodeURIComponent("\u0301\u0327".repeat(16));
  const MANY = [
    `a${"\u0301".repeat(2_000)}${"\u0327".repeat(2_000)}`,
    "\u0301\u0316".repeat(2_000),
    // A letter on its own, and a mark in the form that some servers bring it into.
    "\u0327\uff9e".repeat(2_000),
    `a${escapedMarks}`,
    `a${escapedMarks.toLowerCase()}`,
    `a${"\u0301".repeat(16)}${encodeURIComponent("\u0327".repeat(16))}`,
  ];
  test.each(MANY)("more marks than a letter has are judged by nothing, and sorted by nothing: %#", (text) => {
    using normalize = vi.spyOn(String.prototype, "normalize");
    expect(() => globs(`/srv/${text}`, "/srv/*")).toThrow(PathFault);
    expect(pathFault(text)).toContain("marks");
    expect(uriFault(`doc://a/${text}`)).toContain("marks");
    // Counted by every limit of its scheme.
    expect(new CountedUri(`doc://a/${text}`).fits(new CountedPattern("docs.doc://b/*"), "docs.")).toBe(true);
    expect(
      normalize.mock.contexts.map(String).filter((one) => one.includes("\u0327") || one.includes("\u0316")),
    ).toEqual([]);
  });

  test("in patterns and names that are compared no more than those of one letter are sorted at once", () => {
    using normalize = vi.spyOn(String.prototype, "normalize");
    for (const text of MANY) expect(barest(barest(text))).toBe(barest(text));
    const sorted = normalize.mock.contexts.map(String);
    expect(sorted.length).toBeGreaterThan(0);
    expect(sorted.filter((one) => /[\p{M}\uff9e]{31}/u.test(one.replaceAll("\u034f", "|")))).toEqual([]);
  });

  test("what is plain ASCII is brought into no form", () => {
    using normalize = vi.spyOn(String.prototype, "normalize");
    expect(globs(`/srv/${"a/".repeat(350)}`, "/srv/*")).toBe(true);
    expect(uriFault("doc://a/b%20c/../d")).toContain("dot segment");
    expect(normalize).not.toHaveBeenCalled();
  });

  test("as many marks as letters of languages have are judged", () => {
    const letter = `a${"\u0301".repeat(15)}${"\u0327".repeat(15)}`;
    expect(globs(`/srv/${letter.repeat(100)}`, "/srv/*")).toBe(true);
    expect(uriFault(`doc://a/${encodeURIComponent(letter)}`)).toBeUndefined();
  });

  test("letters that become a text longer than any path are not looked through", () => {
    expect(pathFault(`/srv/${"\ufdfa".repeat(4_000)}`)).toContain("longer");
    expect(pathFault(`/srv/${encodeURIComponent("\ufdfa".repeat(400))}`)).toContain("longer");
    expect(globs(`/srv/${"\ufdfa".repeat(100)}`, "/srv/*")).toBe(true);
  });

  test("glob decides as before about what is no place, and refuses what escapes put elsewhere", () => {
    expect(globs("report.final", "*.final")).toBe(true);
    expect(globs("../x.txt", "*.txt")).toBe(true);
    expect([globs("/srv/a/b", "/srv/*"), globs("/etc/a", "/srv/*")]).toEqual([true, false]);
    expect(globs("/srv/my%20docs/a", "/srv/*")).toBe(true);
    expect(() => globs("/srv/my%20docs/a", "/srv/my docs/*")).toThrow(PathFault);
  });
});
