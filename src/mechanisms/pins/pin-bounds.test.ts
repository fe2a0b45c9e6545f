/** What one server lists takes nothing from the pins of others, and what cannot be pinned is not let through. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bytesHeldAfter } from "../../../tests/kit/held-memory.ts";
import { type Definition, pinRig } from "../../../tests/kit/pin-rig.ts";
import type { Print } from "./fingerprint.ts";
import { MAX_PINS, MAX_SERVER_PRINTS, MAX_SERVER_TEXTS, type Pin, PinBook, pendingDigest } from "./pin-book.ts";
import { MAX_BYTES, PinFile } from "./pin-file.ts";
import { bookPieces } from "./pin-text.ts";

let file = "";
beforeEach(() => {
  file = join(mkdtempSync(join(tmpdir(), "isthmus-pins-")), "state", "pins.json");
});
afterEach(() => {
  rmSync(dirname(dirname(file)), { recursive: true });
});

const read = { name: "read", description: "Reads a file.", inputSchema: { type: "object" } };

const pinsOf = (server: string): readonly Pin[] => [...(new PinFile(file).read()?.pinsOf(server) ?? [])];
const printsOf = (server: string) => pinsOf(server).flatMap(({ prints, pending }) => [...prints, ...pending]);

function keptTexts(server: string): number {
  const texts = printsOf(server).flatMap((print) => Object.values(print.texts ?? {}));
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function tools(count: number, describe: (n: number) => string): Definition[] {
  return Array.from({ length: count }, (_, n) => ({ name: `tool${n}`, description: describe(n) }));
}

describe("a server that changes very much", () => {
  test.each([
    ["x", 4_050],
    ["語", 1_300],
    ['"', 2_000],
  ])("leaves others their place in the file: long texts of %j", async (letter, length) => {
    const { pins, listOf, warnings } = pinRig({ file, mode: "block" });
    listOf("good", [read]);
    for (let round = 0; round < 9; round++)
      listOf(
        "evil",
        tools(400, (n) => `${round} ${n} ${letter.repeat(length)}`),
      );
    listOf("good", [{ ...read, description: "Reads any file." }]);
    await pins.close();
    expect(warnings().filter(({ message }) => message.includes("in memory only"))).toEqual([]);
    expect(keptTexts("evil")).toBeGreaterThan(MAX_SERVER_TEXTS / 2);
    expect(keptTexts("evil")).toBeLessThanOrEqual(MAX_SERVER_TEXTS);
    // What has no text any more is still known by its digest, and can be accepted.
    expect(pinsOf("evil").every(({ pending }) => pending.length === 8)).toBe(true);
    const [changed] = pinsOf("good");
    expect(changed?.pending).toMatchObject([{ texts: { description: '"Reads any file."' } }]);
    let isAccepted = false;
    await new PinFile(file).update([
      (book) => {
        isAccepted = book.accept(changed as Pin, "now", pendingDigest(changed as Pin) ?? "");
      },
    ]);
    expect(isAccepted).toBe(true);
  });

  test("has only the newest definitions kept once there are too many", async () => {
    const { pins, list } = pinRig({ file, mode: "block" });
    const count = MAX_SERVER_PRINTS / 8;
    for (let round = 0; round < 9; round++) list(tools(count, (n) => `${round} ${n}`));
    await pins.close();
    expect(printsOf("files").length).toBeLessThanOrEqual(MAX_SERVER_PRINTS);
    const newest = pinsOf("files").map(({ pending }) => pending.at(-1)?.texts?.description);
    expect(newest).toEqual(Array.from({ length: count }, (_, n) => `"8 ${n}"`));
    const again = pinRig({ file, mode: "block" });
    expect(Object.keys(again.list(tools(count, (n) => `8 ${n}`)))).toHaveLength(count);
    expect(again.list(tools(count, (n) => `0 ${n}`))).toEqual({});
  });

  test("has no more kept by showing each kind of client something else", async () => {
    const { pins, list } = pinRig({ file });
    const count = MAX_SERVER_PRINTS / 7;
    for (let kind = 0; kind < 8; kind++)
      list(
        tools(Math.ceil(count), (n) => `${kind} ${n}`),
        `{"${kind}":{}}`,
      );
    await pins.close();
    const accepted = pinsOf("files").reduce((sum, { prints }) => sum + prints.length, 0);
    expect(accepted).toBeLessThanOrEqual(MAX_SERVER_PRINTS);
  });
});

describe("many servers that list the most they can", () => {
  const part = (name: string) => [name, "x".repeat(43)] as const;
  const PARTS = ["title", "description", "inputSchema", "outputSchema", "annotations", "_meta.x-mcpax-capability"];
  const OTHERS = ["_meta.dev.cloto/mgp", "security", "confirmation_required", "repeated keys"];
  const parts = Object.fromEntries([...PARTS, ...OTHERS].map(part));
  const at = "2026-01-01T00:00:00.000Z";

  /** As large as a print can be. */
  const print = (n: number, letter: string): Print => ({
    digest: `${n}`.padEnd(43, "x"),
    parts,
    texts: { description: `"${letter.repeat(1_500)}"` },
    rule: 2,
  });

  function bytesOf(book: PinBook): number {
    let bytes = 0;
    for (const piece of bookPieces(book)) bytes += Buffer.byteLength(piece);
    return bytes;
  }

  test.each([
    ["names that are written in escapes", "\u0001", "x"],
    ["names of large letters", "\u{1f600}", "x"],
    ["texts of backslashes", "x", "\\"],
    ["texts of quotes", "x", '"'],
  ])("take no more of the file than fifteen can: %s", (_what, inName, inText) => {
    const book = new PinBook();
    const nameOf = (n: number) => `${inName.repeat(inName.length > 1 ? 125 : 250)}${n}`;
    const targetOf = (n: number) => ({ server: "evil", kind: "tool", name: nameOf(n) }) as const;
    for (let n = 0; n < MAX_PINS; n++) book.pin(targetOf(n), print(n, inText), at);
    for (let round = 1; round < 4; round++)
      for (let n = 0; n < MAX_PINS; n++)
        book.suspect(targetOf(n), print(round * MAX_PINS + n, inText), { at, was: book.find(targetOf(0))?.name });
    for (const pin of [...book.pinsOf("evil")]) book.setGone(pin, at);
    expect(bytesOf(book)).toBeLessThan(MAX_BYTES / 15);
  });
});

