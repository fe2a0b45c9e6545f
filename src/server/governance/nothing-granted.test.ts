import { describe, expect, test } from "vitest";
import { loadConfig } from "../config/load-config.ts";
import { declaredPolicy } from "./access.ts";
import { grantsNothing } from "./nothing-granted.ts";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const SERVERS = [{ id: "hello", command: "x" }];

type Misnamed = Parameters<typeof grantsNothing>[2]["misnamed"];

function judge(auth: object, access: object = {}, misnamed: Misnamed = []): boolean {
  const table = { auth, access, servers: SERVERS, database: { url: "sqlite:x" } };
  const config = loadConfig({ table, originOf: () => undefined, files: [] }, { env: {} });
  return grantsNothing(config, declaredPolicy(config), { now: NOW, misnamed });
}

describe("grantsNothing", () => {
  test("is true of callers who are known, and about whom nothing was said", () => {
    expect(judge({ tokens: true })).toBe(true);
    expect(judge({ tokens: true }, { defaultPolicy: "opt-in" })).toBe(true);
  });

  test.each([
    ["a denial", { grants: [{ agent: "ada", server: "hello", permission: "deny" }] }],
    ["a grant that is over", { grants: [{ agent: "ada", server: "hello", expires: "2026-05-01T00:00:00Z" }] }],
    [
      "a binding that forbids",
      { bindings: [{ target: { type: "user", pattern: "ada" }, primitive: "*", allowed: false }] },
    ],
    ["a rule that forbids", { rules: [{ match: "*", effect: "deny" }] }],
    ["a rule that wants a yes", { rules: [{ match: "*", effect: "confirm" }] }],
    ["a switch", { exposure: [{ server: "hello", enabled: true }] }],
  ])("is not changed by %s", (_what, access) => {
    expect(judge({ tokens: true }, access)).toBe(true);
  });

  test.each([
    ["an open default", { defaultPolicy: "opt-out" }],
    ["one server that is open", { servers: { hello: "opt-out" } }],
    ["a grant", { grants: [{ agent: "ada", server: "hello" }] }],
    ["a binding", { bindings: [{ target: { type: "group", pattern: "ops" }, primitive: "hello.add" }] }],
    ["a rule that allows", { rules: [{ match: "*", effect: "allow" }] }],
  ])("is false with %s", (_what, access) => {
    expect(judge({ tokens: true }, access)).toBe(false);
  });

  test("is false where nobody is asked, and where the local user may use everything", () => {
    expect(judge({})).toBe(false);
    expect(judge({ tokens: true, local: true })).toBe(false);
    expect(judge({ tokens: true, local: true }, { defaultPolicy: "opt-in" })).toBe(true);
  });

  test("does not count grants and bindings of what is not there", () => {
    const grants = [{ agent: "ada", server: "hello", tool: "greeet" }];
    expect(judge({ tokens: true }, { grants }, [{ server: "hello", name: "greeet", meant: [] }])).toBe(true);
    const bindings = [{ target: { type: "user", pattern: "ada" }, primitive: "hello.greeet" }];
    expect(judge({ tokens: true }, { bindings }, [{ name: "hello.greeet", meant: [] }])).toBe(true);
    expect(judge({ tokens: true }, { grants: [{ agent: "ada", server: "other.*" }] })).toBe(true);
  });
});
