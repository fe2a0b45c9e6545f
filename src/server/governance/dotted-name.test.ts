import { describe, expect, test } from "vitest";
import type { Target } from "../../contract/index.ts";
import { loadConfig } from "../config/load-config.ts";
import { dottedName, serverByStem, stemOf, unprefixedServer } from "./dotted-name.ts";

const server = (id: string, more: object = {}) => ({ id, command: "node", ...more });
const configOf = (...servers: object[]) =>
  loadConfig({ table: { servers }, originOf: () => undefined, files: [] }, { env: {} });

const PAY = server("pay");
const BARE = server("my.bare", { prefix: "" });
const target = (name: string, kind: Target["kind"] = "tool", provider = "my.bare"): Target => ({
  provider,
  kind,
  name,
});

describe("names in rules", () => {
  const config = configOf(BARE, PAY);

  test.each<[Target, string]>([
    [target("search"), "search"],
    [target("search", "prompt"), "search"],
    [target("pay.send"), "my_bare.pay.send"],
    [target("pay.send", "prompt"), "my_bare.pay.send"],
    [target("later.send"), "my_bare.later.send"],
    [target("my_bare.x"), "my_bare.my_bare.x"],
    [target("pay.x:a/b", "resource"), "my_bare.pay.x:a/b"],
    [target("pay.{x}", "template"), "my_bare.pay.{x}"],
    [target("file:///pay.txt", "resource"), "file:///pay.txt"],
    [target("p y.send"), "p y.send"],
    [target("send", "tool", "pay"), "pay.send"],
    [target("a.b", "tool", "pay"), "pay.a_b"],
    [target("file:///x", "resource", "pay"), "pay.file:///x"],
    [target("x", "tool", "gone"), "gone.x"],
  ])("%j is called %s: nothing without a prefix is called as something under another's", (one, dotted) => {
    expect(dottedName(config, one)).toBe(dotted);
  });

  test("lead back to their server", () => {
    expect(serverByStem(config, "my_bare.pay.send")?.id).toBe("my.bare");
    expect(serverByStem(config, "pay.send")?.id).toBe("pay");
    expect(serverByStem(config, "search")).toBeUndefined();
    expect(config.servers.map((one) => stemOf(one))).toEqual(["my_bare", "pay"]);
    expect(unprefixedServer(config)).toEqual({ id: "my.bare", stem: "my_bare" });
  });

  test("are the same when a server is alone, so that no other one that is added takes them from their rules", () => {
    expect(dottedName(configOf(BARE), target("pay.send"))).toBe("my_bare.pay.send");
    expect(dottedName(configOf(BARE, PAY), target("pay.send"))).toBe("my_bare.pay.send");
    expect(unprefixedServer(configOf(BARE))).toEqual({ id: "my.bare", stem: "my_bare" });
    expect(unprefixedServer(configOf(PAY))).toBeUndefined();
  });
});

describe("a config", () => {
  const rules = (match: string) => ({ access: { rules: [{ match, effect: "deny" }] } });
  const load = (servers: object[], more: object) =>
    loadConfig({ table: { servers, ...more }, originOf: () => undefined, files: [] }, { env: {} });

  test("may speak of names behind the id of the server without a prefix", () => {
    for (const match of ["my_bare.pay.send", "my_bare.*", "pay.*", "search"]) load([BARE, PAY], rules(match));
    expect(() => load([BARE, PAY], rules("other.send"))).toThrow();
    load([BARE], rules("my_bare.a.send"));
  });

  test("has no other prefix that is this id", () => {
    const clash = [server("files", { prefix: "" }), server("other", { prefix: "files" })];
    expect(() => load(clash, {})).toThrow(/servers\.files\.id: expected an id that is no prefix/);
    load([server("files", { prefix: "" }), server("other")], {});
  });
});
