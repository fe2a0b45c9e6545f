import { describe, expect, test, vi } from "vitest";
import { listed, planned, TestCatalog, type TestServer } from "../../../tests/kit/test-catalog.ts";
import { joinName, underscoreName, type View } from "../../contract/index.ts";
import { UriTemplate } from "./uri-template.ts";

const files: TestServer = {
  id: "files",
  tools: ["read_file", "write_file"],
  prompts: ["summarise"],
  resources: ["file:///a", "file:///b"],
  templates: ["file:///{+path}"],
};
const memory: TestServer = {
  id: "memory",
  tools: ["read_all"],
  resources: ["file:///a"],
  templates: ["file:///{+path}"],
};
const bare: TestServer = { id: "bare", prefix: "", tools: ["go", "files.read_file"], resources: ["file:///b"] };

function whole(view: View, kind: "tool" | "resource"): unknown[] {
  const list = view.list(kind);
  return JSON.parse(`[${list.slice(0, list.count)}]`);
}

describe("underscore naming", () => {
  test("shows and finds tools and prompts of every view under names without dots", () => {
    const catalog = new TestCatalog([files, memory], {
      naming: "underscore",
      catalogs: [planned({ include: ["files.*"] })],
    });
    expect(listed(catalog.view(), "tool")).toEqual(["files__read_file", "files__write_file", "memory__read_all"]);
    expect(listed(catalog.view("ops"), "prompt")).toEqual(["files__summarise"]);
    expect(catalog.view().resolve("tool", "memory__read_all")?.target).toMatchObject({
      provider: "memory",
      name: "read_all",
    });
    expect(catalog.view().resolve("tool", "files.read_file")).toBeUndefined();
  });

  test("tells two names apart that fall together, whichever server comes first", () => {
    const clear: TestServer = { id: "a", tools: ["b__c"] };
    const unclear: TestServer = { id: "a__b", tools: ["c"] };
    const marked = underscoreName("a__b", joinName("a__b", "c"));
    for (const servers of [[clear, unclear], [unclear, clear], [unclear]]) {
      const view = new TestCatalog(servers, { naming: "underscore" }).view();
      expect(view.resolve("tool", marked)?.target.provider).toBe("a__b");
      expect(view.resolve("tool", "a__b__c")?.target.provider).toBe(servers.includes(clear) ? "a" : undefined);
    }
  });
});

describe("a server", () => {
  test("that gets another prefix is shown under that at once", () => {
    const catalog = new TestCatalog([files, memory]);
    const before = listed(catalog.view(), "tool");
    catalog.replace({ id: "memory", prefix: "mind" });
    expect(listed(catalog.view(), "tool")).toEqual(before.map((name) => name.replace("memory.", "mind.")));
    expect(listed(catalog.view(), "resource")).toContain("mind+file:///a");
  });

  test("alone keeps a name that needs no change, whichever of its tools comes first", () => {
    for (const tools of [
      ["a.b", "a__b"],
      ["a__b", "a.b"],
    ]) {
      const view = new TestCatalog([{ id: "one", tools }], { naming: "underscore" }).view("one");
      expect(view.resolve("tool", "a__b")?.target.name).toBe("a__b");
      expect(listed(view, "tool").filter((name) => /^a__b_[0-9a-f]{8}$/.test(name)).length).toBe(1);
    }
  });
});

describe("a server without a prefix", () => {
  test("keeps its names and URIs; what another has under the same ones is shown otherwise", () => {
    const view = new TestCatalog([files, bare]).view();
    expect(view.resolve("tool", "files.read_file")?.target.provider).toBe("bare");
    const [moved = ""] = listed(view, "tool");
    expect(moved).toMatch(/^files\.read_file_[0-9a-f]{8}$/);
    expect(view.resolve("tool", moved)?.target).toMatchObject({ provider: "files", name: "read_file" });
    expect(listed(view, "resource")).toEqual(["file:///a", "files+file:///b", "file:///b"]);
    expect(view.resolve("resource", "file:///b")?.target.provider).toBe("bare");
  });
});

