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
    expect(config.servers.map((one) => stemOf(config, one))).toEqual(["my_bare", "pay"]);
    expect(unprefixedServer(config)).toEqual({ id: "my.bare", stem: "my_bare" });
  });

  test("of the only server in the file stay as they are; of one whose neighbour is left out they do not", () => {
    expect(dottedName(configOf(BARE), target("pay.send"))).toBe("pay.send");
    expect(unprefixedServer(configOf(BARE))).toBeUndefined();
    expect(unprefixedServer(configOf(PAY))).toBeUndefined();
    expect(dottedName(configOf(BARE, { ...PAY, disabled: true }), target("pay.send"))).toBe("my_bare.pay.send");
  });
});

describe("a config", () => {
  const rules = (match: string) => ({ access: { rules: [{ match, effect: "deny" }] } });
  const load = (servers: object[], more: object) =>
    loadConfig({ table: { servers, ...more }, originOf: () => undefined, files: [] }, { env: {} });

  test("may speak of names behind the id of the server without a prefix, where there are others", () => {
    for (const match of ["my_bare.pay.send", "my_bare.*", "pay.*", "search"]) load([BARE, PAY], rules(match));
    expect(() => load([BARE, PAY], rules("other.send"))).toThrow();
    expect(() => load([BARE], rules("my_bare.send"))).toThrow();
  });

  test("has no other prefix that is this id", () => {
    const clash = [server("files", { prefix: "" }), server("other", { prefix: "files" })];
    expect(() => load(clash, {})).toThrow(/servers\.files\.id: expected an id that is no prefix/);
    load([server("files", { prefix: "" }), server("other")], {});
  });
});
