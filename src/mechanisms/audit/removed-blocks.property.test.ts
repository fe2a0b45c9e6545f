import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AuditBlock, AuditHead } from "../../contract/index.ts";
import { entryOf, hashOf, headOf, makeBlock } from "./block.ts";
import { makeCheckpoint } from "./checkpoints.ts";
import {
  type Alteration,
  AT,
  addCheckpoint,
  isLocated,
  keys,
  line,
  makeTrail,
  ON_BLOCKS,
  ON_CHECKPOINTS,
  replaceBlock,
  signer,
  sizes,
  stranger,
} from "./fixtures/altered-trail.ts";
import type { KeptTrail } from "./fixtures/kept-trail.ts";
import { exportLines, verifyLines, verifyRows } from "./verify-trail.ts";

/** What operators have removed, up to some block of the order in which all were written; then the gateway goes on. */
function removeOld(kept: KeptTrail, count: number): void {
  const old = kept.blocks.splice(0, count);
  const edges = new Map(old.map(({ writer, number, hash }) => [writer, { writer, number, hash }]));
  const removal = { edges: [...edges.values()], sequence: count, until: AT, isFull: false };
  const last = kept.checkpoints.at(-1);
  kept.checkpoints.push(makeCheckpoint({ last, heads: kept.heads, old: removal, at: AT, signer }));
}

const AROUND_THE_EDGE: Readonly<Record<string, Alteration>> = {
  ...ON_BLOCKS,
  ...ON_CHECKPOINTS,
  "the first block that is kept is removed": (kept, pick) => {
    const { writer } = kept.blocks[pick(kept.blocks.length)] as AuditBlock;
    const [gone] = kept.blocks.splice(
      kept.blocks.findIndex((block) => block.writer === writer),
      1,
    );
    return gone && { writer, block: gone.number };
  },
  "more is removed than is said, and its head made to fit": (kept, pick) => {
    const { writer, number } = kept.blocks[pick(kept.blocks.length)] as AuditBlock;
    kept.blocks = kept.blocks.filter((block) => block.writer !== writer || block.number > number);
    if (!kept.blocks.some((block) => block.writer === writer))
      kept.heads = kept.heads.filter((head) => head.writer !== writer);
    return { writer, block: number };
  },
  "the first block that is kept follows another one": (kept, pick) => {
    const { writer } = kept.blocks[pick(kept.blocks.length)] as AuditBlock;
    const index = kept.blocks.findIndex((block) => block.writer === writer);
    const block = { ...(kept.blocks[index] as AuditBlock), previous: "0".repeat(64) };
    const hash = hashOf(block);
    return replaceBlock(kept, index, { ...block, hash, signature: stranger.sign(hash) });
  },
  "the checkpoint that says what was removed is taken away": (kept) => {
    const index = kept.checkpoints.findIndex(({ text }) => text.includes('"removed":'));
    const [gone] = kept.checkpoints.splice(index, 1);
    return index === kept.checkpoints.length ? undefined : gone && { checkpoint: gone.number };
  },
  "the checkpoint says that more was removed": (kept, pick) => {
    const index = kept.checkpoints.findIndex(({ text }) => text.includes('"removed":'));
    const checkpoint = kept.checkpoints[index];
    const { writer, number, hash } = kept.blocks[pick(kept.blocks.length)] as AuditBlock;
    if (!checkpoint) return undefined;
    const said = JSON.parse(checkpoint.text) as { removed: { chains: object[] } };
    said.removed.chains.push({ writer, block: number, hash });
    kept.checkpoints[index] = { ...checkpoint, text: JSON.stringify(said) };
    return { checkpoint: checkpoint.number };
  },
};

describe("a trail of which the old part was removed", () => {
  test.each(Object.entries(AROUND_THE_EDGE))("tells that, and where: %s [MG-125]", async (_name, alter) => {
    let made = 0;
    await fc.assert(
      fc.asyncProperty(sizes, fc.infiniteStream(fc.nat()), async (chosen, chance) => {
        const kept = makeTrail(chosen);
        const pick = (count: number) => (chance.next().value as number) % count;
        removeOld(kept, 1 + pick(chosen.length - 1));
        addCheckpoint(kept);
        const place = alter(kept, pick);
        if (!place) return;
        made++;
        for (const report of [
          await verifyRows(kept.rows, { keys }),
          await verifyLines(exportLines(kept.rows, keys), keys),
        ]) {
          expect(report.isIntact).toBe(false);
          expect(report.problems.filter((problem) => isLocated(place, problem))).not.toEqual([]);
        }
      }),
      { numRuns: 40 },
    );
    expect(made).toBeGreaterThan(0);
  });

  test("is intact, again and again, and says what is gone", async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(), async (chosen, chance) => {
        const kept = makeTrail(chosen);
        const first = 1 + (chance % (chosen.length - 1));
        removeOld(kept, first);
        removeOld(kept, chosen.length - first);
        expect(await verifyRows(kept.rows, { keys })).toMatchObject({ isIntact: true, blocks: 0 });
        const head = kept.heads[0] as AuditHead;
        const { block } = makeBlock(head, [entryOf(line("new"))], { signer, fromSpool: true });
        kept.blocks.push(block);
        kept.heads[0] = headOf(block);
        const removed = { blocks: chosen.length, until: new Date(AT).toISOString() };
        for (const report of [
          await verifyRows(kept.rows, { keys }),
          await verifyLines(exportLines(kept.rows, keys), keys),
        ])
          expect(report).toMatchObject({ isIntact: true, problems: [], blocks: 1, removed });
      }),
      { numRuns: 20 },
    );
  });

  test("is not intact where nobody says so", async () => {
    const kept = makeTrail([1, 1, 1, 1, 1, 1]);
    const [gone] = kept.blocks.splice(0, 1);
    expect((await verifyRows(kept.rows, { keys })).problems).toMatchObject([
      { what: "missing", writer: gone?.writer, block: 0, lastBlock: 0 },
    ]);
  });

  test("says so when a block that was removed is put back", async () => {
    const kept = makeTrail([1, 1, 1, 1, 1, 1]);
    const [old] = kept.blocks;
    removeOld(kept, 1);
    kept.blocks.unshift(old as AuditBlock);
    expect((await verifyRows(kept.rows, { keys })).problems).toMatchObject([
      { what: "inserted", writer: old?.writer, block: 0 },
    ]);
  });

  test("is intact though that happens while it is read, wherever the reader is", async () => {
    for (let step = 0; step < 12; step++) {
      const kept = makeTrail([1, 1, 1, 1, 1, 1]);
      let count = 0;
      const { rows } = kept;
      const removing = new Proxy(rows, {
        get: (target, name: keyof typeof rows) => {
          if (count++ === step) removeOld(kept, 4);
          return target[name];
        },
      });
      expect(await verifyRows(removing, { keys })).toMatchObject({ isIntact: true, problems: [] });
    }
  });
});
