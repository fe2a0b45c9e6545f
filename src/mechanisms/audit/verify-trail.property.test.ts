import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AuditBlock, AuditHead } from "../../contract/index.ts";
import { entryOf, headOf, makeBlock } from "./block.ts";
import { ALTERATIONS, isLocated, keys, line, makeTrail, signer, sizes, stranger } from "./fixtures/altered-trail.ts";
import { HOLE } from "./short-lines.ts";
import { keyringOf } from "./signing.ts";
import { exportLines, MAX_LINE, trailLines, verifyLines, verifyRows } from "./verify-trail.ts";

describe("a trail", () => {
  test("is intact as it was written, in the store and as an export", async () => {
    await fc.assert(
      fc.asyncProperty(sizes, async (chosen) => {
        const kept = makeTrail(chosen);
        const report = await verifyRows(kept.rows, { keys });
        expect(report).toMatchObject({ isIntact: true, problems: [], uncovered: 0, blocks: chosen.length });
        const wanted = chosen.flatMap((size, index) => Array.from({ length: size }, (_, at) => line(`${index}-${at}`)));
        expect(kept.lines).toEqual(wanted);
        expect(report.events).toBe(chosen.reduce((sum, size) => sum + size, 0));
        expect(await verifyLines(exportLines(kept.rows, keys), keys)).toMatchObject({ isIntact: true, problems: [] });
      }),
      { numRuns: 20 },
    );
  });

  test.each(ALTERATIONS)("tells that, and where: %s [MG-125]", async (_name, alter) => {
    let made = 0;
    await fc.assert(
      fc.asyncProperty(sizes, fc.infiniteStream(fc.nat()), async (chosen, chance) => {
        const kept = makeTrail(chosen);
        const pick = (count: number) => (chance.next().value as number) % count;
        const place = alter(kept, pick);
        if (!place) return;
        made++;
        for (const report of [
          await verifyRows(kept.rows, { keys }),
          await verifyLines(exportLines(kept.rows, keys), keys),
        ]) {
          expect(report.isIntact).toBe(false);
          expect(report.problems.filter((problem) => isLocated(place, problem))).not.toEqual([]);
          expect(report.problems.every(({ text }) => text.length > 0)).toBe(true);
        }
      }),
      { numRuns: 40 },
    );
    expect(made).toBeGreaterThan(0);
  });

  test("whose checkpoints stand behind the blocks they have seen is not intact", async () => {
    const kept = makeTrail([1, 1, 1]);
    const lines: string[] = [];
    for await (const one of exportLines(kept.rows, keys)) lines.push(one);
    const isCheckpoint = (text: string) => text.includes('"kind":"checkpoint"');
    const [header = "", ...rest] = lines.slice(0, -1).filter((text) => !isCheckpoint(text));
    async function* moved() {
      yield* [header, ...rest, ...lines.filter(isCheckpoint), lines.at(-1) as string];
    }
    const { problems } = await verifyLines(moved(), keys);
    expect(problems[0]).toMatchObject({ what: "moved", checkpoint: 1 });
  });

  test("names the very event where its block still has its marks", async () => {
    const kept = makeTrail([3, 3, 3]);
    const block = kept.blocks[1] as AuditBlock;
    const alter = async (from: string, to: string) => {
      kept.blocks[1] = { ...block, lines: block.lines.replace(from, to) };
      return (await verifyRows(kept.rows, { keys })).problems;
    };
    const place = { what: "altered", writer: block.writer, block: 0 };
    const said = `block 0 of chain ${block.writer} was altered:`;
    expect(await alter('"tool_name":"1-0"', '"tool_name":"1-9"')).toEqual([
      { ...place, event: 0, text: `${said} event 0 is not what was recorded` },
    ]);
    expect(await alter('0.0\t"1-2"', '0.0\t"1-9"')).toEqual([
      { ...place, event: 2, text: `${said} event 2 is not what was recorded` },
    ]);
    expect(await alter(`"tool_name":${HOLE}`, '"tool_name":"1-9"')).toEqual([
      { ...place, event: 1, text: `${said} event 1, and those like it, are not what was recorded` },
    ]);
  });

  test("does not notice that its end is gone where no checkpoint has seen it, and says how much that could be", async () => {
    const kept = makeTrail([1, 1, 1]);
    const head = kept.heads[0] as AuditHead;
    const { block } = makeBlock(head, [entryOf(line("late"))], { signer, fromSpool: true });
    const whole = kept.blocks;
    kept.blocks = [...whole, block];
    kept.heads[0] = headOf(block);
    expect(await verifyRows(kept.rows, { keys })).toMatchObject({ isIntact: true, uncovered: 1 });
    kept.blocks = whole;
    kept.heads[0] = head;
    expect(await verifyRows(kept.rows, { keys })).toMatchObject({ isIntact: true, uncovered: 0 });
  });

  test("of another key is not believed, whatever the file says about its own", async () => {
    const kept = makeTrail([2, 2]);
    const others = [stranger.publicKey];
    const report = await verifyLines(exportLines(kept.rows, keys), others);
    expect(report).toMatchObject({ isIntact: false, keysFrom: "given" });
    expect(report.problems[0]).toMatchObject({ what: "signature" });
    expect(keyringOf(keys).has(signer.keyId)).toBe(true);
  });

  test("whose file was cut off, or has lines of others, says so", async () => {
    const { lines, verified } = await exported();
    expect((await verified(lines.slice(0, -1))).problems.at(-1)?.text).toMatch(/cut off/);
    const strange = [...lines.slice(0, 2), "{}", ...lines.slice(2)];
    expect((await verified(strange)).problems).toMatchObject([{ text: "line 3: is no line of an exported trail" }]);
    expect((await verified([])).isIntact).toBe(false);
    expect((await verified(["", "null", '{"kind":"block"}'])).isIntact).toBe(false);
  });

  test.each<readonly [string, (line: string) => string]>([
    ["a second member before the true one", (line) => `{"lines":"[]",${line.slice(1)}`],
    ["a second member behind the true one", (line) => `${line.slice(0, -1)},"lines":"[]"}`],
    ["a second member in another spelling", (line) => `{"\\u006cines":"[]",${line.slice(1)}`],
    ["a member that no block has", (line) => `{"event":{"tool_name":"wire_all_money"},${line.slice(1)}`],
    ["a member with the name of the prototype", (line) => `{"__proto__":{"lines":"[]"},${line.slice(1)}`],
  ])("is not intact with %s: other readers would believe that one", async (_name, forge) => {
    const { lines, verified } = await exported();
    const at = lines.findIndex((text) => text.includes('"kind":"block"'));
    const { problems, isIntact } = await verified(lines.with(at, forge(lines[at] as string)));
    expect(isIntact).toBe(false);
    expect(problems).toContainEqual({
      what: "altered",
      text: `line ${at + 1}: is no line of an exported trail`,
    });
  });

  test.each(["trail", "end", "head", "checkpoint"])(
    "takes no more in a line of the kind %s than belongs there",
    async (kind) => {
      const { lines, verified } = await exported();
      const at = lines.findIndex((text) => text.includes(`"kind":"${kind}"`));
      const line = lines[at] as string;
      for (const forged of [`{"also":1,${line.slice(1)}`, `{"kind":"later",${line.slice(1)}`])
        expect((await verified(lines.with(at, forged))).isIntact).toBe(false);
    },
  );

  test("with a line longer than any of an export says so, and is read no further", async () => {
    const { lines } = await exported();
    let isRead = false;
    async function* long() {
      yield `${lines[0]}\n`;
      for (let size = 0; size <= MAX_LINE; size += 1024 * 1024) yield "x".repeat(1024 * 1024);
      isRead = true;
    }
    const { problems, isIntact } = await verifyLines(trailLines(long()), keys);
    expect([isIntact, isRead]).toEqual([false, false]);
    expect(problems[0]).toEqual({ what: "altered", text: "line 2: is longer than any line of an exported trail" });
  });
});

async function exported() {
  const lines: string[] = [];
  for await (const one of exportLines(makeTrail([2, 2]).rows, keys)) lines.push(one);
  async function* each(given: readonly string[]) {
    yield* given;
  }
  return { lines, verified: (given: readonly string[]) => verifyLines(each(given), keys) };
}
