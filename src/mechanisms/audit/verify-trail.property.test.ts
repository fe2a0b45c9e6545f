import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AuditBlock, AuditHead } from "../../contract/index.ts";
import { type Entry, entryOf, hashOf, headOf, makeBlock, markOf } from "./block.ts";
import { makeCheckpoint } from "./checkpoints.ts";
import { eventLine } from "./event-line.ts";
import { KeptTrail } from "./fixtures/kept-trail.ts";
import { BETWEEN, GAP, HOLE } from "./short-lines.ts";
import { keyringOf, passingSigner } from "./signing.ts";
import type { TrailProblem } from "./trail-verifier.ts";
import { exportLines, verifyLines, verifyRows } from "./verify-trail.ts";

const signer = passingSigner();
const stranger = passingSigner();
const keys = [signer.publicKey];

const AT = 1_800_000_000_000;
const WRITERS = ["a_1_x", "b_2_y", "c_3_z"] as const;

function line(name: string): string {
  return eventLine(
    {
      type: "TOOL_EXECUTED",
      tenant: "default",
      actor: { type: "agent", id: "ann" },
      target: { server: "s", name },
      result: "SUCCESS",
      details: {},
    },
    { at: AT, id: name, traceId: "0d6f8f0e-6f0b-4b57-9b2c-6a5d8c1b7e11" },
  );
}

/** The same event as values, and a template that all such events have in common. */
function shortEntry(whole: string): Entry {
  const name = (JSON.parse(whole) as { details: { id: string } }).details.id;
  const value = JSON.stringify(name);
  const template = whole.replaceAll(value, HOLE).replace('"ann"', GAP);
  return { ...entryOf(whole), template, filler: '"ann"', line: [value, value].join(BETWEEN) };
}

/** Three chains; a checkpoint after every second block, and one that has seen all. */
function makeTrail(sizes: readonly number[]): KeptTrail {
  const kept = new KeptTrail();
  sizes.forEach((size, index) => {
    const writer = WRITERS[index % WRITERS.length] as string;
    const head = kept.heads.find((one) => one.writer === writer) ?? emptyHead(writer);
    const entries = Array.from({ length: size }, (_, at) =>
      (at % 3 === 0 ? entryOf : shortEntry)(line(`${index}-${at}`)),
    );
    const { block } = makeBlock(head, entries, { signer, fromSpool: true });
    kept.blocks.push(block);
    kept.heads = [...kept.heads.filter((one) => one.writer !== writer), headOf(block)];
    if (index % 2 === 1 || index === sizes.length - 1) addCheckpoint(kept);
  });
  return kept;
}

function addCheckpoint(kept: KeptTrail): void {
  kept.checkpoints.push(makeCheckpoint({ last: kept.checkpoints.at(-1), heads: kept.heads, at: AT, signer }));
}

function emptyHead(writer: string): AuditHead {
  return { writer, number: -1, hash: "", spooled: 0 };
}

/** What somebody can do who has the store and not the key. Each says where. */
type Place = { readonly writer?: string; readonly block?: number; readonly checkpoint?: number };
type Alteration = (kept: KeptTrail, pick: (count: number) => number) => Place | undefined;

const replaceBlock = (kept: KeptTrail, index: number, change: Partial<AuditBlock>): Place => {
  const block = kept.blocks[index] as AuditBlock;
  kept.blocks[index] = { ...block, ...change };
  return { writer: block.writer, block: block.number };
};

/** As good as one can without the key: marks and hash fit, the signature is another's. */
function forged(block: AuditBlock, lines: readonly string[]): AuditBlock {
  const changed = { ...block, count: lines.length, marks: lines.map(markOf).join(""), lines: lines.join("\n") };
  const hash = hashOf(changed);
  return { ...changed, hash, signature: stranger.sign(hash) };
}

const onLines =
  (change: (lines: string[], pick: (count: number) => number) => boolean, isForged: boolean): Alteration =>
  (kept, pick) => {
    const index = pick(kept.blocks.length);
    const block = kept.blocks[index] as AuditBlock;
    const lines = block.lines.split("\n");
    if (!change(lines, pick)) return undefined;
    return replaceBlock(kept, index, isForged ? forged(block, lines) : { lines: lines.join("\n") });
  };

