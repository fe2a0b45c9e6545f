import { afterAll, beforeAll, expect, test } from "vitest";
import type { OwnedEntry } from "../../../src/contract/index.ts";
import { fresh, joinMember, LONG_MS, SHORT_MS, type SharedStateRig, type StartRig } from "./shared-state-rig.ts";

export function entriesSuite(start: StartRig): void {
  let rig: SharedStateRig;
  let ours: string;
  let theirs: string;
  beforeAll(async () => {
    rig = await start();
    ours = await joinMember(rig.here, "10.0.0.1:7070");
    theirs = await joinMember(rig.there, "10.0.0.2:7070");
  });
  afterAll(() => rig.close());

  const create = (key: string, by = ours, ttlMs = LONG_MS) =>
    rig.here.entries.claim(key, by, { value: '{"n":1}', ttlMs });

  test("an entry keeps a value and names its home to everybody", async () => {
    const key = fresh("session:a");
    const made: OwnedEntry = {
      value: '{"n":1}',
      owner: ours,
      fence: 1,
      home: { id: ours, address: "10.0.0.1:7070" },
    };
    expect(await create(key)).toEqual(made);
    expect(await rig.there.entries.get(key)).toEqual(made);
  });

  test("an entry that is not there is not claimed, unless its first value is given", async () => {
    const key = fresh("session:b");
    expect(await rig.here.entries.get(key)).toBeUndefined();
    expect(await rig.here.entries.claim(key, ours)).toBeUndefined();
    expect(await rig.here.entries.get(key)).toBeUndefined();
  });

  test("an entry of a live owner stays, whoever claims it", async () => {
    const key = fresh("session:c");
    const made = await create(key);
    expect(await rig.there.entries.claim(key, theirs, { value: "other", ttlMs: LONG_MS })).toEqual(made);
    expect(await rig.here.entries.claim(key, ours)).toEqual(made);
    expect(await rig.here.entries.get(key)).toEqual(made);
  });

  test("an entry whose owner's lease is over goes to who claims it, with its value and a higher fence", async () => {
    const key = fresh("session:d");
    const gone = fresh("member");
    await rig.here.members.join({ id: gone, address: "" }, SHORT_MS);
    await create(key, gone);
    await rig.elapse(SHORT_MS * 2);
    expect(await rig.there.entries.get(key)).toEqual({ value: '{"n":1}', owner: gone, fence: 1, home: undefined });
    const claimed = await rig.there.entries.claim(key, theirs, { value: "new", ttlMs: LONG_MS });
    expect(claimed).toEqual({
      value: '{"n":1}',
      owner: theirs,
      fence: 2,
      home: { id: theirs, address: "10.0.0.2:7070" },
    });
  });

  test("an entry of who has left may be claimed at once, and each owner raises the fence by one", async () => {
    const key = fresh("session:e");
    const fences = [];
    for (let owner = 0; owner < 3; owner += 1) {
      const leaving = await joinMember(rig.here);
      fences.push((await create(key, leaving))?.fence);
      await rig.here.members.leave(leaving);
    }
    expect(fences).toEqual([1, 2, 3]);
  });

  test("of many that claim at once, one gets it", async () => {
    const gone = await joinMember(rig.here);
    const keys = Array.from({ length: 20 }, () => fresh("session:race"));
    await Promise.all(keys.map((key) => create(key, gone)));
    await rig.here.members.leave(gone);
    for (const key of keys) {
      const both = await Promise.all([rig.here.entries.claim(key, ours), rig.there.entries.claim(key, theirs)]);
      expect(both[0]).toEqual(both[1]);
      expect(both[0]?.fence).toBe(2);
      expect([ours, theirs]).toContain(both[0]?.owner);
    }
  });

  test("of two that create at once, one does", async () => {
    const key = fresh("session:create");
    const both = await Promise.all([
      rig.here.entries.claim(key, ours, { value: "ours", ttlMs: LONG_MS }),
      rig.there.entries.claim(key, theirs, { value: "theirs", ttlMs: LONG_MS }),
    ]);
    expect(both[0]).toEqual(both[1]);
    expect(both[0]?.value).toBe(both[0]?.owner === ours ? "ours" : "theirs");
  });

  test("the owner writes, touches and drops; nobody else does", async () => {
    const key = fresh("session:f");
    await create(key);
    expect(await rig.there.entries.put(key, theirs, "no", LONG_MS)).toBe(false);
    expect(await rig.there.entries.touch(key, theirs, LONG_MS)).toBe(false);
    expect(await rig.there.entries.drop(key, theirs)).toBe(false);
    expect(await rig.here.entries.put(key, ours, "höher\n\0", LONG_MS)).toBe(true);
    expect((await rig.there.entries.get(key))?.value).toBe("höher\n\0");
    expect(await rig.here.entries.touch(key, ours, LONG_MS)).toBe(true);
    expect(await rig.here.entries.drop(key, ours)).toBe(true);
    expect(await rig.there.entries.get(key)).toBeUndefined();
    expect(await rig.here.entries.put(key, ours, "late", LONG_MS)).toBe(false);
    expect(await rig.here.entries.touch(key, ours, LONG_MS)).toBe(false);
    expect(await rig.here.entries.drop(key, ours)).toBe(false);
  });

  test("a former owner writes in vain, even under a new lease of its own", async () => {
    const key = fresh("session:g");
    const former = await joinMember(rig.here);
    await create(key, former);
    await rig.here.members.leave(former);
    await rig.there.entries.claim(key, theirs);
    await rig.here.members.join({ id: former, address: "" }, LONG_MS);
    expect(await rig.here.entries.put(key, former, "stale", LONG_MS)).toBe(false);
    expect(await rig.here.entries.touch(key, former, LONG_MS)).toBe(false);
    expect(await rig.here.entries.drop(key, former)).toBe(false);
    expect(await rig.there.entries.get(key)).toMatchObject({ value: '{"n":1}', owner: theirs, fence: 2 });
  });

  test("an entry that was given up keeps its value and goes to who claims it; who gave it up writes in vain", async () => {
    const key = fresh("session:released");
    await create(key);
    expect(await rig.there.entries.release(key, theirs)).toBe(false);
    expect(await rig.here.entries.release(key, ours)).toBe(true);
    expect(await rig.there.entries.get(key)).toMatchObject({ value: '{"n":1}', home: undefined });
    expect(await rig.here.entries.put(key, ours, "late", LONG_MS)).toBe(false);
    expect(await rig.there.entries.claim(key, theirs)).toMatchObject({ value: '{"n":1}', owner: theirs, fence: 2 });
  });

  test("an entry ends when its time is over, and can be made anew", async () => {
    const [left, put, touched] = [fresh("session:h"), fresh("session:i"), fresh("session:j")];
    await create(left, ours, SHORT_MS);
    await create(put, ours, LONG_MS);
    await create(touched, ours, LONG_MS);
    await rig.here.entries.put(put, ours, "short", SHORT_MS);
    await rig.here.entries.touch(touched, ours, SHORT_MS);
    await rig.elapse(SHORT_MS * 2);
    for (const key of [left, put, touched]) expect(await rig.there.entries.get(key)).toBeUndefined();
    expect(await rig.here.entries.put(left, ours, "late", LONG_MS)).toBe(false);
    expect(await rig.there.entries.claim(left, theirs)).toBeUndefined();
    expect(await rig.there.entries.claim(left, theirs, { value: "anew", ttlMs: LONG_MS })).toMatchObject({
      value: "anew",
      owner: theirs,
      fence: 1,
    });
  });

  test("a new owner does not lengthen the life of an entry, but may", async () => {
    const [ends, stays] = [fresh("session:k"), fresh("session:l")];
    const gone = await joinMember(rig.here);
    await create(ends, gone, SHORT_MS * 50);
    await create(stays, gone, SHORT_MS * 50);
    await rig.here.members.leave(gone);
    await rig.there.entries.claim(ends, theirs);
    await rig.there.entries.claim(stays, theirs);
    expect(await rig.there.entries.touch(ends, theirs, SHORT_MS)).toBe(true);
    expect(await rig.there.entries.touch(stays, theirs, LONG_MS)).toBe(true);
    await rig.elapse(SHORT_MS * 2);
    expect(await rig.there.entries.get(ends)).toBeUndefined();
    expect(await rig.there.entries.get(stays)).toMatchObject({ owner: theirs });
  });
}
