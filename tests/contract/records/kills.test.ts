import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createBlobs } from "../../../src/mechanisms/blobs/index.ts";
import { systemClock } from "../../../src/server/clock.ts";
import { KeptLog } from "../../kit/quiet.ts";
import { makeDelivery, openMailbox } from "./mail.ts";
import { runPeer } from "./peers.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./rig.ts";

describe.each([
  ["SQLite and files", sqliteEngine],
  ["PostgreSQL", postgresEngine],
])("a process that is killed, on %s", (_name, makeEngine: () => Promise<Engine>) => {
  let engine: Engine;
  let mailbox: Awaited<ReturnType<typeof openMailbox>>;
  beforeAll(async () => {
    engine = await makeEngine();
  });
  afterAll(() => engine.stop());
  beforeEach(async () => {
    mailbox = await openMailbox();
  });
  afterEach(() => mailbox.close());

  test.each([
    // Nobody was told of it.
    ["records.delivery.adding", 0],
    ["records.delivery.added", 1],
    ["records.delivery.taken", 1],
    ["delivery.message.sending", 1],
    // The receiver has it, and nobody knows: it gets it again, under the same id.
    ["delivery.message.sent", 2],
    ["records.delivery.ending", 2],
    ["records.delivery.ended", 1],
  ])("at %s leaves a message that arrives", async (point, times) => {
    const place = await engine.place();
    expect(await runPeer({ role: "send", place, point, target: mailbox.url })).toBe("killed");
    const store = await engine.open(place);
    const delivery = makeDelivery(store);
    delivery.start();
    await vi.waitFor(async () => expect(await store.records.deliveries.count()).toBe(0), { timeout: 10_000 });
    await delivery.close();
    expect(mailbox.got).toEqual(Array.from({ length: times }, () => "m1"));
    expect(await store.records.deliveries.failed(1)).toEqual([]);
    await store.close();
  });

  test.each([
    ["put", "blobs.bytes.written", 0],
    ["put", "blobs.facts.adding", 0],
    ["put", "records.blob.adding", 0],
    ["put", "records.blob.added", 1],
    ["put", "blobs.facts.added", 1],
    ["drop", "records.blob.dropping", 1],
    ["drop", "records.blob.dropped", 0],
    ["drop", "blobs.facts.dropped", 0],
  ] as const)(
    "in %s at %s leaves no facts without bytes, and the sweep leaves no bytes without facts",
    async (role, point, count) => {
      const place = await engine.place();
      expect(await runPeer({ role, place, point })).toBe("killed");
      const { records, blobBytes, close } = await engine.open(place);
      const blobs = createBlobs({
        ...{ rows: records.blobs, bytes: blobBytes, clock: systemClock, log: new KeptLog() },
        graceMs: 0,
      });
      const known = await records.blobs.list(10);
      expect(known).toHaveLength(count);
      expect(await blobBytes.older(0, 10)).toHaveLength(1);
      expect(await blobs.sweep()).toBe(1 - count);
      for (const { id, bytes } of known) {
        const found = await blobs.get(id);
        expect(found && (await buffer(found.stream)).length).toBe(bytes);
      }
      expect(await blobBytes.older(0, 10)).toEqual(known.map(({ id }) => id));
      await close();
    },
  );
});

test("a process that is killed before a file has its name leaves a part, which the sweep removes", async () => {
  const engine = await sqliteEngine();
  const place = await engine.place();
  expect(await runPeer({ role: "put", place, point: "blobs.file.renaming" })).toBe("killed");
  const { records, blobBytes, close } = await engine.open(place);
  const rest = { clock: systemClock, log: new KeptLog(), graceMs: 0 };
  expect(await blobBytes.older(0, 10)).toHaveLength(1);
  expect(await createBlobs({ rows: records.blobs, bytes: blobBytes, ...rest }).sweep()).toBe(1);
  expect(await blobBytes.older(0, 10)).toEqual([]);
  await close();
  await engine.stop();
});
