import { afterAll, beforeAll, expect, test } from "vitest";
import type { Admission, KeptRoom } from "../../../src/contract/index.ts";
import { fresh, joinMember, LONG_MS, SHORT_MS, type SharedStateRig, type StartRig } from "./shared-state-rig.ts";

export function callsSuite(start: StartRig): void {
  let rig: SharedStateRig;
  let ours: string;
  let theirs: string;
  beforeAll(async () => {
    rig = await start();
    ours = await joinMember(rig.here, "10.0.0.1:7070");
    theirs = await joinMember(rig.there, "10.0.0.2:7070");
  });
  afterAll(() => rig.close());

  const plain = (changes: Partial<Admission> = {}): Admission => ({
    call: fresh("call"),
    member: ours,
    session: fresh("session"),
    facts: '{"id":1,\n"x":2}',
    ttlMs: LONG_MS,
    ...changes,
  });
  const named = (key: string, changes: Partial<Admission> = {}, digest = "d1"): Admission =>
    plain({ once: { key, digest, ttlMs: LONG_MS }, ...changes });

  test("a call is open from its admission to its settlement, and others see it", async () => {
    const admission = plain();
    const { call, session = "" } = admission;
    expect(await rig.here.calls.admit(admission)).toEqual({ type: "open" });
    expect(await rig.there.calls.openOf(session)).toEqual([
      { call, member: ours, isLost: false, facts: admission.facts },
    ]);
    await rig.here.calls.settle({ call, session });
    expect(await rig.there.calls.openOf(session)).toEqual([]);
  });

  test("calls of a session are told apart from those of others", async () => {
    const [session, other] = [fresh("session"), fresh("session")];
    const [one, two, three] = [plain({ session }), plain({ session }), plain({ session: other })];
    await Promise.all([one, two, three].map((admission) => rig.here.calls.admit(admission)));
    await rig.here.calls.settle({ call: one.call, session });
    expect((await rig.there.calls.openOf(session)).map((open) => open.call)).toEqual([two.call]);
    expect((await rig.there.calls.openOf(other)).map((open) => open.call)).toEqual([three.call]);
  });

  test("a call that is settled before its admission was heard of leaves nothing", async () => {
    const admission = plain();
    const { call, session = "" } = admission;
    await Promise.all([rig.here.calls.admit(admission), rig.here.calls.settle({ call, session })]);
    expect(await rig.there.calls.openOf(session)).toEqual([]);
  });

  test("a call without session and name is let through, and settled", async () => {
    const { session: _, ...admission } = plain();
    expect(await rig.here.calls.admit(admission)).toEqual({ type: "open" });
    await expect(rig.here.calls.settle({ call: admission.call })).resolves.toBeUndefined();
  });

  test("an open call is lost when its member's lease is over", async () => {
    const gone = fresh("member");
    await rig.here.members.join({ id: gone, address: "" }, SHORT_MS);
    const admission = plain({ member: gone });
    await rig.here.calls.admit(admission);
    await rig.elapse(SHORT_MS * 2);
    expect(await rig.there.calls.openOf(admission.session ?? "")).toMatchObject([{ member: gone, isLost: true }]);
  });

  test("a named call is made once: a repeat gets the same answer", async () => {
    const key = fresh("key");
    const first = named(key);
    expect(await rig.here.calls.admit(first)).toEqual({ type: "open" });
    await rig.here.calls.settle({
      call: first.call,
      session: first.session ?? "",
      once: { key, answer: '{"ok":"ja €"}', ttlMs: LONG_MS },
    });
    expect(await rig.there.calls.admit(named(key, { member: theirs }))).toEqual({
      type: "done",
      answer: '{"ok":"ja €"}',
    });
    expect(await rig.there.calls.openOf(first.session ?? "")).toEqual([]);
  });

  test("an empty answer is an answer", async () => {
    const key = fresh("key");
    const first = named(key);
    await rig.here.calls.admit(first);
    await rig.here.calls.settle({ call: first.call, once: { key, answer: "", ttlMs: LONG_MS } });
    expect(await rig.here.calls.admit(named(key))).toEqual({ type: "done", answer: "" });
  });

  test("a repeat while the call is being made learns where", async () => {
    const key = fresh("key");
    const first = named(key);
    await rig.here.calls.admit(first);
    const repeat = named(key, { member: theirs });
    expect(await rig.there.calls.admit(repeat)).toEqual({
      type: "running",
      call: first.call,
      home: { id: ours, address: "10.0.0.1:7070" },
    });
    expect(await rig.there.calls.openOf(repeat.session ?? "")).toEqual([]);
  });

  test("a repeat after the process of the call is gone learns that it is lost", async () => {
    const key = fresh("key");
    const gone = await joinMember(rig.here);
    const first = named(key, { member: gone });
    await rig.here.calls.admit(first);
    await rig.here.members.leave(gone);
    for (let repeat = 0; repeat < 2; repeat += 1)
      expect(await rig.there.calls.admit(named(key, { member: theirs }))).toEqual({ type: "lost", call: first.call });
  });

  test("what was told to be lost stays lost, whatever its process says when it is back", async () => {
    const key = fresh("key");
    const gone = await joinMember(rig.here);
    const first = named(key, { member: gone });
    await rig.here.calls.admit(first);
    await rig.here.members.leave(gone);
    const lost = { type: "lost", call: first.call };
    expect(await rig.there.calls.admit(named(key, { member: theirs }))).toEqual(lost);
    await rig.here.calls.settle({ call: first.call, once: { key, answer: "late", ttlMs: 60_000 } });
    expect(await rig.there.calls.admit(named(key, { member: theirs }))).toEqual(lost);
    await rig.here.calls.settle({ call: first.call, once: { key, ttlMs: 60_000 } });
    expect(await rig.there.calls.admit(named(key, { member: theirs }))).toEqual(lost);
    expect(await rig.here.calls.admit(first)).toEqual(lost);
  });

  test("a process that was taken for dead still keeps the answer of a call that nobody has asked for meanwhile", async () => {
    const key = fresh("key");
    const gone = await joinMember(rig.here);
    const first = named(key, { member: gone });
    await rig.here.calls.admit(first);
    await rig.here.members.leave(gone);
    await rig.here.calls.settle({ call: first.call, once: { key, answer: "late", ttlMs: 60_000 } });
    const repeat = await rig.there.calls.admit(named(key, { member: theirs }));
    expect(repeat).toEqual({ type: "done", answer: "late" });
  });

  test("the same name for something else is refused: while it runs, when it is lost and when it is done", async () => {
    const key = fresh("key");
    const gone = await joinMember(rig.here);
    const first = named(key, { member: gone });
    const other = () => rig.there.calls.admit(named(key, { member: theirs }, "d2"));
    await rig.here.calls.admit(first);
    expect(await other()).toEqual({ type: "mismatch" });
    await rig.here.members.leave(gone);
    expect(await other()).toEqual({ type: "mismatch" });
    await rig.here.calls.settle({ call: first.call, once: { key, answer: "{}", ttlMs: LONG_MS } });
    expect(await other()).toEqual({ type: "mismatch" });
  });

  test("of many that ask for a named call at once, one makes it", async () => {
    const key = fresh("key");
    const asked = Array.from({ length: 10 }, (_, index) =>
      (index % 2 === 0 ? rig.here : rig.there).calls.admit(named(key, { member: index % 2 === 0 ? ours : theirs })),
    );
    const types = (await Promise.all(asked)).map((admitted) => admitted.type);
    expect(types.filter((type) => type === "open")).toHaveLength(1);
    expect(types.filter((type) => type === "running")).toHaveLength(9);
  });

  test("a named call that is settled without an answer may be made again", async () => {
    const key = fresh("key");
    const first = named(key);
    await rig.here.calls.admit(first);
    await rig.here.calls.settle({ call: first.call, once: { key, ttlMs: LONG_MS } });
    expect(await rig.there.calls.admit(named(key, { member: theirs }))).toEqual({ type: "open" });
  });

  test("only the call that has the name settles it", async () => {
    const key = fresh("key");
    const first = named(key);
    await rig.here.calls.admit(first);
    await rig.there.calls.settle({ call: fresh("call"), once: { key, answer: "no", ttlMs: LONG_MS } });
    await rig.there.calls.settle({ call: fresh("call"), once: { key, ttlMs: LONG_MS } });
    expect(await rig.there.calls.admit(named(key, { member: theirs }))).toMatchObject({
      type: "running",
      call: first.call,
    });
  });

  test("who has not heard that its call was admitted may ask again", async () => {
    const key = fresh("key");
    const first = named(key);
    await rig.here.calls.admit(first);
    expect(await rig.here.calls.admit(first)).toEqual({ type: "open" });
    await rig.here.calls.settle({ call: first.call, once: { key, answer: "{}", ttlMs: LONG_MS } });
    expect(await rig.here.calls.admit(first)).toEqual({ type: "done", answer: "{}" });
  });

  test("an answer is forgotten when its time is over", async () => {
    const key = fresh("key");
    const first = named(key);
    await rig.here.calls.admit(first);
    await rig.here.calls.settle({ call: first.call, once: { key, answer: "{}", ttlMs: SHORT_MS } });
    await rig.elapse(SHORT_MS * 2);
    expect(await rig.there.calls.admit(named(key, { member: theirs }, "d2"))).toEqual({ type: "open" });
  });

  test("the name of a call that may run long outlives a short time for answers", async () => {
    const key = fresh("key");
    await rig.here.calls.admit(named(key, { once: { key, digest: "d1", ttlMs: 1 } }));
    await rig.elapse(SHORT_MS);
    expect(await rig.there.calls.admit(named(key, { member: theirs }))).toMatchObject({ type: "running" });
  });

  /** Makes a named call of these rooms, and settles it with an answer of so many bytes. */
  const keep = async (rooms: readonly KeptRoom[], bytes = 10, key = fresh("key")) => {
    const first = named(key);
    await rig.here.calls.admit(first);
    const answer = "x".repeat(bytes);
    const crowded = await rig.here.calls.settle({ call: first.call, once: { key, answer, ttlMs: LONG_MS, rooms } });
    return { key, crowded };
  };
  const isKept = async (key: string) => {
    const repeat = named(key, { member: theirs });
    const { type } = await rig.there.calls.admit(repeat);
    if (type === "open") await rig.there.calls.settle({ call: repeat.call, once: { key, ttlMs: LONG_MS } });
    return type === "done";
  };
  const roomOf = (maxItems: number, maxBytes = 1_000_000): KeptRoom => ({ name: fresh("room"), maxItems, maxBytes });

  test("answers of one room are kept up to a number, the oldest go first, and whoever settles hears of it", async () => {
    const room = roomOf(2);
    const other = await keep([roomOf(2)]);
    const made = [await keep([room]), await keep([room]), await keep([room]), await keep([room])];
    expect(made.map(({ crowded }) => crowded ?? [])).toEqual([[], [], [room], [room]]);
    const kept = await Promise.all([...made, other].map(({ key }) => isKept(key)));
    expect(kept).toEqual([false, false, true, true, true]);
  });

  test("answers of one room are kept up to so many bytes, with their keys", async () => {
    const room = roomOf(100, 5_000);
    const made: string[] = [];
    for (let number = 0; number < 5; number++) made.push((await keep([room], 2_000)).key);
    expect(await Promise.all(made.map(isKept))).toEqual([false, false, false, true, true]);
    const { key } = await keep([room], 10);
    expect(await Promise.all([...made.slice(-2), key].map(isKept))).toEqual([true, true, true]);
  });

  test("an answer that is forgotten in one room has left the others, too", async () => {
    const all = roomOf(3);
    const [ann, bob] = [roomOf(1), roomOf(10)];
    const first = await keep([bob, all]);
    const second = await keep([ann, all]);
    const third = await keep([ann, all]);
    // The second made room for the third: there is place for one more.
    const fourth = await keep([bob, all]);
    const keys = [first, second, third, fourth].map(({ key }) => key);
    expect(await Promise.all(keys.map(isKept))).toEqual([true, false, true, true]);
    const fifth = await keep([bob, all]);
    expect(fifth.crowded).toEqual([all]);
    expect(await isKept(first.key)).toBe(false);
  });

  test("a call that runs is never forgotten for others, however full its room is", async () => {
    const room = roomOf(1);
    const running = fresh("key");
    const first = named(running);
    await rig.here.calls.admit(first);
    for (let number = 0; number < 3; number++) await keep([room]);
    expect(await rig.there.calls.admit(named(running, { member: theirs }))).toMatchObject({ type: "running" });
    await rig.here.calls.settle({
      call: first.call,
      once: { key: running, answer: "{}", ttlMs: LONG_MS, rooms: [room] },
    });
    expect(await isKept(running)).toBe(true);
  });

  test("an answer that is settled twice takes its place once", async () => {
    const room = roomOf(2);
    const { key } = await keep([room]);
    const second = named(fresh("key"));
    await rig.here.calls.admit(second);
    const once = { key: second.once?.key ?? "", answer: "{}", ttlMs: LONG_MS, rooms: [room] };
    for (let time = 0; time < 3; time++) await rig.here.calls.settle({ call: second.call, once });
    expect([await isKept(key), await isKept(once.key)]).toEqual([true, true]);
  });

  test("answers whose time is over leave their rooms", async () => {
    const room = roomOf(2);
    for (let number = 0; number < 2; number++) {
      const short = named(fresh("key"));
      await rig.here.calls.admit(short);
      const once = { key: short.once?.key ?? "", answer: "{}", ttlMs: SHORT_MS, rooms: [room] };
      await rig.here.calls.settle({ call: short.call, once });
    }
    await rig.elapse(SHORT_MS * 2);
    const later = [await keep([room]), await keep([room])];
    expect(later.map(({ crowded }) => crowded ?? [])).toEqual([[], []]);
    expect(await Promise.all(later.map(({ key }) => isKept(key)))).toEqual([true, true]);
  });
}
