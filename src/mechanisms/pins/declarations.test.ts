/** What the gate goes by is pinned, too. Prints that were made before it was are taken over without a word. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pinRig } from "../../../tests/kit/pin-rig.ts";

let file = "";
beforeEach(() => {
  file = join(mkdtempSync(join(tmpdir(), "isthmus-pins-")), "state", "pins.json");
});
afterEach(() => {
  rmSync(dirname(dirname(file)), { recursive: true });
});

const bare = { name: "wipe", description: "Wipes the disk.", inputSchema: { type: "object" } };
const declared = { ...bare, _meta: { "x-mcpax-capability": { mutable: true, reversible: false } } };
const CAPABILITY = "_meta.x-mcpax-capability";
const MGP = "_meta.dev.cloto/mgp";

describe("a declaration that the gate goes by", () => {
  const confirmation = { confirmation_required: true };
  test.each([
    [CAPABILITY, declared, bare],
    [CAPABILITY, declared, { ...bare, _meta: { "x-mcpax-capability": { mutable: true, reversible: true } } }],
    [CAPABILITY, bare, { ...bare, _meta: { "x-mcpax-capability": { mutable: false } } }],
    [CAPABILITY, declared, { ...bare, _meta: 7 }],
    [MGP, { ...bare, _meta: { "dev.cloto/mgp": { security: confirmation } } }, { ...bare, _meta: {} }],
    [MGP, { ...bare, _meta: { "dev.cloto/mgp": confirmation } }, { ...bare, _meta: { "dev.cloto/mgp": {} } }],
    ["security", { ...bare, security: confirmation }, bare],
    ["confirmation_required", { ...bare, ...confirmation }, { ...bare, confirmation_required: false }],
    ["annotations", { ...bare, annotations: { destructiveHint: true } }, { ...bare, annotations: {} }],
  ])("is pinned: %s of %j that becomes %j is held back", (what, before, after) => {
    const { list } = pinRig({ mode: "block" });
    list([before]);
    expect(list([after])).toMatchObject({ wipe: { status: "held", what: [what] } });
    expect(list([before])).toEqual({});
  });

  test.each([
    '"_meta":{"a":1,"a":2}',
    '"execution":{"a":1,"a":2}',
    '"_meta":{"x-mcpax-capability":1,"x-mcpax-capability":2}',
  ])("is pinned where it counts as the worst, because %s can be read in two ways", (member) => {
    const { list } = pinRig({ mode: "block" });
    list([`${JSON.stringify(bare).slice(0, -1)},${member}}`]);
    expect(list([bare])).toMatchObject({ wipe: { status: "held", what: ["repeated keys"] } });
  });

  test("may be spelled otherwise, and other members of `_meta` may change", () => {
    const { list } = pinRig({ mode: "block" });
    list([declared]);
    const spelled = JSON.stringify({ ...declared, _meta: { seen: 7, ...declared._meta } });
    expect(list([spelled.replace("x-mcpax", "x\\u002dmcpax").replace("mutable", "\\u006dutable")])).toEqual({});
  });

  test("does not make another tool of a copy under another name", () => {
    const { list } = pinRig({ mode: "block" });
    list([declared]);
    expect(list([declared, { ...bare, name: "wipe2" }])).toMatchObject({ wipe2: { what: ["name"], was: "wipe" } });
  });
});

describe("a book that was written before declarations were pinned", () => {
  /** As it was written then: digests of the members that counted, and nothing about the rule by which they were made. */
  function writeFormer() {
    const parts = {
      description: "3rxUP-gFrHYFV8zgF8qoXYjGWH9waRuIY7oWRepSqcE",
      inputSchema: "oseZJio848Ge9c3Zg789ErQ6s8QmInCRuQnctwVHOMA",
    };
    const prints = [{ digest: "OemafWsqmYOqiUOTeqyILmTWWuyqKrUntr_wPPJymv0", parts }];
    const pin = { server: "files", kind: "tool", name: "wipe", since: "2026-01-01T00:00:00.000Z", prints };
    mkdirSync(dirname(file), { mode: 0o700 });
    writeFileSync(file, JSON.stringify({ version: 1, pins: [pin] }));
  }

  test.each([
    [declared, bare],
    [bare, declared],
  ])("is taken over with %j as it is declared then; %j is a change after that", async (first, second) => {
    writeFormer();
    const upgraded = pinRig({ file, mode: "block" });
    expect(upgraded.list([first])).toEqual({});
    await upgraded.pins.close();
    expect(upgraded.warnings()).toEqual([]);
    for (const { list, pins } of [upgraded, pinRig({ file, mode: "block" })]) {
      expect(list([second])).toMatchObject({ wipe: { status: "held", what: [CAPABILITY] } });
      expect(list([first])).toEqual({});
      await pins.close();
    }
  });

  test("still tells of what has changed otherwise", () => {
    writeFormer();
    const { list } = pinRig({ file, mode: "block" });
    expect(list([{ ...declared, description: "x" }])).toMatchObject({
      wipe: { status: "held", what: ["description", CAPABILITY] },
    });
  });
});