describe("an equal URI of a later server", () => {
  const view = new TestCatalog([files, memory]).view();

  test("is shown under the server's segment, with nothing else of the entry changed", () => {
    expect(listed(view, "resource")).toEqual(["file:///a", "file:///b", "memory+file:///a"]);
    expect(whole(view, "resource")[2]).toEqual({ uri: "memory+file:///a", x: 1 });
    expect(view.list("resource").slice(2, 3)).toBe('{"uri":"memory+file:///a","x":1.0}');
    expect(listed(view, "template")).toEqual(["file:///{+path}", "memory+file:///{+path}"]);
  });

  test("leads to that server under its own URI", () => {
    expect(view.resolve("resource", "file:///a")?.target).toMatchObject({ provider: "files", name: "file:///a" });
    const entry = view.resolve("resource", "memory+file:///a");
    expect(entry?.name).toBe("memory+file:///a");
    expect(entry?.target).toEqual({ provider: "memory", kind: "resource", name: "file:///a" });
    expect(view.resolve("template", "memory+file:///{+path}")?.target.name).toBe("file:///{+path}");
  });

  test("may come from a template: with the segment it is the later server's, without it the first one's", () => {
    expect(view.resolve("resource", "file:///z")?.target.provider).toBe("files");
    expect(view.resolve("resource", "memory+file:///z")?.target).toMatchObject({
      provider: "memory",
      name: "file:///z",
    });
    expect(view.resolve("resource", "other+file:///z")).toBeUndefined();
  });

  test("is known to every entry of that server, and to none of a server that has no such URI", () => {
    expect(view.resolve("tool", "files.read_file")?.uris).toBeUndefined();
    for (const entry of [view.resolve("tool", "memory.read_all"), view.raw("memory", "tasks/result")]) {
      expect(entry?.uris?.prefix).toBe("memory+");
      expect([entry?.uris?.has("file:///a"), entry?.uris?.has("file:///z"), entry?.uris?.has("x://1")]).toEqual([
        true,
        true,
        false,
      ]);
    }
  });

  test("does not change one that only this server lists, though it fits a mapped template", () => {
    const both = new TestCatalog([files, { ...memory, resources: ["file:///mine"] }]).view();
    expect(listed(both, "resource")).toContain("file:///mine");
    expect(both.resolve("tool", "memory.read_all")?.uris?.has("file:///mine")).toBe(false);
    expect(both.resolve("resource", "file:///mine")?.target.provider).toBe("memory");
  });

  test("is nobody's concern where the server is alone", () => {
    const catalog = new TestCatalog([files, memory]);
    expect(listed(catalog.view("memory"), "resource")).toEqual(["file:///a"]);
    expect(catalog.view("memory").resolve("tool", "read_all")?.uris).toBeUndefined();
  });

  test("cannot be taken by a server that lists what looks like it", () => {
    const thief: TestServer = { id: "thief", resources: ["memory+file:///a"], templates: [] };
    const both = new TestCatalog([thief, files, memory]).view();
    expect(both.resolve("resource", "memory+file:///a")?.target.provider).toBe("memory");
    expect(listed(both, "resource")[0]).toBe("thief+memory+file:///a");
  });

  test("cannot be taken by what looks like one of any of its server's templates, and none is held against what is listed", () => {
    const templates = Array.from({ length: 200 }, (_, at) => `t${at}:{+x}`);
    const last: TestServer = { id: "last", resources: [], templates };
    const listedBy = Array.from({ length: 200 }, (_, at) => `last+t${at}:x`);
    const matches = vi.spyOn(UriTemplate.prototype, "matches");
    const both = new TestCatalog([{ id: "thief", resources: listedBy, templates: [] }, last]).view();
    expect(listed(both, "resource")).toEqual(listedBy.map((uri) => `thief+${uri}`));
    expect(matches).not.toHaveBeenCalled();
    matches.mockRestore();
    expect(both.resolve("resource", "thief+last+t199:x")?.target).toMatchObject({
      provider: "thief",
      name: "last+t199:x",
    });
  });

  test("changes the lists of tools too when it comes or goes", () => {
    const catalog = new TestCatalog([files, { ...memory, resources: [], templates: [] }]);
    catalog.offer({ id: "memory", resources: ["file:///zz"] });
    expect(catalog.changes.at(-1)?.kinds).toEqual(["resource"]);
    catalog.offer({ id: "memory", resources: ["file:///a"] });
    expect(catalog.changes.at(-1)?.kinds).toEqual(["resource", "tool"]);
  });
});

