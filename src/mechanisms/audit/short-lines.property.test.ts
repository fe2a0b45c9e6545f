import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BETWEEN, GAP, HOLE, isShared, type ShortLine, ShortLines, wholeLine, wholeLines } from "./short-lines.ts";
import { Spool } from "./spool.ts";

/** Any JSON that callers can put into an event: it never has a control character in it. */
const value = fc.oneof(fc.constantFrom('"ann"', '"bob"', "7"), fc.json({ maxDepth: 1 }));
const template = fc.constantFrom(
  `{"a":${HOLE},"b":${HOLE}}`,
  `{"target":"=","a":${HOLE},"b":${HOLE},"c":"\\t1"}`,
  `{"b":${HOLE},"a":${HOLE}}`,
  `{"b":${HOLE},"caller":${GAP},"a":${HOLE},${GAP}}`,
);
const filler = fc.tuple(value, value).map(([actor, tenant]) => `${actor}${HOLE}"tenant":${tenant}`);
const short = fc
  .record({ line: fc.tuple(value, value).map((two) => two.join(BETWEEN)), template, filler })
  .map((one) => ({
    ...one,
    filler: one.template.includes(GAP) ? one.filler : undefined,
  }));
const whole = value.map((inner): ShortLine => ({ line: `{"whole":${inner}}` }));
const events = fc.array(fc.oneof(short, whole), { minLength: 1, maxLength: 30 });

describe("a text of short lines", () => {
  test("gives every event back as it is when it is written whole", () => {
    fc.assert(
      fc.property(events, (all) => {
        const writer = new ShortLines();
        const lines: string[] = [];
        for (const one of all) writer.push(one, lines);
        expect(wholeLines(lines.join("\n"))).toEqual(all.map(wholeLine));
        for (const line of all.map(wholeLine)) expect(() => JSON.parse(line)).not.toThrow();
        expect(lines.filter((line) => !isShared(line))).toHaveLength(all.length);
        expect(new Set(lines.filter(isShared)).size).toBe(lines.filter(isShared).length);
      }),
      { numRuns: 500 },
    );
  });

  test("gives only those that have every word that is looked for, in their places", () => {
    fc.assert(
      fc.property(
        events,
        fc.array(fc.constantFrom("ann", "bob", "tenant", "whole"), { maxLength: 2 }),
        (all, words) => {
          const writer = new ShortLines();
          const lines: string[] = [];
          for (const one of all) writer.push(one, lines);
          const found = wholeLines(
            lines.join("\n"),
            words.map((word) => JSON.stringify(word)),
          );
          for (const [index, one] of all.entries()) {
            const isMeant = words.every((word) => wholeLine(one).includes(JSON.stringify(word)));
            expect(found[index]).toBe(isMeant ? wholeLine(one) : "");
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test("leaves a line as it is that names no template, or has too few values", () => {
    const strange = [`3.0${BETWEEN}1`, "0.0", `0.0${BETWEEN}1${BETWEEN}2`, "nothing", "__proto__.0"];
    const text = [`={"a":${HOLE}}`, "+", ...strange, `0.0${BETWEEN}5`].join("\n");
    expect(wholeLines(text)).toEqual([...strange, '{"a":5}']);
  });
});

describe("a spool", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "isthmus-spool-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const read = () =>
    readdirSync(folder).flatMap((name) => wholeLines(readFileSync(join(folder, name), "utf8").slice(0, -1)));

  test("has every event of every write, and none of a write that failed", () => {
    const spool = new Spool(folder, "a_1_x");
    const first = { line: "1", template: `{"a":${HOLE}}` };
    const second = { line: "2", template: `{"b":${HOLE}}` };
    spool.append([first]);
    // A value that cannot become text stands for a disk that takes nothing.
    const broken = {
      ...second,
      get line(): string {
        throw new Error("no room");
      },
    };
    expect(() => spool.append([second, broken])).toThrow("no room");
    spool.append([second, first]);
    expect(read()).toEqual(['{"a":1}', '{"b":2}', '{"a":1}']);
    spool.close(true);
    expect(readdirSync(folder)).toEqual([]);
  });
});
