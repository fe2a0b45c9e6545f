import { createHash, randomBytes } from "node:crypto";
import { readdirSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Blobs, createBlobs } from "../../../src/mechanisms/blobs/index.ts";
import { ManualTime } from "../../kit/manual-time.ts";
import { KeptLog } from "../../kit/quiet.ts";
import { type Engine, NOW, type OpenStore, postgresEngine, query, sqliteEngine } from "./rig.ts";

const TERMS = { type: "text/plain", maxBytes: 2_000_000 };
const STRANGER = "0".repeat(32);

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Cuts the bytes of a blob short, behind its back. */
async function damageFile(place: string, id: string): Promise<void> {
  truncateSync(join(`${place}.blobs`, id.slice(0, 2), id), 3);
}
async function damageRows(place: string, id: string): Promise<void> {
  await query(place, `update blob_chunks set content = 'abc' where blob = '${id}'`);
}

describe.each([
  ["files", sqliteEngine, damageFile],
  ["PostgreSQL", postgresEngine, damageRows],
])("blobs in %s", (_name, makeEngine: () => Promise<Engine>, damage) => {
  let engine: Engine;
  let place: string;
  let store: OpenStore;
  let time: ManualTime;
  let blobs: Blobs;
  const create = (graceMs?: number) =>
    createBlobs({
      ...{ rows: store.records.blobs, bytes: store.blobBytes, clock: time, log: new KeptLog(), now: () => NOW },
      ...(graceMs !== undefined && { graceMs }),
    });

  beforeAll(async () => {
    engine = await makeEngine();
  });
  afterAll(() => engine.stop());
  beforeEach(async () => {
    place = await engine.place();
    store = await engine.open(place);
    time = new ManualTime();
    blobs = create();
  });
  afterEach(() => store.close());

  const expectNothing = async () => {
    expect(await store.records.blobs.list(1)).toEqual([]);
    expect(await store.blobBytes.older(0, 1)).toEqual([]);
  };

  test.each([0, 1, 262_143, 262_144, 262_145, 1_000_000])("gives back %i bytes as they were put", async (size) => {
    const bytes = randomBytes(size);
    const facts = await blobs.put(inPieces(bytes, 100_003), TERMS);
    const digest = createHash("sha256").update(bytes).digest("hex");
    expect(facts).toEqual({ id: facts.id, bytes: size, digest, type: "text/plain", createdAt: NOW });
    const found = await blobs.get(facts.id);
    expect(found?.facts).toEqual(facts);
    expect(found && (await buffer(found.stream)).equals(bytes)).toBe(true);
  });

  test("takes bytes that are there already", async () => {
    const { id } = await blobs.put(Buffer.from("hello"), TERMS);
    const found = await blobs.get(id);
    expect(found && (await buffer(found.stream)).toString()).toBe("hello");
  });

  test("stops reading what is too large, and leaves nothing of it", async () => {
    let given = 0;
    const endless = async function* () {
      for (;;) {
        given++;
        yield randomBytes(300_000);
      }
    };
    await expect(blobs.put(endless(), TERMS)).rejects.toMatchObject({ code: "BAD_CALL", details: { maxBytes: 2e6 } });
    expect(given).toBe(7);
    await expectNothing();
    expect(await blobs.put(Buffer.alloc(5), { ...TERMS, maxBytes: 5 })).toMatchObject({ bytes: 5 });
  });

  test("passes on what the source throws, and leaves nothing", async () => {
    const broken = async function* () {
      yield randomBytes(300_000);
      throw new Error("the caller went away");
    };
    await expect(blobs.put(broken(), TERMS)).rejects.toThrow("the caller went away");
    await expectNothing();
  });

  test("drops facts and bytes", async () => {
    const { id } = await blobs.put(Buffer.from("hello"), TERMS);
    expect(await blobs.drop(id)).toBe(true);
    expect(await blobs.drop(id)).toBe(false);
    expect(await blobs.get(id)).toBeUndefined();
    await expectNothing();
  });

  test("a damaged blob ends with an error, and not as if it were whole", async () => {
    const { id } = await blobs.put(randomBytes(1_000), TERMS);
    await damage(place, id);
    const found = await blobs.get(id);
    await expect(found && buffer(found.stream)).rejects.toMatchObject({ code: "INTERNAL" });
  });

  test("knows nothing under what is no id, and its bytes refuse it", async () => {
    for (const id of ["", "../../etc/passwd", "A".repeat(32), `${STRANGER}/`, "';--"]) {
      expect(await blobs.get(id)).toBeUndefined();
      expect(await blobs.drop(id)).toBe(false);
      await expect(store.blobBytes.read(id)).rejects.toMatchObject({ code: "BAD_CALL" });
      await expect(store.blobBytes.write(id, inPieces(Buffer.from("x"), 1))).rejects.toMatchObject({
        code: "BAD_CALL",
      });
      await expect(store.blobBytes.drop(id)).rejects.toMatchObject({ code: "BAD_CALL" });
    }
    expect(await blobs.get(STRANGER)).toBeUndefined();
  });

  test("a stream that nobody reads holds nothing", async () => {
    const { id } = await blobs.put(randomBytes(1_000), TERMS);
    const found = await blobs.get(id);
    found?.stream.destroy();
    expect(await blobs.drop(id)).toBe(true);
  });

  test("the sweep removes bytes that nobody knows, once they are old, and no others", async () => {
    const { id } = await blobs.put(Buffer.from("known"), TERMS);
    const strangers = Array.from({ length: 3 }, () => randomBytes(16).toString("hex"));
    for (const stranger of strangers) await store.blobBytes.write(stranger, inPieces(Buffer.from("x"), 1));
    expect(await blobs.sweep()).toBe(0);
    expect(await create(0).sweep()).toBe(3);
    expect(await store.blobBytes.older(0, 10)).toEqual([id]);
    const found = await blobs.get(id);
    expect(found && (await buffer(found.stream)).toString()).toBe("known");
  });

  test("the sweep leaves alone what is being put here, however old it looks", async () => {
    const hasty = create(20);
    const { promise: go, resolve } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const slow = async function* () {
      yield randomBytes(300_000);
      begin();
      await go;
    };
    const putting = hasty.put(slow(), TERMS);
    await begun;
    await vi.waitFor(async () => expect(await store.blobBytes.older(20, 1)).toHaveLength(1));
    expect(await hasty.sweep()).toBe(0);
    resolve();
    const found = await hasty.get((await putting).id);
    expect(found && (await buffer(found.stream)).length).toBe(300_000);
  });

  test("what took so long that it may have been swept is refused, and leaves nothing", async () => {
    const slow = async function* () {
      yield Buffer.from("x");
      time.advance(1_800_000);
    };
    await expect(blobs.put(slow(), TERMS)).rejects.toMatchObject({ code: "DEADLINE_PASSED" });
    await expectNothing();
  });

  test("lists what is old in order, a page at a time", async () => {
    const ids = Array.from({ length: 5 }, () => randomBytes(16).toString("hex")).sort();
    for (const id of ids) await store.blobBytes.write(id, inPieces(Buffer.from("x"), 1));
    const first = await store.blobBytes.older(0, 2);
    expect(first).toEqual(ids.slice(0, 2));
    expect(await store.blobBytes.older(0, 10, first.at(-1))).toEqual(ids.slice(2));
    expect(await store.blobBytes.older(600_000, 10)).toEqual([]);
  });
});

test("files of blobs are nobody else's", async () => {
  const engine = await sqliteEngine();
  const place = await engine.place();
  const { records, blobBytes, close } = await engine.open(place);
  const rest = { clock: new ManualTime(), log: new KeptLog() };
  const { id } = await createBlobs({ rows: records.blobs, bytes: blobBytes, ...rest }).put(Buffer.from("x"), TERMS);
  const folder = join(`${place}.blobs`, id.slice(0, 2));
  expect(readdirSync(folder)).toEqual([id]);
  expect(statSync(join(folder, id)).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  await close();
  await engine.stop();
});
