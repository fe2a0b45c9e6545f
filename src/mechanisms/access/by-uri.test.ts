import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { who } from "../../../tests/kit/policy-rig.ts";
import { type Call, payload, type Target } from "../../contract/index.ts";
import { LiveAccess } from "./access.ts";
import { compileCondition } from "./expression.ts";
import { type AccessPolicy, NO_POLICY, type Rule } from "./policy.ts";

const bind = (primitive: string, allowed = true) => ({
  tenant: "*",
  target: { type: "user" as const, pattern: "ann" },
  primitive,
  protocol: "*",
  allowed,
});

const rule = (match: string, effect: Rule["effect"], when: string, id = match): Rule => ({
  id,
  tenant: "*",
  match,
  evidence: "operator",
  effect,
  condition: compileCondition(when),
});

/** What is decided about ann's reading of a resource. */
function reading(policy: Partial<AccessPolicy>) {
  const timers = new ManualTime();
  const dottedOf = ({ provider, name }: Target) => `${provider}.${name}`;
  const access = new LiveAccess(
    { timers, now: () => timers.now(), dottedOf, onChange: () => undefined, onRefused: () => undefined },
    { policy: { ...NO_POLICY, ...policy }, conceals: true },
  );
  return (uri: string) => {
    const call = {
      target: { provider: "web", kind: "resource", name: uri },
      verb: "read",
      method: "resources/read",
      input: payload("{}"),
      principal: who("ann"),
      origin: { front: "mcp", protocol: "2025-11-25", requestId: "1" },
    } as Call;
    return access.judge(call);
  };
}

describe("a decision about a URI", () => {
  const everything = bind("web.*");

  test("heeds rules with conditions that deny it in either spelling", () => {
    const rules = [rule("web.doc://a b/*", "deny", 'principal.user == "ann"')];
    const read = reading({ bindings: [everything], rules });
    expect(["doc://a%20b/x", "doc://a b/x", "doc://c/x"].map((uri) => read(uri)?.effect)).toEqual([
      "deny",
      "deny",
      "allow",
    ]);
    const bare = reading({
      bindings: [everything],
      rules: [rule("web.https://intranet/*", "confirm", 'principal.user == "ann"')],
    });
    expect(bare("https://intranet?x")?.effect).toBe("confirm");
    expect(bare("https://other?x")?.effect).toBe("allow");
  });

  test("heeds rules with conditions that allow it where they do in both spellings", () => {
    const rules = [rule("web.doc://a%20b/*", "allow", 'principal.user == "ann"')];
    const read = reading({ rules });
    expect(read("doc://a%20b/x")?.effect).toBe("allow");
    const bare = reading({ rules: [rule("web.https://h.example?*", "allow", 'principal.user == "ann"')] });
    expect(bare("https://h.example?x")?.effect).toBe("allow");
    const other = reading({ rules: [rule("web.https://*h/*", "allow", 'principal.user == "ann"')] });
    expect(other("https://h/x")?.effect).toBe("allow");
    expect(other("https://evil/h/x")?.effect).not.toBe("allow");
  });

  test.each(["deny", "confirm"] as const)(
    "keeps a %s without a condition where another spelling is only not allowed",
    (effect) => {
      const rules = [
        rule("web.*", "allow", "!has(args.force)"),
        rule("web.notes://private/*", effect, "true"),
        { ...rule("web.notes://drafts/*", effect, "true"), condition: undefined },
      ];
      const read = reading({ rules });
      for (const place of ["private", "drafts"]) {
        const spellings = [`//${place}`, `///${place}`, place, `//${place}:80`, `//${place}:x`, `//me@${place}`];
        expect(spellings.map((one) => read(`notes:${one}/x`)?.effect)).toEqual(spellings.map(() => effect));
      }
      expect(read("notes://public/x")?.effect).toBe("allow");
    },
  );

  test("is opened by no rule where it is denied before the rules in either spelling", () => {
    const rules = [rule("web.https://intranet*", "allow", 'principal.user == "ann"')];
    const read = reading({ bindings: [bind("web.https://intranet/*", false)], rules });
    expect(["https://intranet/x", "https://intranet?x"].map((uri) => read(uri)?.effect)).toEqual(["deny", "deny"]);
    expect(read("https://intranet.example/x")?.effect).toBe("allow");
  });

  test("does not find the host of a pattern behind another host", () => {
    const read = reading({ bindings: [bind("web.https://*.corp.example/*")] });
    expect(read("https://a.corp.example/x")?.effect).toBe("allow");
    expect(read("https://evil.test/a.corp.example/x")?.effect).toBe("deny");
    expect(read("https://evil.test/?.corp.example/x")?.effect).toBe("deny");
    const mixed = [
      bind("web.https://*.corp.example/*"),
      bind("web.https://h.example/a"),
      bind("web.doc:*"),
      bind("web.no://*/b"),
    ];
    const both = reading({ bindings: mixed });
    expect(["https://h.example/a", "doc:a", "no://a/a/b"].map((uri) => both(uri)?.effect)).toEqual([
      "allow",
      "allow",
      "allow",
    ]);
  });

  test("is the same for names that some systems take for one", () => {
    const read = reading({ bindings: [everything, bind("web.file:///priv/*", false)] });
    for (const uri of ["file:///priv./x", "file:///priv%20/x", "file:///priv::$INDEX_ALLOCATION/x"])
      expect(read(uri)?.effect, uri).toBe("deny");
    expect(read("file:///pub./x")?.effect).toBe("allow");
  });

  test("speaks of the URI as it was written", () => {
    const exposures = [
      { tenant: "*", server: "*", protocol: "*", primitive: "web.https://*.corp.example/*", enabled: false },
    ];
    const said = reading({ bindings: [everything], exposures })("https://a.corp.example?x");
    expect(said).toMatchObject({ effect: "deny", reason: expect.stringContaining('"web.https://a.corp.example?x"') });
  });
});
