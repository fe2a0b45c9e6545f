import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { who } from "../../../tests/kit/policy-rig.ts";
import { type Call, jsonText, payload, type Target } from "../../contract/index.ts";
import { LiveAccess } from "./access.ts";
import { compileCondition } from "./expression.ts";
import { type AccessPolicy, NO_POLICY } from "./policy.ts";

const bind = (primitive: string, allowed = true) => ({
  tenant: "*",
  target: { type: "user" as const, pattern: "ann" },
  primitive,
  protocol: "*",
  allowed,
});

type Said = {
  readonly template?: string;
  readonly beside?: readonly string[];
  readonly name?: string;
  readonly context?: Record<string, unknown>;
};

/** What is decided about the completion of a value, and which of the values that come back are kept. */
function completing(
  policy: Partial<AccessPolicy>,
  { template = "file:///{+path}", beside = [], name = "path", context }: Said = {},
) {
  const timers = new ManualTime();
  const templateOf = (own: string): Target => ({ provider: "docs", kind: "template", name: own });
  const target = templateOf(template);
  const templates: readonly Target[] = [target, ...beside.map(templateOf)];
  const dottedOf = ({ provider, name: own }: Target) => `${provider}.${own}`;
  const access = new LiveAccess(
    { timers, now: () => timers.now(), dottedOf, onChange: () => undefined, onRefused: () => undefined },
    { policy: { ...NO_POLICY, ...policy }, conceals: true },
  );
  return (value: unknown) => {
    const said = { argument: { name, value }, ...(context && { context: { arguments: context } }) };
    const call = {
      target,
      templates,
      verb: "complete",
      method: "completion/complete",
      input: payload(jsonText(said)),
      principal: who("ann"),
      origin: { front: "mcp", protocol: "2025-11-25", requestId: "1" },
    } as Call;
    const decision = access.judge(call);
    expect(decision?.effect).toBe("allow");
    return (values: readonly string[]) => values.filter((one) => decision?.keeps?.(one) ?? true);
  };
}

const TEMPLATE = bind("docs.file:///{+path}");
const PUB = { bindings: [TEMPLATE, bind("docs.file:///pub/*")] };
const NOT_PRIV = { bindings: [bind("docs.*"), bind("docs.file:///priv/*", false)] };
const ALL = ["pub/a", "pub/b/", "etc/shadow", "priv/x", "pub", "pub/../etc", "pub/%2e%2e/etc", "secret"];

