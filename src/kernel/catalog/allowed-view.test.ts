import { describe, expect, test } from "vitest";
import { listed, TestCatalog } from "../../../tests/kit/test-catalog.ts";
import type { Access, Entry, SessionRef } from "../../contract/index.ts";

const SERVERS = [
  { id: "files", tools: ["read", "write"], resources: ["file:///a"], prompts: ["sum"] },
  { id: "mail", tools: ["send"] },
];

const refusals: string[] = [];

/** Everybody reaches what is listed for them. */
function accessOf(allowed: Readonly<Record<string, readonly string[]>>, conceals = true): Access {
  return {
    tells: () => true,
    reachOf: ({ id }) => {
      const names = allowed[id];
      if (!names) return undefined;
      return {
        key: names.join(),
        hears: () => true,
        reaches: ({ target }: Entry) => names.includes(`${target.provider}.${target.name}`),
        reachesProvider: (provider) => names.some((name) => name.startsWith(`${provider}.`)),
        hasRaw: false,
        conceals,
        refused: ({ target }, where, by) => refusals.push(`${by.id} ${where} ${target.provider}.${target.name}`),
      };
    },
  };
}

const of = (id: string) => ({ id: `session of ${id}`, principal: { id } }) as SessionRef;

describe("a view of a caller who may not do everything", () => {
  const catalog = new TestCatalog(
    SERVERS,
    {},
    accessOf({ ann: ["files.read", "files.file:///a"], bob: ["mail.send"] }),
  );

  test("lists what the caller may reach, in the order of the whole list, and resolves nothing else", () => {
    const view = catalog.view("", of("ann"));
    expect(listed(view, "tool")).toEqual(["files.read"]);
    expect(listed(view, "resource")).toEqual(["file:///a"]);
    expect(listed(view, "prompt")).toEqual([]);
    expect(view.resolve("tool", "files.read")?.target.name).toBe("read");
    for (const name of ["files.write", "mail.send"]) expect(view.resolve("tool", name)).toBeUndefined();
    expect(listed(view, "tool")).toEqual(listed(view, "tool"));
  });

  test("does not show servers of which nothing can be reached, nor lets unknown methods through", () => {
    const view = catalog.view("", of("bob"));
    expect(view.providers.map(({ id }) => id)).toEqual(["mail"]);
    expect(view.isPartial).toBe(true);
    expect(view.raw("files", "any/thing")).toBeUndefined();
    expect(view.raw("mail", "tasks/get")).toBeDefined();
  });

  test("is the whole view for whoever may do everything, and one object for those who may do the same", () => {
    expect(listed(catalog.view("", of("carol")), "tool")).toEqual(["files.read", "files.write", "mail.send"]);
    expect(catalog.view("", of("ann"))).toBe(catalog.view("", of("ann")));
    expect(catalog.view("", of("ann"))).not.toBe(catalog.view("", of("bob")));
  });

  test("tells who wanted what they may not see, and only when it was for a call", () => {
    const view = catalog.view("", of("ann"));
    view.resolve("tool", "files.write");
    expect(refusals).toEqual([]);
    expect(view.resolve("tool", "files.write", { id: "ann" })).toBeUndefined();
    expect(refusals.splice(0)).toEqual(["ann  files.write"]);
    expect(view.resolve("tool", "files.nothing", { id: "ann" })).toBeUndefined();
    expect(refusals).toEqual([]);
  });

  test("finds what is not listed where nothing is concealed: calling it says why not", () => {
    const open = new TestCatalog(SERVERS, {}, accessOf({ ann: ["files.read"] }, false)).view("", of("ann"));
    expect(listed(open, "tool")).toEqual(["files.read"]);
    expect(open.resolve("tool", "files.write", { id: "ann" })?.target.name).toBe("write");
  });
});

describe("what was found by a URI that nobody lists", () => {
  const templates = ["file:///{+path}", "file:///private/{name}"];
  const server = { id: "files", resources: ["file:///a"], templates };
  const catalog = new TestCatalog([server, { ...server, id: "more" }]);
  const named = (provider: string) => templates.map((name) => ({ provider, kind: "template", name }));

  test("has all templates of its server beside it, and so have these; what is listed has none", () => {
    const view = catalog.view();
    const found = view.resolve("resource", "file:///private/x");
    expect(found?.templates).toEqual(named("files"));
    expect(found?.template).toBe(found?.templates?.[0]);
    expect(view.resolve("resource", "file:///y")?.templates).toBe(found?.templates);
    expect(view.resolve("template", "file:///{+path}")?.templates).toBe(found?.templates);
    expect(view.resolve("resource", "more+file:///private/x")?.templates).toEqual(named("more"));
    expect(view.resolve("resource", "file:///a")?.templates).toBeUndefined();
  });

  test("is heard of by its server's own name of it, as what it is there", () => {
    const asked: unknown[] = [];
    const reach = accessOf({ ann: ["files.", "more."] });
    const access: Access = {
      ...reach,
      reachOf: (by) => {
        const own = reach.reachOf(by);
        return own && { ...own, hears: ({ target, templates: beside }) => asked.push([target.provider, beside]) > 1 };
      },
    };
    const heard = new TestCatalog([server, { ...server, id: "more" }], {}, access).view("", of("ann"));
    const told = ["file:///x", "file:///a"].map((uri) => heard.hearsOf?.("more", uri));
    expect([told, heard.hearsOf?.("elsewhere", "file:///x")]).toEqual([[false, true], false]);
    expect(asked).toEqual([
      ["more", named("more")],
      ["more", undefined],
    ]);
  });

  test("is judged by them when somebody comes back for it", () => {
    const asked: unknown[] = [];
    const access: Access = {
      ...accessOf({ ann: ["files."] }),
      tells: (_by, call) => asked.push(call.templates) > 0,
    };
    const { catalog: told } = new TestCatalog([server], {}, access);
    const of = (name: string) =>
      told.tells("", { id: "ann" }, { target: { provider: "files", kind: "resource", name } });
    expect([of("file:///x"), of("file:///a")]).toEqual([true, true]);
    expect(asked).toEqual([named("files"), []]);
  });
});
