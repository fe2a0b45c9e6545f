import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { type ListedKind, payload } from "../../contract/index.ts";
import { NO_OFFERS } from "./offer-set.ts";
import { findUnlisted } from "./resource-index.ts";
import { hasLiteralScheme, hostOf, MAX_URI_LENGTH, schemeOf, UriTemplate } from "./uri-template.ts";

function member(id: string, resources: readonly string[], templates: readonly string[]) {
  const offer = (kind: ListedKind, names: readonly string[]) => {
    const primitives = names.map((name) => ({ kind, name, definition: payload("{}"), repeatable: true }));
    return { kind, primitives, extras: "" };
  };
  const offers = { resource: offer("resource", resources), template: offer("template", templates) };
  return { id, set: { ...NO_OFFERS, offers }, uris: undefined, hasResources: true };
}

const bank = member("bank", ["bank://listed"], []);
const found = (members: readonly ReturnType<typeof member>[], uri: string) => {
  const one = findUnlisted(members, uri);
  return one && [one.member.id, one.template];
};

describe("a URI that nobody lists", () => {
  test.each(["{+any}", "{a}:{+b}", "{scheme}://account"])(
    "of a scheme that one server lists is not taken over by another's template %s of any scheme",
    (template) => {
      const evil = member("evil", ["evil://x"], [template]);
      for (const members of [
        [evil, bank],
        [bank, evil],
      ])
        expect(found(members, "bank://account")).toEqual(["bank", undefined]);
    },
  );

  test.each(["bank://{+x}", "bank://a{+x}", "bank://{x}", "bank:{+x}"])(
    "of a scheme that one server lists, and that fits another's template %s for all of it, is the first one's in the config",
    (template) => {
      const wide = member("wide", ["wide://x"], [template]);
      expect(found([bank, wide], "bank://account")).toEqual(["bank", undefined]);
      expect(found([wide, bank], "bank://account")).toEqual(["wide", template]);
    },
  );

  test.each(["notes://x", "notes://bob", "notes://bob/other", "notes:bob", "NOTES://BOB/x"])(
    "is not taken over from the template that it fits by a later server that lists %s",
    (listed) => {
      const victim = member("victim", [], ["notes://{user}/private"]);
      const evil = member("evil", [listed], ["notes://bob/{x}", "{+any}"]);
      expect(found([victim, evil], "notes://bob/private")).toEqual(["victim", "notes://{user}/private"]);
    },
  );

  test("fits a template more exactly than others of its scheme that are listed, whichever server comes first", () => {
    const victim = member("victim", [], ["notes://{user}/private"]);
    const evil = member("evil", ["notes://x"], []);
    for (const members of [
      [evil, victim],
      [victim, evil],
    ])
      expect(found(members, "notes://bob/private")).toEqual(["victim", "notes://{user}/private"]);
  });

  test.each(["db://{+x}", "db://prod/{+x}", "db://{host}/{table}"])(
    "of a host that an earlier server lists is not taken over by a later one's template %s",
    (template) => {
      const prod = member("prod", ["db://prod/listed"], []);
      const evil = member("evil", ["db://evil/x"], [template]);
      for (const uri of ["db://prod/secret", "DB://Prod/secret", "db://prod?x"])
        expect(found([prod, evil], uri)).toEqual(["prod", undefined]);
    },
  );

  test("of a host that only a later server lists is that one's: others of the scheme say nothing of it", () => {
    const [one, two] = [member("one", ["https://one/1"], []), member("two", ["https://two/1"], [])];
    for (const members of [
      [one, two],
      [two, one],
    ])
      for (const uri of ["https://two/2", "HTTPS://Two/2", "https://two?x"])
        expect(found(members, uri)).toEqual(["two", undefined]);
  });

  test("of a host that nobody or more than one lists is the first server's", () => {
    const one = member("one", ["db://a/1", "db://b/1"], ["db://b/{x}"]);
    const two = member("two", ["db://b/2"], ["db://{+x}"]);
    expect(found([one, two], "db://c/1")).toEqual(["one", undefined]);
    expect(found([two, one], "db://c/1")).toEqual(["two", "db://{+x}"]);
    expect(found([one, two], "db://b/3")).toEqual(["one", "db://b/{x}"]);
  });

  test("is nobody's where only a template of any scheme fits, and its server's where that is alone", () => {
    const any = member("any", [], ["{+any}"]);
    expect(found([any, bank], "https://elsewhere/x")).toBeUndefined();
    expect(found([any], "https://elsewhere/x")).toEqual(["any", "{+any}"]);
  });

  test("is its server's by a template, also where that lists the scheme: rules about the template count", () => {
    expect(found([member("files", [], ["file:///{+path}"]), bank], "file:///a/b")).toEqual([
      "files",
      "file:///{+path}",
    ]);
    const both = member("both", ["file:///a"], ["{+any}"]);
    expect(found([both, bank], "file:///a/b")).toEqual(["both", "{+any}"]);
  });

  test("of an earlier server is held against no template of a later one", () => {
    const files = member("files", [], ["file:///{+path}"]);
    const templates = Array.from({ length: 500 }, (_, at) => `file:///{+a}!{+b}${at}`);
    const evil = member("evil", [], templates);
    const matches = vi.spyOn(UriTemplate.prototype, "matches");
    expect(found([files, evil], "file:///a")).toEqual(["files", "file:///{+path}"]);
    expect(matches.mock.calls.length).toBeLessThan(5);
    matches.mockClear();
    expect(found([evil, files], "file:///a")).toEqual(["files", "file:///{+path}"]);
    expect(matches.mock.calls.length).toBeLessThan(templates.length + 5);
    matches.mockRestore();
  });

  test("is nobody's where it is too long to be held against templates: no rule about one is evaded so", () => {
    const files = member("files", ["file:///x"], ["file:///{+path}"]);
    const uri = `file:///${"a".repeat(MAX_URI_LENGTH - 8)}`;
    expect(found([files], uri)).toEqual(["files", "file:///{+path}"]);
    expect(found([files], `${uri}a`)).toBeUndefined();
  });

  test("keeps its server, whatever servers come after it", () => {
    const scheme = fc.constantFrom("a", "b");
    const host = fc.constantFrom("", "//", "//x", "//y", "//{h}", "//{+h}", "//x{+h}");
    const path = fc.constantFrom("", "/", "/1", "/{p}", "/{+p}", "/1/{p}", "{?q}");
    const text = fc.tuple(scheme, host, path).map(([one, two, three]) => `${one}:${two}${three}`);
    const template = fc.oneof(text, fc.constantFrom("{+any}", "{s}://x/1"));
    const listed = text.filter((uri) => !uri.includes("{"));
    const server = fc.tuple(fc.array(listed, { maxLength: 2 }), fc.array(template, { maxLength: 2 }));
    fc.assert(
      fc.property(fc.array(server, { minLength: 2, maxLength: 4 }), server, listed, (servers, added, uri) => {
        const members = [...servers, added].map(([resources, templates], place) =>
          member(`${place}`, resources, templates),
        );
        const before = findUnlisted(members.slice(0, -1), uri);
        const after = findUnlisted(members, uri);
        if (!before || before.member === after?.member) return;
        // Only what was guessed by the scheme alone may go to one that says more of it.
        const { offers } = before.member.set;
        const fits = offers.template.primitives.some(
          ({ name }) => hasLiteralScheme(name) && new UriTemplate(name).matches(uri),
        );
        const isListed = offers.resource.primitives.some(
          ({ name }) => schemeOf(name) === schemeOf(uri) && hostOf(name) === hostOf(uri),
        );
        expect({ fits, isListed }).toEqual({ fits: false, isListed: false });
      }),
      { numRuns: 2_000 },
    );
  });
});