describe("completion where patterns decide about URIs", () => {
  test("hands on the first values of an answer that would take long to judge, and no more", () => {
    const template = `doc://{a}/${"z".repeat(1_900)}/{b}/end`;
    const short = "doc://{a}/zzzz/{b}/end";
    const bindings = [`docs.${template}`, `docs.${short}`, "docs.doc://*z*z*z*z*z*z*q", "docs.doc://*x*x*/end"].map(
      (one) => bind(one),
    );
    const values = Array.from({ length: 100 }, (_, at) => `v${at}`);
    const kept = completing({ bindings }, { template, name: "a" })("v")(values);
    expect(kept.length).toBeGreaterThan(5);
    expect(kept.length).toBeLessThan(values.length);
    expect(kept).toEqual(values.slice(0, kept.length));
    expect(completing({ bindings }, { template: short, name: "a" })("v")(values)).toEqual(values);
  });

  test("leaves out what is of another template that is denied, however it is spelled, and nothing else", () => {
    const bindings = [bind("docs.*"), bind("docs.file:///priv%20ate/{name}", false)];
    const beside = ["file:///priv%20ate/{name}", "file:///{folder}/{name}"];
    const values = ["priv ate/x", "priv%20ate/x", "priv%20ate./x/", "priv ate/x/y", "priv ate", "pub/x"];
    expect(completing({ bindings }, { beside })("")(values)).toEqual(["priv ate/x/y", "priv ate", "pub/x"]);
    const folders = completing({ bindings }, { template: "file:///{folder}/{name}", beside, name: "folder" });
    expect(folders("")(["priv ate", "priv%20ate", "pub"])).toEqual(["pub"]);
  });

  test("hands on the first values of an answer that would take long to hold against templates, and no more", () => {
    const beside = Array.from({ length: 499 }, (_, at) => `file:///{+a}/${at}/{b}/{+c}x`);
    const bindings = [bind("docs.*"), bind("docs.file:///*x", false)];
    const long = Array.from({ length: 100 }, (_, at) => `${at}/${"z/".repeat(1_000)}y`);
    const kept = completing({ bindings }, { beside })("")(long);
    expect(kept.length).toBeGreaterThan(5);
    expect(kept).toEqual(long.slice(0, kept.length));
    expect(kept.length).toBeLessThan(long.length);
    const short = Array.from({ length: 100 }, (_, at) => `value-${at}`);
    expect(completing({ bindings }, { beside })("")(short)).toEqual(short);
  });

  test.each(["", "p", "pub/", "etc/shadow", "priv/"])("of %j keeps only what may be read", (value) => {
    expect(completing(PUB)(value)(ALL)).toEqual(["pub/a", "pub/b/"]);
  });

  test("leaves out what is denied, and nothing else", () => {
    expect(completing(NOT_PRIV)("pri")(ALL)).toEqual(["pub/a", "pub/b/", "etc/shadow", "pub", "secret"]);
  });

  test.each(["priv/ä", "priv/%C3%A4", "priv/a b", "priv/a%20b", "priv/100%"])(
    "leaves out %j in each spelling",
    (value) => {
      const policy = {
        bindings: [bind("docs.*"), bind("docs.file:///priv/ä*", false), bind("docs.file:///priv/*0%*", false)],
      };
      const spaced = { bindings: [...policy.bindings, bind("docs.file:///priv/a%20*", false)] };
      expect(completing(spaced)("")([value, "a b", "ä", "50%"])).toEqual(["a b", "ä", "50%"]);
    },
  );

  test("keeps what its variable leaves no slash in as it is read: escaped, and as it is", () => {
    const template = "note://by-day/{day}";
    const policy = { bindings: [bind("docs.*"), bind("docs.note://by-day/secret*", false)] };
    const days = completing(policy, { template, name: "day" })("");
    expect(days(["mon", "secret", "secret/x", "s#1", "a&b"])).toEqual(["mon", "s#1", "a&b"]);
  });

  test("judges all of a value of which the URI has only a part", () => {
    const template = "note://{day:3}";
    const policy = { bindings: [bind("docs.*"), bind("docs.note://monday*", false)] };
    expect(completing(policy, { template, name: "day" })("")(["monday", "tuesday"])).toEqual(["tuesday"]);
  });

  test("heeds rules that look at who calls, or at the name itself", () => {
    const rule = { id: "r", tenant: "*", match: "docs.file:///priv/*", evidence: "operator", effect: "deny" } as const;
    const rules = [{ ...rule, condition: compileCondition('principal.user != "root"') }];
    expect(completing({ bindings: [bind("docs.*")], rules })("")(["a", "priv/x"])).toEqual(["a"]);
    const named = [{ ...rule, match: "*", condition: compileCondition('tool.contains("priv")') }];
    expect(completing({ bindings: [bind("docs.*")], rules: named })("")(["a", "priv/x"])).toEqual(["a"]);
  });

  test("knows what else the URI is made of, and keeps what may lead to something where it does not", () => {
    const template = "db://{host}/{table}{?at}";
    const policy = { bindings: [bind(`docs.${template}`), bind("docs.db://pub/*"), bind("docs.db://priv/open?at=1")] };
    const tables = (context?: Record<string, unknown>) =>
      completing(policy, { template, name: "table", ...(context && { context }) });
    expect(completing(policy, { template, name: "host" })("p")(["pub", "pub/x", "pu"])).toEqual(["pub"]);
    expect(tables({ host: "pub" })("us")(["users"])).toEqual(["users"]);
    expect(tables({ host: "priv" })("us")(["users", "open"])).toEqual(["open"]);
    expect(tables({ host: "priv", at: "2" })("us")(["users", "open"])).toEqual([]);
    expect(tables({ host: "priv", at: "1" })("us")(["users", "open"])).toEqual(["open"]);
    expect(tables()("us")(["users"])).toEqual(["users"]);
    const closed = { bindings: [bind("docs.*"), bind("docs.db://*/users*", false)] };
    expect(completing(closed, { template, name: "table" })("")(["users", "orders"])).toEqual(["orders"]);
  });

  test("judges hosts in their one spelling, and knows that a port which is open is a number", () => {
    const template = "https://{host}:{port}/{+rest}";
    const policy = { bindings: [bind("docs.*"), bind("docs.https://intranet:*", false)] };
    const hosts = ["h.example", "intranet", "x@intranet", "intranet.", "INTRANET", "ｉntranet"];
    expect(completing(policy, { template, name: "host" })("")(hosts)).toEqual(["h.example"]);
    const ports = completing(policy, { template, name: "port", context: { host: "h.example" } });
    expect(ports("")(["8443", "443", "08443", ""])).toEqual(["8443"]);
    const some = { bindings: [bind(`docs.${template}`), bind("docs.https://h.example:*/pub/*")] };
    const rest = completing(some, { template, name: "rest", context: { host: "h.example" } });
    expect(rest("")(["pub/a"])).toEqual(["pub/a"]);
  });

  test("keeps nothing that becomes no part of the URI", () => {
    expect(completing(PUB, { name: "other" })("")(["pub/a", "etc/shadow"])).toEqual([]);
    expect(completing(PUB, { template: "file:///pub/a" })("")(["pub/a", "etc/shadow"])).toEqual([]);
  });

  test("is refused where it is no text, or can be read in two ways", () => {
    for (const value of [7, null, "../etc", "%2e%2e/etc"])
      expect(() => completing(PUB)(value), String(value)).toThrow("cannot be judged");
    expect(() => completing(PUB, { context: { other: ["a"] } })("pub/")).toThrow("cannot be judged");
    expect(() => completing(PUB, { context: { other: "a".repeat(300_000) } })("pub/")).toThrow("cannot be judged");
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`v${index}`, "a"]));
    expect(() => completing(PUB, { context: many })("pub/")).toThrow("cannot be judged");
  });

  test("keeps everything where no pattern decides", () => {
    expect(completing({ bindings: [bind("docs.*")] })("")(ALL)).toEqual(ALL);
  });
});
