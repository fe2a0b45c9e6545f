import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import {
  type Block,
  type Blocks,
  type Call,
  type Entry,
  type Identity,
  type Principal,
  payload,
  type SessionRef,
  type Target,
} from "../../contract/index.ts";
import { LiveAccess } from "./access.ts";
import { compileCondition } from "./expression.ts";
import { type AccessPolicy, type Grant, NO_POLICY, type Rule } from "./policy.ts";
import type { Refusal } from "./reach.ts";

const who = (user: string, more: Partial<Identity> = {}): Principal => ({
  id: `token:default/${user}/1`,
  identity: { tenant: "default", user, client: "c", groups: [], scopes: [], role: undefined, proof: "token", ...more },
});

const tool = (provider: string, name: string): Entry => entryOf({ provider, kind: "tool", name });
const entryOf = (target: Target, template?: Target): Entry => ({
  name: target.name,
  target,
  template,
  primitive: { kind: target.kind, name: target.name, definition: payload("{}"), repeatable: false },
});

const grant = (agent: string, server: string, more: Partial<Grant> = {}): Grant => ({
  tenant: "*",
  type: more.tool === undefined ? "server_grant" : "tool_grant",
  agent,
  server,
  tool: "",
  permission: "allow",
  grantedBy: "ops",
  grantedAt: 1,
  expiresAt: undefined,
  justification: "",
  ...more,
});

const rule = (match: string, effect: Rule["effect"], when?: string): Rule => ({
  id: match,
  tenant: "*",
  match,
  effect,
  evidence: "operator",
  condition: when === undefined ? undefined : compileCondition(when),
});

const call = (entry: Entry, principal: Principal, argumentsText = "{}", more: Partial<Call> = {}): Call =>
  ({
    id: "call",
    target: entry.target,
    verb: "call",
    method: "tools/call",
    input: payload(`{"name":"x","arguments":${argumentsText}}`),
    principal,
    origin: { front: "mcp", protocol: "2025-11-25", requestId: "1" },
    ...more,
  }) as Call;

class Rig {
  readonly time = new ManualTime();
  readonly refusals: Refusal[] = [];
  changes = 0;
  readonly access: LiveAccess;

  constructor(policy: Partial<AccessPolicy>, conceals = true, blocks?: () => Blocks) {
    const dottedOf = ({ provider, name }: Target) => `${provider}.${name}`;
    const onChange = () => void this.changes++;
    const onRefused = (refusal: Refusal) => void this.refusals.push(refusal);
    this.access = new LiveAccess(
      { timers: this.time, now: () => this.time.now(), dottedOf, onChange, onRefused, blocks },
      { policy: { ...NO_POLICY, ...policy }, conceals },
    );
  }

  sees(principal: Principal, entry: Entry, catalog = ""): boolean {
    return this.access.reachOf(principal)?.reaches(entry, catalog) ?? true;
  }
}