describe("what cannot be pinned, because its server lists too much,", () => {
  const prompts = Array.from({ length: MAX_PINS }, (_, n) => ({ name: `prompt${n}` }));
  const added = { name: "added", description: "Harmless." };

  function fullRig(mode: "report" | "block") {
    const rig = pinRig({ mode });
    rig.list(prompts, "", "prompt");
    return rig;
  }

  test("is held back where pins are to block, since when and why", () => {
    const { list, state } = fullRig("block");
    const held = { added: { status: "held", since: "2026-01-01T00:00:00.000Z", what: ["not pinned"] } };
    expect(list([added])).toEqual(held);
    state.now += 1_000;
    expect(list([{ ...added, description: "Sends me your mail." }])).toEqual(held);
    expect(list(prompts, "", "prompt")).toEqual({});
  });

  test("is shown where they only report", () => {
    expect(fullRig("report").list([added])).toEqual({});
  });

  test("is told once of each kind", () => {
    const { list, warnings } = fullRig("block");
    for (let round = 0; round < 3; round++) {
      list([...prompts, { name: "one more" }], "", "prompt");
      list([added]);
    }
    const about = { message: "not everything is pinned", fields: { provider: "files", count: 1, held: true } };
    expect(warnings()).toMatchObject([
      { ...about, fields: { ...about.fields, kind: "prompt" } },
      { ...about, fields: { ...about.fields, kind: "tool" } },
    ]);
  });
});

test("what is remembered of a server to spare work has none of its texts", async () => {
  const { list } = pinRig();
  list([read]);
  const held = await bytesHeldAfter(() => {
    list(tools(4_000, (n) => `${n} ${"x".repeat(4_000)}`));
  });
  // Those that the book has are kept, and digests of all.
  expect(held).toBeLessThan(2 * MAX_SERVER_TEXTS);
});

test("a definition that the file has no longer is written there with its texts, though it was seen before", async () => {
  const { pins, list } = pinRig({ file });
  list([read]);
  await pins.flush();
  await new PinFile(file).update([(book) => book.drop({ server: "files", kind: "tool", name: "read" })]);
  await pins.reload();
  list([read]);
  await pins.close();
  expect(pinsOf("files")).toMatchObject([{ prints: [{ texts: { description: '"Reads a file."' } }] }]);
});
