import { expect, test } from "vitest";
import { listingLines } from "./list.ts";

test("a server that starts is not among those that do not work", () => {
  const slow: [string, string, string] = ["slow", "starting", ""];
  const dead: [string, string, string] = ["dead", "unreachable", "refused"];
  const looked = { offers: [], held: [], words: new Map(), cut: [], nothingGranted: undefined };
  expect(listingLines({ ...looked, troubles: [slow] }, 80)).toEqual([
    "Nothing is offered.",
    "",
    "Still starting: slow.",
  ]);
  expect(listingLines({ ...looked, troubles: [slow, dead] }, 80)).toEqual([
    "Nothing is offered.",
    "",
    "Still starting: slow.",
    "",
    "Not working:",
    "  dead  unreachable  refused",
    "",
    '"isthmus doctor" says what to do about it.',
  ]);
});

test("a server of whose list a part is left out works, and the list says so", () => {
  const cut: [string, string] = ["big", "tools/list is cut short: raise maxEntries of the server"];
  const looked = { offers: [], held: [], words: new Map(), cut: [], nothingGranted: undefined };
  expect(listingLines({ ...looked, troubles: [], cut: [cut] }, 80)).toEqual([
    "Nothing is offered.",
    "",
    "Not whole:",
    "  big  tools/list is cut short: raise maxEntries of the server",
  ]);
});

test("what is wrong with a server is broken at the edge of the terminal, and never cut", () => {
  const message = `env.TOKEN: the environment variable ${"LONG_".repeat(12)}NAME is not set`;
  const looked = { offers: [], held: [], words: new Map([["dead", ["gone"]]]), cut: [], nothingGranted: undefined };
  const lines = listingLines({ ...looked, troubles: [["dead", "invalid", message]] }, 60);
  expect(lines.slice(3, -2)).toEqual([
    "  dead  invalid  env.TOKEN: the environment variable",
    `                 ${"LONG_".repeat(12)}NAME`,
    "                 is not set",
    "    it wrote: gone",
  ]);
});

test("what a pin holds back is counted, and the list says how to see what has changed", () => {
  const looked = { offers: [], troubles: [], words: new Map(), cut: [], nothingGranted: undefined };
  const line = (...held: string[]) => listingLines({ ...looked, held }, 80).at(-1);
  expect(line("hello.add")).toBe('1 tool is held back because it changed: "isthmus pin diff" shows how.');
  expect(line("hello.add", "b")).toBe('2 tools are held back because they changed: "isthmus pin diff" shows how.');
  expect(line()).toBe("Nothing is offered.");
});

test("resources have no column for a server, which they do not tell", () => {
  const rest = { server: undefined, title: undefined, entry: {} };
  const tool = { ...rest, kind: "tool", name: "a.b", server: "a", description: "Does it." } as const;
  const resource = { ...rest, kind: "resource", name: "note://1", description: "A note." } as const;
  const looked = { troubles: [], held: [], words: new Map(), cut: [], nothingGranted: undefined };
  expect(listingLines({ ...looked, offers: [resource] }, 80)).toEqual(["NAME      DESCRIPTION", "note://1  A note."]);
  expect(listingLines({ ...looked, offers: [tool] }, 80)[0]).toBe("NAME  SERVER  DESCRIPTION");
});