describe("what a caller reaches", () => {
  test("[MG-123][MG-124] is everything for the local user and nothing for others, where nothing was said", () => {
    const { access } = new Rig({});
    expect(access.reachOf(who("local", { proof: "local" }))).toBeUndefined();
    expect(access.reachOf(who("ann"))?.reaches(tool("files", "read"), "")).toBe(false);
    const open = new Rig({ defaults: [{ tenant: "*", server: "*", policy: "opt-out" }] });
    expect(open.access.reachOf(who("ann"))).toBeUndefined();
  });

  test("is one object for callers who may do the same, and another for those who may not", () => {
    const { access } = new Rig({ grants: [grant("ann", "files"), grant("bob", "files"), grant("agent.*", "mail")] });
    expect(access.reachOf(who("carol"))).toBe(access.reachOf(who("dave")));
    expect(access.reachOf(who("agent.a"))).toBe(access.reachOf(who("agent.b")));
    const [ann, bob] = [access.reachOf(who("ann")), access.reachOf(who("bob"))];
    expect(ann?.key).not.toBe(bob?.key);
    expect(access.reachOf(who("carol"))?.key).not.toBe(access.reachOf(who("carol", { tenant: "acme" }))?.key);
  });

  test("[MG-106][MG-107] is all of a server by a grant of it, and one tool by a grant of that", () => {
    const rig = new Rig({ grants: [grant("ann", "files"), grant("bob", "files", { tool: "read" })] });
    const prompt = entryOf({ provider: "files", kind: "prompt", name: "read" });
    expect([tool("files", "read"), tool("files", "write"), prompt].map((entry) => rig.sees(who("ann"), entry))).toEqual(
      [true, true, true],
    );
    expect([tool("files", "read"), tool("files", "write"), prompt].map((entry) => rig.sees(who("bob"), entry))).toEqual(
      [true, false, false],
    );
    expect(rig.access.reachOf(who("bob"))?.reachesProvider("files", "")).toBe(true);
    expect(rig.access.reachOf(who("bob"))?.reachesProvider("mail", "")).toBe(false);
  });

  test("[MG-121] is less when a grant is over, to the millisecond, and whoever lists is told", () => {
    const rig = new Rig({ grants: [grant("ann", "files", { expiresAt: 5_000 })] });
    const [ann, read] = [who("ann"), tool("files", "read")];
    expect(rig.sees(ann, read)).toBe(true);
    rig.time.advance(3_999);
    expect([rig.sees(ann, read), rig.changes]).toEqual([true, 0]);
    rig.time.advance(1);
    expect([rig.sees(ann, read), rig.changes]).toEqual([false, 1]);
    expect(rig.access.judge(call(read, ann))).toMatchObject({ effect: "deny", source: "default_policy" });
  });

  test("is without what a switch has off, in one catalog or in all of them", () => {
    const off = { tenant: "*", protocol: "*", enabled: false };
    const open = [{ tenant: "*", server: "*", policy: "opt-out" as const }];
    const rig = new Rig({
      defaults: open,
      exposures: [
        { ...off, server: "team", primitive: "files.read" },
        { ...off, server: "mail", primitive: "" },
      ],
    });
    const ann = who("ann");
    expect([rig.sees(ann, tool("files", "read")), rig.sees(ann, tool("files", "read"), "team")]).toEqual([true, false]);
    expect([rig.sees(ann, tool("mail", "send")), rig.sees(ann, tool("mail", "send"), "team")]).toEqual([false, false]);
    expect(rig.access.reachOf(ann)?.reachesProvider("mail", "")).toBe(false);
  });

  test("is a URI that nobody lists only where its template is reached, too", () => {
    const template: Target = { provider: "files", kind: "template", name: "file:///{path}" };
    const found = entryOf({ provider: "files", kind: "resource", name: "file:///a" }, template);
    const deny = { tenant: "*", target: { type: "user" as const, pattern: "ann" }, protocol: "*", allowed: false };
    const rig = new Rig({
      grants: [],
      defaults: [{ tenant: "*", server: "*", policy: "opt-out" }],
      bindings: [{ ...deny, primitive: "files.file:///{path}" }],
    });
    expect([rig.sees(who("ann"), found), rig.sees(who("bob"), found)]).toEqual([false, true]);
  });

  test("shows what only lacks a scope, which a better token has, and not what is denied anyway", () => {
    const scopes = [{ match: "*", scopes: ["s:write"] }];
    const rig = new Rig({ grants: [grant("ann", "files")], scopes });
    expect(rig.sees(who("ann"), tool("files", "read"))).toBe(true);
    expect(rig.access.judge(call(tool("files", "read"), who("ann")))).toMatchObject({
      effect: "deny",
      source: "scope",
      missing: ["s:write"],
      isShown: true,
    });
    expect(rig.sees(who("bob"), tool("files", "read"))).toBe(false);
    expect(rig.access.judge(call(tool("files", "read"), who("ann", { scopes: ["s:write"] })))).toMatchObject({
      effect: "allow",
    });
  });

  test("is without what a block is about, from the moment it is there until it is over", () => {
    const block = {
      id: "b",
      server: "files",
      protocol: "",
      primitive: "write",
      until: 10_000,
      reason: "lost",
    } as Block;
    let blocks: readonly Block[] = [];
    let version = 1;
    const list: Blocks = {
      get version() {
        return version;
      },
      get size() {
        return blocks.length;
      },
      of: () => blocks.filter(({ until }) => until > rig.time.now()),
      isBlocked: () => undefined,
      isRevoked: () => undefined,
      isUpstreamRevoked: () => false,
    };
    const rig = new Rig({}, true, () => list);
    const local = who("local", { proof: "local" });
    expect(rig.access.reachOf(local)).toBeUndefined();
    blocks = [block];
    version++;
    expect([rig.sees(local, tool("files", "read")), rig.sees(local, tool("files", "write"))]).toEqual([true, false]);
    expect(rig.access.judge(call(tool("files", "write"), local))).toMatchObject({ effect: "deny", source: "block" });
    rig.time.advance(10_000);
    expect(rig.access.reachOf(local)).toBeUndefined();
  });

  test("is on record where somebody wants more", () => {
    const rig = new Rig({ grants: [grant("ann", "files")] });
    rig.access.reachOf(who("ann"))?.refused(tool("mail", "send"), "", who("ann"));
    expect(rig.refusals).toMatchObject([
      {
        principal: { id: "token:default/ann/1" },
        target: { provider: "mail", name: "send" },
        decision: { source: "default_policy" },
      },
    ]);
  });
});

