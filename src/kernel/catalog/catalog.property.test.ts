import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listed, TestCatalog, type TestServer } from "../../../tests/kit/test-catalog.ts";
import type { Naming } from "../../contract/index.ts";

// Few letters, so that names fall together often, and long ones, so that they are cut.
const segment = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "b", "_"), minLength: 1, maxLength: 4 }),
  fc.constantFrom("a".repeat(60), `${"a".repeat(60)}b`),
);
const own = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "b", "_", ".", "/", "é"), minLength: 1, maxLength: 5 }),
  fc.constantFrom("b".repeat(70), `${"b".repeat(70)}c`, `a__${"b".repeat(58)}`),
);
const uri = fc.oneof(
  fc.constantFrom("x://1", "x://2", "y://a/b", "x://{id}"),
  fc
    .tuple(fc.constantFrom("a", "b", "ab"), fc.constantFrom("x://1", "x://2", "a+x://1"))
    .map((parts) => parts.join("+")),
);
const template = fc.constantFrom("x://{id}", "y://{+path}", "y://a/{id}", "a+x://{id}");

function serversWith(offer: fc.Arbitrary<Partial<TestServer>>): fc.Arbitrary<TestServer[]> {
  const server = fc.tuple(segment, offer).map(([prefix, has]) => ({ prefix, ...has }));
  return fc
    .tuple(fc.uniqueArray(server, { minLength: 1, maxLength: 5, selector: ({ prefix }) => prefix }), fc.nat(8))
    .map(([servers, bare]) =>
      servers.map((one, place) => ({ ...one, id: `s${place}`, prefix: place === bare ? "" : one.prefix })),
    );
}

const named = serversWith(fc.record({ tools: fc.uniqueArray(own, { maxLength: 6 }), prompts: fc.uniqueArray(own) }));
const withUris = serversWith(
  fc.record({ resources: fc.uniqueArray(uri, { maxLength: 5 }), templates: fc.uniqueArray(template) }),
);
const naming = fc.constantFrom<Naming>("dotted", "underscore");

describe("names in a view, whatever servers offer", () => {
  test("are unique, and each leads to what it stands for", () => {
    fc.assert(
      fc.property(named, naming, (servers, style) => {
        const view = new TestCatalog(servers, { naming: style }).view();
        for (const kind of ["tool", "prompt"] as const) {
          const names = listed(view, kind);
          expect(new Set(names).size).toBe(names.length);
          const targets = names.map((name) => view.resolve(kind, name)?.target);
          const offered = servers.flatMap(({ id, tools = [], prompts = [] }) =>
            (kind === "tool" ? tools : prompts).map((name) => ({ provider: id, kind, name })),
          );
          expect(targets).toEqual(offered);
        }
      }),
    );
  });

  test("have at most 64 plain characters in underscore naming, except where a server's pass as they are", () => {
    fc.assert(
      fc.property(named, (servers) => {
        const view = new TestCatalog(servers, { naming: "underscore" }).view();
        const bare = servers.find(({ prefix }) => prefix === "");
        for (const name of listed(view, "tool")) {
          if (!bare?.tools?.includes(name)) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        }
        for (const name of bare?.tools ?? []) expect(view.resolve("tool", name)?.target).toMatchObject({ name });
      }),
    );
  });

  test("stay when a server is added", () => {
    fc.assert(
      fc.property(named, naming, (servers, style) => {
        const segmented = servers.filter(({ prefix }) => prefix !== "");
        const before = new TestCatalog(segmented.slice(0, -1), { naming: style }).view();
        const after = new TestCatalog([...segmented.slice(-1), ...segmented.slice(0, -1)], { naming: style }).view();
        const kept = listed(after, "tool").filter((name) => {
          return after.resolve("tool", name)?.target.provider !== segmented.at(-1)?.id;
        });
        expect(kept).toEqual(listed(before, "tool"));
      }),
    );
  });

  test("of one server alone are its own, without dots where they are not wanted", () => {
    fc.assert(
      fc.property(named, naming, (servers, style) => {
        const catalog = new TestCatalog(servers, { naming: style });
        for (const { id, prefix, tools = [] } of servers) {
          const names = listed(catalog.view(id), "tool");
          expect(names.map((name) => catalog.view(id).resolve("tool", name)?.target.name)).toEqual(tools);
          if (style === "dotted" || prefix === "") expect(names).toEqual(tools);
          else for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        }
      }),
    );
  });
});

describe("URIs in a view, whatever servers offer", () => {
  test("are unique, and each leads to its server under its own URI", () => {
    fc.assert(
      fc.property(withUris, (servers) => {
        const view = new TestCatalog(servers).view();
        for (const kind of ["resource", "template"] as const) {
          const shown = listed(view, kind);
          const offered = servers.flatMap(({ id, prefix, resources = [], templates = [] }) =>
            (kind === "resource" ? resources : templates).map((name) => ({ provider: id, name, prefix })),
          );
          for (const [place, { provider, name, prefix }] of offered.entries()) {
            expect([name, `${prefix}+${name}`, `${prefix}++${name}`]).toContain(shown[place]);
            if (prefix === "") expect(shown[place]).toBe(name);
            expect(view.resolve(kind, shown[place] ?? "")?.target).toMatchObject({ provider, name });
          }
          expect(new Set(shown).size).toBe(shown.length);
        }
      }),
    );
  });

  test("stay as they are for the first server that has them, and for one whose URIs pass as they are", () => {
    fc.assert(
      fc.property(withUris, (servers) => {
        const view = new TestCatalog(servers).view();
        const first = servers.find(({ prefix }) => prefix === "") ?? servers[0];
        const plain = (first?.resources ?? []).filter((one) => !/^[ab_]+\+/.test(one));
        for (const one of plain) expect(view.resolve("resource", one)?.target.provider).toBe(first?.id);
      }),
    );
  });

  test("stay when a server is added behind the others", () => {
    fc.assert(
      fc.property(withUris, (servers) => {
        const segmented = servers.filter(({ prefix }) => prefix !== "");
        const plain = segmented.map((one) => ({
          ...one,
          resources: one.resources?.filter((u) => !u.includes("+")) ?? [],
        }));
        const before = listed(new TestCatalog(plain.slice(0, -1)).view(), "resource");
        expect(listed(new TestCatalog(plain).view(), "resource").slice(0, before.length)).toEqual(before);
      }),
    );
  });
});
