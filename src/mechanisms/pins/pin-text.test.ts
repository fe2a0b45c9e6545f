import { describe, expect, test } from "vitest";
import { bookPieces, parseBook } from "./pin-text.ts";

const print = { digest: "d", parts: { description: "p" } };
const pin = { server: "files", kind: "tool", name: "read", since: "2026-01-01", prints: [print] };
const change = { ...print, since: "2026-01-02", what: ["description"], was: "write" };

const textOf = (...pins: readonly object[]) => JSON.stringify({ version: 1, pins });
const parse = (...pins: readonly object[]) => [...parseBook(textOf(...pins)).all()];

describe("parseBook", () => {
  test("reads what bookPieces writes", () => {
    const full = { ...pin, pending: [change], acceptedAt: "2026-01-03", goneAt: "2026-01-04" };
    const book = parseBook(textOf(pin, { ...full, kind: "prompt" }));
    expect([...parseBook([...bookPieces(book)].join("")).all()]).toEqual([
      { ...pin, pending: [] },
      { ...full, kind: "prompt" },
    ]);
  });

  test.each([0, 1, 199, 200, 201, 1_000])("reads a book of %d pins that was written in pieces", (count) => {
    const pins = Array.from({ length: count }, (_, index) => ({ ...pin, name: `tool ${index}`, pending: [] }));
    const pieces = [...bookPieces(parseBook(textOf(...pins)))];
    expect([...parseBook(pieces.join("")).all()]).toEqual(pins);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(200 * 200);
  });

  test("takes no notice of members that it does not know", () => {
    expect(parse({ ...pin, later: 1, prints: [{ ...print, later: 1 }] })).toEqual([{ ...pin, pending: [] }]);
  });

  test.each([
    ["null", "the whole: expected an object"],
    ["[]", "the whole: expected an object"],
    ['{"pins":[]}', "version: expected 1"],
    ['{"version":1,"pins":{}}', "pins: expected a list"],
    [textOf(pin, []), "pins.1: expected an object"],
    [textOf({ ...pin, server: 1 }), "pins.0.server: expected a string"],
    [textOf({ ...pin, name: "x".repeat(1025) }), "pins.0.name: expected at most 1024 characters"],
    [textOf({ ...pin, kind: "resource" }), 'pins.0.kind: expected "tool" or "prompt"'],
    [textOf({ ...pin, since: undefined }), "pins.0.since: expected a string"],
    [textOf({ ...pin, acceptedAt: null }), "pins.0.acceptedAt: expected a string"],
    [textOf({ ...pin, goneAt: "x".repeat(65) }), "pins.0.goneAt: expected at most 64 characters"],
    [textOf({ ...pin, prints: undefined }), "pins.0.prints: expected a list"],
    [textOf({ ...pin, prints: Array(9).fill(print) }), "pins.0.prints: expected at most 8"],
    [textOf({ ...pin, prints: [{ parts: {} }] }), "pins.0.prints.0.digest: expected a string"],
    [textOf({ ...pin, prints: [{ digest: "d" }] }), "pins.0.prints.0.parts: expected an object"],
    [textOf({ ...pin, prints: [{ digest: "d", parts: { a: 1 } }] }), "pins.0.prints.0.parts.a: expected a string"],
    [
      textOf({ ...pin, prints: [{ digest: "d", parts: { ["a".repeat(65)]: "" } }] }),
      "pins.0.prints.0.parts.key: expected at most 64 characters",
    ],
    [textOf({ ...pin, pending: null }), "pins.0.pending: expected a list"],
    [textOf({ ...pin, pending: [print] }), "pins.0.pending.0.since: expected a string"],
    [textOf({ ...pin, pending: [{ ...change, what: "x" }] }), "pins.0.pending.0.what: expected a list"],
    [textOf({ ...pin, pending: [{ ...change, what: [1] }] }), "pins.0.pending.0.what.0: expected a string"],
    [textOf({ ...pin, pending: [{ ...change, was: 1 }] }), "pins.0.pending.0.was: expected a string"],
  ])("refuses %s", (text, reason) => {
    expect(() => parseBook(text)).toThrow(`is no book of pins (${reason})`);
  });

  test("refuses what is no JSON", () => {
    expect(() => parseBook("{")).toThrow("is no JSON");
  });
});