describe("the decision about a call", () => {
  const [ann, write] = [who("ann"), tool("files", "write")];

  test("looks at the arguments only where a rule does", () => {
    const rig = new Rig({ grants: [grant("ann", "files")], rules: [rule("mail.*", "deny", "args.x == 1")] });
    const unread = payload("{}");
    Object.defineProperty(unread, "at", { value: () => expect.unreachable() });
    expect(rig.access.judge(call(write, ann, "", { input: unread }))).toMatchObject({ effect: "allow" });
  });

  test("is that of the rules that hold, deny before confirm before allow", () => {
    const rules = [
      rule("files.*", "confirm", "args.size > 10"),
      rule("files.*", "deny", 'glob(args.path, "/etc/*")'),
      rule("files.write", "allow", "args.size < 100"),
    ];
    const rig = new Rig({ rules });
    const says = (text: string) => rig.access.judge(call(write, ann, text))?.effect;
    expect(rig.sees(ann, write)).toBe(true);
    expect(rig.sees(ann, tool("files", "read"))).toBe(false);
    expect(says('{"path":"/a","size":5}')).toBe("allow");
    expect(says('{"path":"/a","size":50}')).toBe("confirm");
    expect(says('{"path":"/etc/a","size":5}')).toBe("deny");
    expect(says('{"path":"/a","size":500}')).toBe("deny");
  });

  test("is no where a rule cannot be judged, and BAD_CALL where the arguments can be read in two ways", () => {
    const rig = new Rig({ grants: [grant("ann", "files")], rules: [rule("files.*", "deny", "args.size > 10")] });
    expect(rig.access.judge(call(write, ann, '{"other":1}'))).toMatchObject({
      effect: "deny",
      source: "rule",
      isShown: true,
    });
    expect(rig.access.judge(call(write, ann, '{"size":"9"}'))).toMatchObject({ effect: "deny" });
    expect(() => rig.access.judge(call(write, ann, '{"size":1,"size":99}'))).toThrow(
      expect.objectContaining({ code: "BAD_CALL" }),
    );
    expect(rig.access.judge(call(write, ann, '{"size":9}'))).toMatchObject({ effect: "allow" });
  });

  test("about one that was made is that about its arguments, and no where a rule reads some that were not kept", () => {
    const rules = [rule("files.write", "deny", 'args.size > 10 && !("pay" in principal.scopes)')];
    const rig = new Rig({ grants: [grant("ann", "files"), grant("ann", "mail")], rules });
    const allows = (args: string | undefined, by = ann) =>
      rig.access.tells(by, { target: write.target, args }, "", "asked");
    expect([allows('{"size":9}'), allows('{"size":99}', who("ann", { scopes: ["pay"] }))]).toEqual([true, true]);
    expect(rig.refusals).toEqual([]);
    for (const args of ['{"size":99}', '{"size":1,"size":99}', "{}", "", undefined]) expect(allows(args)).toBe(false);
    expect(rig.refusals.map(({ decision }) => [decision.effect, decision.source])).toEqual(
      Array.from({ length: 5 }, () => ["deny", "rule"]),
    );
    expect(rig.access.tells(ann, { target: tool("mail", "send").target }, "")).toBe(true);
  });

  describe.each([true, false])("where conceal is %s", (conceals) => {
    const off = { tenant: "*", protocol: "*", enabled: false };
    const defaults = [{ tenant: "*", server: "*", policy: "opt-out" as const }];
    const at = (catalog: string) => ({ session: { catalog } as SessionRef });

    test("is no in a catalog that is switched off, and there alone", () => {
      const { access } = new Rig({ defaults, exposures: [{ ...off, server: "team", primitive: "" }] }, conceals);
      expect(access.judge(call(write, ann, "{}", at("team")))).toMatchObject({ effect: "deny", source: "exposure" });
      expect(access.judge(call(write, ann, "{}", at("")))).toMatchObject({ effect: "allow" });
      const about = entryOf({ provider: "files", kind: "operation", name: "tasks/get" });
      const more = { verb: "raw", resumes: "task" } as const;
      expect(access.judge(call(about, ann, "{}", { ...more, ...at("team") }))).toMatchObject({ effect: "deny" });
    });

    test("is no for a primitive that is switched off in the catalog of the call", () => {
      const exposures = [{ ...off, server: "team", primitive: "files.write" }];
      const { access } = new Rig({ defaults, exposures }, conceals);
      expect(access.judge(call(write, ann, "{}", at("team")))).toMatchObject({ effect: "deny", source: "exposure" });
      expect(access.judge(call(tool("files", "read"), ann, "{}", at("team")))).toMatchObject({ effect: "allow" });
      expect(access.judge(call(write, ann, "{}", at("files")))).toMatchObject({ effect: "allow" });
    });

    test("is no for a URI whose template is denied, lacks a scope or a yes", () => {
      const template: Target = { provider: "files", kind: "template", name: "file:///{path}" };
      const found = entryOf({ provider: "files", kind: "resource", name: "file:///a" });
      const target = { type: "user" as const, pattern: "ann" };
      const bindings = [{ tenant: "*", target, primitive: "files.file:///{path}", protocol: "*", allowed: false }];
      const says = (policy: Partial<AccessPolicy>, by = ann) =>
        new Rig({ defaults, ...policy }, conceals).access.judge(call(found, by, "{}", { template }));
      expect(says({ bindings })).toMatchObject({ effect: "deny", source: "binding" });
      expect(says({ bindings }, who("bob"))).toMatchObject({ effect: "allow" });
      expect(says({ scopes: [{ match: "files.file:///{path}", scopes: ["s"] }] })).toMatchObject({ missing: ["s"] });
      const rules = [
        rule("files.file:///{path}", "confirm"),
        { ...rule("files.file:///a", "confirm"), evidence: "none" as const },
      ];
      expect(says({ rules })).toMatchObject({ effect: "confirm", evidence: "operator" });
      expect(says({ rules: [rule("files.file:///{path}", "deny")] })).toMatchObject({ effect: "deny", source: "rule" });
    });

    test("is no for a URI that fits a template which is denied, lacks a scope or a yes, whichever it was found by", () => {
      const own = "file:///priv%20ate/{name}";
      const names = ["file:///{+path}", own, "file:///other/{name}"];
      const templates = names.map((name): Target => ({ provider: "files", kind: "template", name }));
      const [template] = templates as [Target];
      const says = (policy: Partial<AccessPolicy>, name = "file:///priv ate/x") => {
        const rig = new Rig({ defaults, ...policy }, conceals);
        const found = { ...entryOf({ provider: "files", kind: "resource", name }, template), templates };
        const decision = rig.access.judge(call(found, ann, "{}", { template, templates }));
        return { ...decision, isSeen: rig.sees(ann, found), isTold: rig.access.tells(ann, found, "") };
      };
      const target = { type: "user" as const, pattern: "ann" };
      const bindings = [{ tenant: "*", target, primitive: `files.${own}`, protocol: "*", allowed: false }];
      const no = { effect: "deny", isSeen: false, isTold: false };
      const open = { effect: "allow", isSeen: true, isTold: true };
      expect(says({ bindings })).toMatchObject({ ...no, source: "binding" });
      expect(says({ bindings }, "file:///public/x")).toMatchObject(open);
      expect(says({ exposures: [{ ...off, server: "files", primitive: own }] })).toMatchObject(no);
      expect(says({ rules: [rule(`files.${own}`, "deny")] })).toMatchObject({ ...no, source: "rule" });
      expect(says({ scopes: [{ match: `files.${own}`, scopes: ["s"] }] })).toMatchObject({
        ...{ effect: "deny", missing: ["s"], isSeen: true, isTold: false },
      });
      const rules = [rule(`files.${own}`, "confirm"), { ...rule("*", "confirm"), evidence: "none" as const }];
      expect(says({ rules })).toMatchObject({ effect: "confirm", evidence: "operator" });
      const opened = [{ ...bindings[0], primitive: "files.file:///{+path}", allowed: true }] as typeof bindings;
      const places = [{ ...bindings[0], primitive: "files.file:///p*", allowed: true }] as typeof bindings;
      const optIn: Partial<AccessPolicy> = { defaults: [] };
      expect(says({ ...optIn, bindings: [...opened, ...places] })).toMatchObject(open);
      expect(says({ ...optIn, bindings: places }, "file:///public/x")).toMatchObject(no);
    });

    test("says on record by what a URI is kept from somebody", () => {
      const templates: readonly Target[] = [{ provider: "files", kind: "template", name: "file:///{path}" }];
      const rig = new Rig({ defaults, rules: [rule("files.file:///{path}", "deny")] }, conceals);
      const found = { ...entryOf({ provider: "files", kind: "resource", name: "file:///a" }), templates };
      rig.access.reachOf(ann)?.refused(found, "", ann);
      expect(rig.refusals).toMatchObject([{ target: found.target, decision: { effect: "deny", source: "rule" } }]);
    });
  });

  test("lets no method through that nobody here knows, and goes on with what was allowed", () => {
    const rig = new Rig({ grants: [grant("ann", "files")] });
    const raw = entryOf({ provider: "files", kind: "operation", name: "tasks/get" });
    expect(rig.access.judge(call(raw, ann, "{}", { verb: "raw" }))).toMatchObject({ effect: "deny" });
    expect(rig.access.judge(call(raw, ann, "{}", { verb: "raw", resumes: "task" }))).toMatchObject({ effect: "allow" });
    const task = { id: "task", principal: ann, target: write.target, args: '{"size":99}', expiresAt: 0 };
    const about = call(raw, ann, "{}", { verb: "raw", resumes: "task", task });
    expect(rig.access.judge(about)).toMatchObject({ effect: "allow" });
    const denied = [rule("files.write", "deny", "args.size > 10"), rule("files.write", "deny")];
    for (const one of denied) {
      const stricter = new Rig({ grants: [grant("ann", "files")], rules: [one] });
      expect(stricter.access.judge(about)).toMatchObject({ effect: "deny", source: "rule" });
    }
    const other = entryOf({ provider: "mail", kind: "operation", name: "tasks/get" });
    expect(rig.access.judge(call(other, ann, "{}", { verb: "raw", resumes: "task" }))).toMatchObject({
      effect: "deny",
    });
  });

  test("is another one at once when the policy is", () => {
    const rig = new Rig({ grants: [grant("ann", "files")] });
    expect(rig.access.judge(call(write, ann))).toMatchObject({ effect: "allow", source: "server_grant" });
    rig.access.use({ policy: NO_POLICY, conceals: true });
    expect(rig.access.judge(call(write, ann))).toMatchObject({ effect: "deny" });
    expect(rig.changes).toBe(1);
  });

  test("is told step by step, also about a call that nobody makes", () => {
    const rig = new Rig({ grants: [grant("ann", "files")], rules: [rule("files.*", "deny", "args.size > 10")] });
    const question = {
      server: "files",
      kind: "tool",
      name: "write",
      dotted: "files.write",
      protocol: "mcp",
      catalog: "",
    } as const;
    const { decision, steps, isConditional } = rig.access.ask(ann, question, '{"size":11}');
    expect(decision).toMatchObject({ effect: "deny", source: "rule" });
    expect(isConditional).toBe(true);
    expect(steps.map(({ step, said }) => [step, said?.effect])).toEqual([
      ["block", undefined],
      ["exposure", undefined],
      ["primitive", undefined],
      ["grant", "allow"],
      ["binding", undefined],
      ["scope", undefined],
      ["rule", "deny"],
    ]);
    expect(rig.access.ask(ann, question).decision).toMatchObject({ effect: "allow", source: "server_grant" });
  });
});