const CHANGES: Readonly<Record<string, (lines: string[], pick: (count: number) => number) => boolean>> = {
  "an event is altered": (lines, pick) => {
    const at = pick(lines.length);
    const former = lines[at] as string;
    lines[at] = former
      .replace("SUCCESS", "FAILURE")
      .replace(/^(\d+\.\d+\t")/, "$1X")
      .replace(/^\+"ann"/, '+"bob"');
    return true;
  },
  "an event is removed": (lines, pick) => lines.length > 1 && lines.splice(pick(lines.length), 1).length === 1,
  "an event is inserted": (lines, pick) => lines.splice(pick(lines.length), 0, line("new")) && true,
  "two events change places": (lines, pick) => {
    if (lines.length < 2) return false;
    const at = pick(lines.length - 1);
    [lines[at], lines[at + 1]] = [lines[at + 1] as string, lines[at] as string];
    return true;
  },
};

const ON_BLOCKS: Readonly<Record<string, Alteration>> = {
  "a block is removed": (kept, pick) => {
    const [gone] = kept.blocks.splice(pick(kept.blocks.length), 1);
    return gone && { writer: gone.writer, block: gone.number };
  },
  "a chain is cut off": (kept, pick) => {
    const block = kept.blocks[pick(kept.blocks.length)] as AuditBlock;
    kept.blocks = kept.blocks.filter(({ writer, number }) => writer !== block.writer || number < block.number);
    return { writer: block.writer, block: block.number };
  },
  "a chain is removed, with its head": (kept, pick) => {
    const { writer } = kept.blocks[pick(kept.blocks.length)] as AuditBlock;
    kept.blocks = kept.blocks.filter((block) => block.writer !== writer);
    kept.heads = kept.heads.filter((head) => head.writer !== writer);
    return { writer, block: 0 };
  },
  "a block is put in another's place": (kept, pick) => {
    const index = pick(kept.blocks.length);
    const block = kept.blocks[index] as AuditBlock;
    const other = kept.blocks.find(({ hash }) => hash !== block.hash);
    if (!other) return undefined;
    const { writer, number } = block;
    return replaceBlock(kept, index, { ...other, writer, number });
  },
  "a block is appended": (kept, pick) => {
    const { writer } = kept.blocks[pick(kept.blocks.length)] as AuditBlock;
    const head = kept.heads.find((one) => one.writer === writer) as AuditHead;
    const { block } = makeBlock(head, [entryOf(line("new"))], { signer: stranger, fromSpool: true });
    kept.blocks.push({ ...block, signature: `${signer.keyId}.${block.signature.split(".")[1]}` });
    kept.heads = [...kept.heads.filter((one) => one.writer !== writer), headOf(block)];
    return { writer, block: block.number };
  },
  "a chain is added": (kept) => {
    const { block } = makeBlock(emptyHead("d_4_w"), [entryOf(line("new"))], { signer: stranger, fromSpool: true });
    kept.blocks.push(block);
    kept.heads.push(headOf(block));
    return { writer: "d_4_w", block: 0 };
  },
  "a fact about a block is altered": (kept, pick) => {
    const index = pick(kept.blocks.length);
    const block = kept.blocks[index] as AuditBlock;
    return replaceBlock(
      kept,
      index,
      [{ at: block.at + 1 }, { spooled: block.spooled + 1 }, { until: 0 }][pick(3)] ?? {},
    );
  },
};

const ON_CHECKPOINTS: Readonly<Record<string, Alteration>> = {
  "a checkpoint is altered": (kept, pick) => {
    const index = pick(kept.checkpoints.length);
    const checkpoint = kept.checkpoints[index];
    if (!checkpoint) return undefined;
    kept.checkpoints[index] = { ...checkpoint, text: checkpoint.text.replace('"block":', '"block":1') };
    return { checkpoint: checkpoint.number };
  },
  "a checkpoint before the last is removed": (kept, pick) => {
    if (kept.checkpoints.length < 2) return undefined;
    const [gone] = kept.checkpoints.splice(pick(kept.checkpoints.length - 1), 1);
    return gone && { checkpoint: gone.number };
  },
  "a checkpoint is signed by another": (kept, pick) => {
    const index = pick(kept.checkpoints.length);
    const checkpoint = kept.checkpoints[index];
    if (!checkpoint) return undefined;
    kept.checkpoints[index] = { ...checkpoint, signature: stranger.sign(checkpoint.text) };
    return { checkpoint: checkpoint.number };
  },
};

const ALTERATIONS: readonly (readonly [string, Alteration])[] = [
  ...Object.entries(CHANGES).map(([name, change]) => [name, onLines(change, false)] as const),
  ...Object.entries(CHANGES).map(
    ([name, change]) => [`${name}, and the block is made to fit`, onLines(change, true)] as const,
  ),
  ...Object.entries(ON_BLOCKS),
  ...Object.entries(ON_CHECKPOINTS),
];

/** The block itself, or the one after it: where two do not fit together either may be the false one. */
function isLocated({ writer, block, checkpoint }: Place, problem: TrailProblem): boolean {
  if (checkpoint !== undefined) return problem.checkpoint === checkpoint;
  if (problem.writer !== writer || problem.block === undefined || block === undefined) return false;
  return block >= problem.block && block <= (problem.lastBlock ?? problem.block);
}

describe("a trail", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 3, maxLength: 14 });

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
    const kept = makeTrail([2, 2]);
    const lines: string[] = [];
    for await (const one of exportLines(kept.rows, keys)) lines.push(one);
    const verified = (given: readonly string[]) => verifyLines(one(given), keys);
    async function* one(given: readonly string[]) {
      yield* given;
    }
    expect((await verified(lines.slice(0, -1))).problems.at(-1)?.text).toMatch(/cut off/);
    const strange = [...lines.slice(0, 2), "{}", ...lines.slice(2)];
    expect((await verified(strange)).problems).toMatchObject([{ text: "line 3: is no line of an exported trail" }]);
    expect((await verified([])).isIntact).toBe(false);
    expect((await verified(["", "null", '{"kind":"block"}'])).isIntact).toBe(false);
  });
});
