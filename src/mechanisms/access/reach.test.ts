import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { who } from "../../../tests/kit/policy-rig.ts";
import { type Call, payload, type Target } from "../../contract/index.ts";
import { LiveAccess } from "./access.ts";
import { compileCondition } from "./expression.ts";
import { type AccessPolicy, NO_POLICY, type Rule } from "./policy.ts";

const ruleOf = (match: string, effect: Rule["effect"], when: string): Rule => ({
  id: match,
  tenant: "*",
  match,
  evidence: "operator",
  effect,
  condition: compileCondition(when),
});
const OPEN = { tenant: "*", server: "*", policy: "opt-out" } as const;

function accessOf(policy: Partial<AccessPolicy>): LiveAccess {
  const timers = new ManualTime();
  const dottedOf = ({ provider, name }: Target) => `${provider}.${name}`;
  return new LiveAccess(
    { timers, now: () => timers.now(), dottedOf, onChange: () => undefined, onRefused: () => undefined },
    { policy: { ...NO_POLICY, ...policy }, conceals: true },
  );
}

/** What is decided about ann's reading of a resource. */
function reading(policy: Partial<AccessPolicy>) {
  const access = accessOf(policy);
  return (uri: string) => {
    const call = {
      target: { provider: "notes", kind: "resource", name: uri },
      verb: "read",
      method: "resources/read",
      input: payload("{}"),
      principal: who("ann"),
      origin: { front: "mcp", protocol: "2025-11-25", requestId: "1" },
    } as Call;
    return access.judge(call)?.effect;
  };
}

const SPELLINGS = [
  "notes://private/x",
  "notes://%70rivate/x",
  "notes://me@private/x",
  "notes://private:80/x",
  "notes:///private/x",
  "notes:private/x",
  "notes://x/../private/x",
];

describe("a rule that reads the name of what is called", () => {
  test.each([
    ["notes.*", 'tool.contains("//private/")'],
    ["*", 'server == "notes" && tool.contains("//private/")'],
    ["note*", 'tool.lowerAscii().indexOf("//private/") > 0'],
    ["notes.*", 'tool.contains("//private/") && !has(args.force)'],
  ])("denies under %s a URI in whatever spelling: %s", (match, when) => {
    const read = reading({ defaults: [OPEN], rules: [ruleOf(match, "deny", when)] });
    expect(SPELLINGS.map((uri) => [uri, read(uri)])).toEqual(SPELLINGS.map((uri) => [uri, "deny"]));
    expect(read("notes://public/x")).toBe("allow");
  });

  test.each(['tool.contains("//public/")', 'tool.contains("//public/") && !has(args.force)'])(
    "allows one only where it does in every spelling: %s",
    (when) => {
      const read = reading({ rules: [ruleOf("notes.*", "allow", when)] });
      expect(read("notes://public/x")).toBe("allow");
      const others = ["notes://private//public/x", "notes://%2fpublic/x", "notes://x/..//public/x", "notes:a//public/"];
      expect(others.map(read)).toEqual(others.map(() => "deny"));
    },
  );

  test("finds the address of a URI as it is, also beside a pattern with an open one", () => {
    const rules = [
      ruleOf("notes.*", "deny", 'tool.contains("intranet/a b")'),
      ruleOf("x.https://*.x/*", "deny", "true"),
    ];
    const read = reading({ defaults: [OPEN], rules });
    expect(read("https://intranet/a%20b")).toBe("deny");
    expect(read("https://intranet/a%20c")).toBe("allow");
  });

  test("leaves URIs to servers that it is not about, and to those of which nothing reads the name", () => {
    const odd = "notes://x/../private/x";
    expect(reading({ defaults: [OPEN], rules: [ruleOf("notes.*", "deny", "has(args.a)")] })(odd)).toBe("allow");
    const exact = [ruleOf("other.read", "deny", 'tool.contains("//private/")')];
    expect(reading({ defaults: [OPEN], rules: exact })(odd)).toBe("allow");
  });
});
