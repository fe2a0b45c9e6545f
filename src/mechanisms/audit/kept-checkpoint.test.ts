import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog, KeptMeter } from "../../../tests/kit/quiet.ts";
import { CHECKPOINT_MS } from "./checkpoints.ts";
import { KeptTrail } from "./fixtures/kept-trail.ts";
import { type Signer, signerInFolder } from "./signing.ts";
import { Trail } from "./trail.ts";
import { verifyRows } from "./verify-trail.ts";

const AT = 1_800_000_000_000;

let folder: string;
let kept: KeptTrail;
let time: ManualTime;
let log: KeptLog;
let signer: Signer;
let synced: boolean[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-kept-"));
  [kept, time, log, synced] = [new KeptTrail(), new ManualTime(), new KeptLog(), []];
  signer = signerInFolder(folder);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = () => join(folder, "audit-checkpoint.json");
const written = () => JSON.parse(readFileSync(file(), "utf8")) as { number: number };

async function start(): Promise<Trail> {
  const records = {
    ...kept.records,
    sync: () => {
      synced.push(existsSync(file()));
      return Promise.resolve();
    },
  };
  const ports = { timers: time, log, meter: new KeptMeter(), now: () => AT + time.now() };
  const trail = new Trail({ ...ports, records, signer, keptIn: folder, maxBytes: 100_000, sinks: [] });
  await trail.open();
  return trail;
}

/** An event, and the checkpoint that covers it. */
async function happen(trail: Trail, name: string): Promise<void> {
  const before = kept.checkpoints.length;
  const actor = { type: "agent", id: "ann" } as const;
  const target = { server: "files", name };
  trail.note({ type: "TOOL_EXECUTED", tenant: "default", actor, target, result: "SUCCESS", details: {} });
  await vi.waitFor(() => expect(kept.lines.some((line) => line.includes(name))).toBe(true));
  // The turn before may not be over yet: then the next one is not due with the first try.
  await vi.waitFor(() => {
    time.advance(CHECKPOINT_MS);
    expect(kept.checkpoints.length).toBeGreaterThan(before);
  });
}

/** A trail of some checkpoints, kept; its process is gone. */
async function live(...names: string[]): Promise<void> {
  const trail = await start();
  for (const name of names) await happen(trail, name);
  await trail.close();
}

/** What whoever has the database and neither key nor folder can do best. */
function cutBackTo(number: number): void {
  const heads = (JSON.parse(kept.checkpoints[number - 1]?.text ?? "") as { heads: { writer: string; block: number }[] })
    .heads;
  const lastOf = (writer: string) => heads.find((head) => head.writer === writer)?.block ?? -1;
  kept.checkpoints = kept.checkpoints.slice(0, number);
  kept.blocks = kept.blocks.filter((block) => block.number <= lastOf(block.writer));
  kept.heads = kept.heads.flatMap((head) => {
    const block = kept.blocks.findLast(({ writer }) => writer === head.writer);
    return block ? [{ ...head, number: block.number, hash: block.hash, spooled: block.spooled }] : [];
  });
}

const cutBackLines = () => log.lines.filter(({ level, message }) => level === "error" && message.includes("cut back"));
const cutBackEvents = () => kept.lines.filter((line) => line.includes("dev.isthmus.audit.cut_back"));

async function verify(trail: Trail) {
  const known = await trail.kept?.known();
  return await verifyRows(kept.rows, { keys: [signer.publicKey], known: known ? [known] : [] });
}

describe("the newest checkpoint", () => {
  test("is kept beside the key, for its owner alone, after the store has it for good", async () => {
    await live("a", "b");
    expect(written().number).toBe(kept.checkpoints.at(-1)?.number);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "audit-key.pub")).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).filter((name) => name.endsWith(".new"))).toEqual([]);
    expect(synced[0]).toBe(false);
    expect(log.lines).toEqual([]);
  });

  test.each([
    ["to its first checkpoint", () => cutBackTo(1)],
    ["by one checkpoint", () => cutBackTo(kept.checkpoints.length - 1)],
    ["to nothing", () => void Object.assign(kept, { blocks: [], heads: [], checkpoints: [] })],
  ])("tells at the next start, and whenever it is verified, that a trail was cut back %s", async (_, cut) => {
    await live("a", "b", "c");
    const before = written();
    cut();
    const trail = await start();
    expect(cutBackLines()).toHaveLength(1);
    const report = await verify(trail);
    expect(report.isIntact).toBe(false);
    expect(report.problems.at(-1)).toMatchObject({ what: "missing", checkpoint: before.number });
    await vi.waitFor(() => expect(cutBackEvents()).toHaveLength(1));
    await trail.close();
    expect(written()).toEqual(before);
  });

  test("tells of a trail that was cut back and gone on with until it is as long as before", async () => {
    await live("a", "b", "c");
    const before = written();
    cutBackTo(1);
    await live("d", "e", "f", "g");
    expect(kept.checkpoints.length).toBeGreaterThanOrEqual(before.number);
    expect(written()).toEqual(before);
    const trail = await start();
    const { problems } = await verify(trail);
    expect(problems).toMatchObject([{ checkpoint: before.number, text: expect.stringContaining("gone on with") }]);
    await trail.close();
  });

  test("tells of a trail that is cut back while its process runs, once", async () => {
    const trail = await start();
    for (const name of ["a", "b", "c"]) await happen(trail, name);
    cutBackTo(1);
    await happen(trail, "d");
    await happen(trail, "e");
    await vi.waitFor(() => expect(cutBackEvents()).toHaveLength(1));
    expect(cutBackLines()).toHaveLength(1);
    await trail.close();
  });

  test("is kept anew, and that is said, where there is none: after an update, or on another machine", async () => {
    await live("a", "b");
    rmSync(file());
    const trail = await start();
    expect(log.lines).toMatchObject([{ level: "warn", message: expect.stringMatching(/^no checkpoint .* was kept/) }]);
    expect(written().number).toBe(kept.checkpoints.at(-1)?.number);
    expect(await verify(trail)).toMatchObject({ isIntact: true });
    await trail.close();
  });

  test("is remembered by its process when the file is taken away before the trail is cut back", async () => {
    const trail = await start();
    for (const name of ["a", "b", "c"]) await happen(trail, name);
    await vi.waitFor(() => expect(written().number).toBe(3));
    rmSync(file());
    cutBackTo(1);
    await happen(trail, "d");
    await vi.waitFor(() => expect(cutBackLines()).toHaveLength(1));
    await trail.close();
  });

  describe("that cannot be read for now", () => {
    const unread = () => log.lines.filter(({ message }) => message.startsWith("the kept checkpoint"));
    // Reading it fails with EIO, whoever asks.
    const hide = () => {
      renameSync(file(), `${file()}.away`);
      symlinkSync("/proc/self/mem", file());
    };
    const showAgain = () => renameSync(`${file()}.away`, file());

    test("with a start is no alarm, and is looked at again although nothing happens", async () => {
      await live("a", "b");
      const before = written();
      hide();
      const trail = await start();
      expect(log.lines).toMatchObject([{ level: "warn", fields: { file: file(), cause: { code: "EIO" } } }]);
      expect(unread()).toHaveLength(1);
      await expect(trail.kept?.known()).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
      showAgain();
      cutBackTo(1);
      await vi.waitFor(() => {
        time.advance(CHECKPOINT_MS);
        expect(cutBackLines()).toHaveLength(1);
      });
      await trail.close();
      expect(written()).toEqual(before);
    });

    test("while the process runs is said once, and no alarm; what is written meanwhile is kept when it can be", async () => {
      const trail = await start();
      for (const name of ["a", "b"]) await happen(trail, name);
      await vi.waitFor(() => expect(written().number).toBe(2));
      hide();
      for (const name of ["c", "d", "e"]) await happen(trail, name);
      await vi.waitFor(() => expect(unread()).toHaveLength(1));
      showAgain();
      await happen(trail, "f");
      await vi.waitFor(() => expect(written().number).toBe(kept.checkpoints.at(-1)?.number));
      expect(log.lines).toEqual(unread());
      expect(cutBackEvents()).toEqual([]);
      expect(await verify(trail)).toMatchObject({ isIntact: true });
      await trail.close();
    });
  });

  test.each(["", "{}", '{"number":1,"at":1,"text":"{}","signature":"x","hash":"y"}'])(
    "that cannot be read is no reason to call a trail intact: %s",
    async (text) => {
      await live("a", "b");
      writeFileSync(file(), text);
      const trail = await start();
      expect(cutBackLines()).toHaveLength(1);
      expect(await verify(trail)).toMatchObject({
        isIntact: false,
        problems: [{ text: expect.stringContaining("cannot be read") }],
      });
      await trail.close();
      expect(readFileSync(file(), "utf8")).toBe(text);
    },
  );
});