describe("a named catalog", () => {
  const some = (plan: Parameters<typeof planned>[0]) => new TestCatalog([files, memory], { catalogs: [planned(plan)] });

  test.each([
    [{ include: ["files.*"] }, ["files.read_file", "files.write_file"]],
    [{ include: ["*.read_*"] }, ["files.read_file", "memory.read_all"]],
    [{ exclude: ["*.write_*", "memory.*"] }, ["files.read_file"]],
    [{ include: ["memory.read_all", "files.write_file"] }, ["files.write_file", "memory.read_all"]],
    [{ include: [] }, []],
  ])("with %j has %j, in file order", (plan, names) => {
    const view = some(plan).view("ops");
    expect(listed(view, "tool")).toEqual(names);
    for (const name of ["files.read_file", "files.write_file", "memory.read_all"]) {
      expect(view.resolve("tool", name) !== undefined).toBe(names.includes(name));
    }
  });

  test("says that it shows a part, and what the operator says of it", () => {
    const catalog = some({ include: ["files.*"], instructions: "Only files." });
    expect(catalog.view("ops")).toMatchObject({ isPartial: true, instructions: "Only files." });
    expect(catalog.view("ops").providers.map(({ id }) => id)).toEqual(["files"]);
    expect(catalog.view()).toMatchObject({ isPartial: false, instructions: undefined });
    expect([catalog.catalog.has("ops"), catalog.catalog.has("none")]).toEqual([true, false]);
  });

  test("has the resources of every server it names, and none of others", () => {
    const view = some({ include: ["files.read_file"] }).view("ops");
    expect(listed(view, "resource")).toEqual(["file:///a", "file:///b"]);
    const later = some({ include: ["memory.*"] }).view("ops");
    expect(listed(later, "resource")).toEqual(["file:///a"]);
    expect(later.resolve("resource", "file:///b")?.target.provider).toBe("memory");
    expect(later.raw("files", "tasks/get")).toBeUndefined();
  });

  test("has no resources at all when it is told so", () => {
    const view = some({ resources: false }).view("ops");
    expect([...listed(view, "resource"), ...listed(view, "template")]).toEqual([]);
    for (const uri of ["file:///a", "file:///z", "memory+file:///a"])
      expect(view.resolve("resource", uri)).toBeUndefined();
    expect(view.resolve("template", "file:///{+path}")).toBeUndefined();
    expect(view.resolve("tool", "memory.read_all")?.uris).toBeUndefined();
  });

  test("calls things what the operator calls them, and describes them so", () => {
    const view = some({
      rename: { "files.read_file": "read", "memory.read_all": "files.read_file" },
      descriptions: { "files.read_file": "Reads “a” file." },
    }).view("ops");
    expect(listed(view, "tool")).toEqual(["read", "files.write_file", "files.read_file"]);
    expect(view.resolve("tool", "read")?.target).toMatchObject({ provider: "files", name: "read_file" });
    expect(view.resolve("tool", "files.read_file")?.target).toMatchObject({ provider: "memory", name: "read_all" });
    const [first] = JSON.parse(Buffer.from(`[${view.list("tool").slice(0, 1)}]`, "latin1").toString());
    expect(first).toEqual({ name: "read", x: 1, description: "Reads “a” file." });
  });

  test("leaves a name with whoever has it by itself, and says once that it could not be given", () => {
    const catalog = some({ rename: { "memory.read_all": "files.write_file" } });
    expect(listed(catalog.view("ops"), "tool")).toEqual(["files.read_file", "files.write_file", "memory.read_all"]);
    expect(catalog.view("ops").resolve("tool", "files.write_file")?.target.provider).toBe("files");
    catalog.offer({ ...files, tools: ["write_file"] });
    listed(catalog.view("ops"), "tool");
    expect(catalog.taken).toEqual([{ catalog: "ops", target: "memory.read_all", name: "files.write_file" }]);
  });

  test("keeps its list the same object while only what it does not show changes", () => {
    const catalog = some({ include: ["files.read_file"] });
    const before = catalog.view("ops").list("tool");
    catalog.offer({ ...files, tools: ["read_file", "write_file", "delete_file"] });
    catalog.offer({ ...memory, tools: [] });
    expect(catalog.view("ops").list("tool")).toBe(before);
    catalog.offer({ ...files, tools: ["write_file"] });
    expect(catalog.view("ops").list("tool")).not.toBe(before);
    expect(listed(catalog.view("ops"), "tool")).toEqual([]);
  });

  test("comes and goes while the gateway runs; whoever is still in one that is gone sees nothing", () => {
    const catalog = some({ include: ["files.*"] });
    const { length } = catalog.changes;
    catalog.catalog.arrange({ naming: "dotted", catalogs: [planned({ include: ["files.*"] })] });
    expect(catalog.changes.length).toBe(length);
    catalog.catalog.arrange({ naming: "underscore", catalogs: [] });
    expect(catalog.changes.slice(length).map(({ provider }) => provider)).toEqual(["files", "memory"]);
    expect(catalog.catalog.has("ops")).toBe(false);
    expect(listed(catalog.view("ops"), "tool")).toEqual([]);
    expect(listed(catalog.view(), "tool")).toContain("files__read_file");
  });
});
