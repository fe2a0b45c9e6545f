import { describe, expect, test } from "vitest";
import { compileCondition } from "./expression.ts";
import { misspelledPatterns } from "./pattern-spelling.ts";
import { NO_POLICY, type Rule } from "./policy.ts";

const rule = (match: string, when?: string): Rule => ({
  id: "r",
  match,
  effect: "deny",
  evidence: "operator",
  tenant: "*",
  condition: when === undefined ? undefined : compileCondition(when),
});

const found = (...rules: Rule[]) => misspelledPatterns({ ...NO_POLICY, rules });

describe("a pattern in a spelling in which nothing is judged", () => {
  test.each([
    ["docs.file:///pub/%2e%2e/*", "it holds an escape for what needs none", undefined],
    ["docs.file:///a%2eb/*", "it holds an escape for what needs none", "docs.file:///a.b/*"],
    ["docs.HTTPS://intranet/*", "scheme and host are not in lower case", "docs.https://intranet/*"],
    ["docs.https://Intranet/A/*", "scheme and host are not in lower case", "docs.https://intranet/A/*"],
    ["docs.file:///pub//secret/*", "it holds an empty segment", "docs.file:///pub/secret/*"],
    ["docs.file:///pub/../etc/*", "it holds a dot segment", undefined],
    ["docs.https://me@intranet/*", "it names a user before the host", "docs.https://intranet/*"],
    ["docs.https://*:443/*", "its host and port are not as in a parsed URL", undefined],
    ["docs.https://h/a#b*", "it holds a fragment", undefined],
    ["*.file://host/*", "a file's URI begins with file:///", undefined],
    ["https://H/x", "scheme and host are not in lower case", "https://h/x"],
  ])("is told: %s", (match, reason, meant) => {
    expect(found(rule(match))).toEqual([
      { written: match, reason: expect.stringContaining(reason), ...(meant !== undefined && { meant }) },
    ]);
  });

  test.each(["/srv/%2e%2e/*", "/srv//a/*", "C:\\priv\\*", "/srv/../*"])("is told in a condition: %s", (pattern) => {
    const condition = `has(args.path) && glob(args.path, ${JSON.stringify(pattern)})`;
    expect(found(rule("docs.read", condition))).toMatchObject([{ written: pattern }]);
  });

  test("is told once, wherever it stands", () => {
    const primitive = "docs.HTTPS://h/*";
    const exposure = { tenant: "*", server: "docs", protocol: "*", primitive, enabled: false };
    const binding = {
      tenant: "*",
      target: { type: "user", pattern: "*" },
      primitive,
      protocol: "*",
      allowed: false,
    } as const;
    const scopes = [{ match: primitive, scopes: ["x"] }];
    const tenants = new Map([["acme", { grants: [], bindings: [binding], exposures: [exposure], defaults: [] }]]);
    for (const policy of [{ exposures: [exposure] }, { bindings: [binding] }, { scopes }, { tenants }])
      expect(misspelledPatterns({ ...NO_POLICY, ...policy, rules: [rule(primitive)] })).toHaveLength(1);
  });

  test.each([
    "docs.*",
    "*",
    "docs.Read",
    "docs.file:*",
    "docs.file:///*",
    "docs.file:///pub/.*",
    "docs.file:///pub/*/x",
    "docs.https:*",
    "docs.https*",
    "docs.https://*",
    "docs.https://*:*/x",
    "docs.https://h:*/x",
    "docs.https://*.corp.example/*",
    "docs.https://intranet:8443/*",
    "docs.*://h/x",
    "docs.https://h/a%20b?q=*",
    "docs.memo://notes/*",
    "docs.urn:x:y",
  ])("is not %s", (match) => {
    expect(found(rule(match))).toEqual([]);
  });

  test.each(["/srv/*", "*.txt", "srv/*/x", "https://*.corp.example/*", "Name*"])(
    "is not %s in a condition",
    (pattern) => {
      expect(found(rule("docs.read", `glob(args.path, ${JSON.stringify(pattern)})`))).toEqual([]);
    },
  );
});
