import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog, KeptMeter } from "../../../tests/kit/quiet.ts";
import { armFaultPoints, type SharedState } from "../../contract/index.ts";
import { createMemorySharedState } from "../../stores/memory/index.ts";
import type { Session, Voice } from "./session.ts";
import { createSessions, type SessionsOptions } from "./sessions.ts";

const ME = { id: "me" };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Shared state that counts its trips. */
function counted(state: SharedState) {
  const trips: string[] = [];
  const ttls: number[] = [];
  const count = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, name) {
        const method = Reflect.get(target, name) as (...args: unknown[]) => unknown;
        return (...args: unknown[]) => {
          trips.push(String(name));
          if (name === "put") ttls.push(args[3] as number);
          if (name === "append") ttls.push((args[2] as { ttlMs: number }).ttlMs);
          return Reflect.apply(method, target, args);
        };
      },
    });
  return { trips, ttls, state: { ...state, entries: count(state.entries), logs: count(state.logs) } };
}

async function rig(options: Partial<SessionsOptions> = {}) {
  const time = new ManualTime();
  const memory = createMemorySharedState({ clock: time });
  const { trips, ttls, state } = counted(memory);
  const departures: string[] = [];
  const voice: Voice = {
    notice: (_session, notice) => ({ type: "notice", text: notice.method }),
    listChanged: () => [],
    question: (_session, id) => `ask ${id}`,
    withdrawal: (id) => `never mind ${id}`,
    ended: (_session, reason) => void departures.push(reason),
  };
  const rebuilding = { voice, enter: async () => undefined, entered: () => undefined };
  async function join(id: string) {
    await memory.members.join({ id, address: id }, 1000 * HOUR);
    const shared = { state, member: () => id };
    return createSessions({
      clock: time,
      timers: time,
      log: new KeptLog(),
      meter: new KeptMeter(),
      shared,
      ...options,
    });
  }
  const [a, b] = [await join("a"), await join("b")];
  const opening = { voice, principal: ME, catalog: "", protocol: "x", canBeAsked: true };
  async function create(): Promise<Session> {
    const session = a.create({ ...opening, capabilities: a.intern("{}"), clientInfo: a.intern("{}") });
    await a.keep(session);
    return session;
  }
  const wanted = ({ id }: Session) => ({ id, principal: ME, catalog: "" });
  const move = (session: Session) => b.locate(wanted(session), rebuilding);
  return { time, memory, trips, ttls, departures, a, b, create, wanted, move, rebuilding };
}

/** Lets what was begun go on until it waits for time. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("a shared session", () => {
  test("is durable before its client may be told, and killed before that was never there", async () => {
    const { a, memory, create } = await rig();
    const points: string[] = [];
    armFaultPoints((point) => points.push(point));
    try {
      const { id } = await create();
      expect(points).toEqual(["sessions.create.before", "sessions.create.after"]);
      expect(await memory.entries.get(`session:${id}`)).toMatchObject({ owner: "a", fence: 1 });
    } finally {
      armFaultPoints(undefined);
    }
    expect(a.isShared).toBe(true);
  });

  test("with a long record is written one at a time, and the short ones of others do not wait for it", async () => {
    const { a, create, memory } = await rig();
    const [first, second, short] = [await create(), await create(), await create()];
    for (const session of [first, second]) a.subscribe(session, { provider: "p", own: "x".repeat(20_000), shown: "x" });
    const gates: PromiseWithResolvers<void>[] = [];
    const begun: string[] = [];
    const { put } = memory.entries;
    memory.entries.put = async (key, ...rest) => {
      begun.push(key);
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      return put.call(memory.entries, key, ...rest);
    };
    const saved = [a.save(first), a.save(second), a.save(short), a.save(first), a.save(first)];
    await settle();
    const keys = [first, second, short].map(({ id }) => `session:${id}`);
    expect(begun).toEqual([keys[2], keys[0]]);
    for (let turn = 0; turn < 3; turn++) {
      for (const gate of gates.splice(0)) gate.resolve();
      await settle();
    }
    await Promise.all(saved);
    // What was wanted three times was written twice.
    expect(begun.toSorted()).toEqual([keys[0], keys[0], keys[1], keys[2]].toSorted());
    const hurried = a.flush();
    await settle();
    expect(begun).toHaveLength(7);
    for (const gate of gates.splice(0)) gate.resolve();
    await hurried;
  });

  test("has an id of 128 random bits", async () => {
    const { create } = await rig();
    const ids = await Promise.all(Array.from({ length: 64 }, create));
    const digits = ids.map(({ id }) => id.replaceAll("-", ""));
    expect(digits.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
    for (let place = 0; place < 32; place++) expect(new Set(digits.map((id) => id[place])).size).toBeGreaterThan(1);
  });

  test("costs no trip for being used, but one now and then, and lives for its idle time", async () => {
    const { a, create, trips, time, memory } = await rig({ idleMs: 10 * MINUTE });
    const session = await create();
    const before = trips.length;
    for (let n = 0; n < 1000; n++) a.find(session.id, ME);
    await settle();
    expect(trips.length).toBe(before);
    for (let second = 0; second < 120; second++) {
      time.advance(1000);
      a.find(session.id, ME);
      await settle();
    }
    const writes = trips.slice(before).length;
    expect([writes >= 2, writes <= 4]).toEqual([true, true]);
    expect(JSON.parse((await memory.entries.get(`session:${session.id}`))?.value ?? "{}")).toMatchObject({
      principal: "me",
      isEntered: false,
    });
  });

  test("ends at its age wherever it has moved, and neither it nor its outbox is kept longer [AP-112]", async () => {
    const { a, b, create, move, memory, time, ttls } = await rig({ maxAgeMs: HOUR, idleMs: 2 * HOUR });
    const session = await create();
    time.advance(50 * MINUTE);
    a.notice({ from: "p", to: { session: session.id }, method: "x", payload: session.capabilities });
    await a.save(session);
    await settle();
    expect(ttls.length).toBeGreaterThan(1);
    expect(ttls.every((ttlMs) => ttlMs <= 10 * MINUTE)).toBe(true);
    a.forgetAll();
    await memory.members.leave("a");
    expect(await move(session)).toMatchObject({ type: "here" });
    time.advance(11 * MINUTE);
    expect(b.size).toBe(0);
    expect(await memory.entries.get(`session:${session.id}`)).toBeUndefined();
  });

  test("is the same for all who look for it at once", async () => {
    const { a, b, create, move, memory, departures } = await rig();
    const session = await create();
    expect(await move(session)).toEqual({ type: "elsewhere", home: { id: "a", address: "a" } });
    a.forgetAll();
    expect(departures).toEqual(["moved"]);
    await memory.members.leave("a");
    const found = await Promise.all([move(session), move(session), move(session)]);
    expect(new Set(found.map((one) => (one.type === "here" ? one.session : undefined))).size).toBe(1);
    expect(b.size).toBe(1);
  });

  test("that could not be made ready is left to the next who asks", async () => {
    const { a, b, create, wanted, rebuilding, move, memory } = await rig();
    const session = await create();
    a.forgetAll();
    await memory.members.leave("a");
    const failing = { ...rebuilding, enter: () => Promise.reject(new Error("no")) };
    await expect(b.locate(wanted(session), failing)).rejects.toThrow("no");
    expect(b.size).toBe(0);
    expect(await move(session)).toMatchObject({ type: "here" });
  });

  test("is whose proof came last, where several wait for it to be taken over", async () => {
    const { a, b, create, wanted, rebuilding, memory } = await rig();
    const session = await create();
    a.forgetAll();
    await memory.members.leave("a");
    const [first, second] = [{ ...ME }, { ...ME }];
    const located = await Promise.all(
      [first, second].map((principal) => b.locate({ ...wanted(session), principal }, rebuilding)),
    );
    expect(located.map((one) => one.type === "here" && one.session.principal === second)).toEqual([true, true]);
    expect(b.size).toBe(1);
  });

  test("is nobody's when whoever takes it over is revoked meanwhile", async () => {
    const { a, b, create, wanted, rebuilding, memory } = await rig();
    const session = await create();
    a.forgetAll();
    await memory.members.leave("a");
    const enter = async () => b.endWhere(({ principal }) => principal.id === ME.id, "revoked");
    await expect(b.locate(wanted(session), { ...rebuilding, enter })).rejects.toThrow();
    expect(b.size).toBe(0);
    await settle();
    expect(await memory.entries.get(`session:${session.id}`)).toBeUndefined();
  });

  test("is written once for all who change it meanwhile, with the last of what it is", async () => {
    const { a, create, trips, memory } = await rig();
    const session = await create();
    const before = trips.length;
    const saves: (Promise<void> | undefined)[] = [];
    for (const level of ["debug", "info", "error"]) {
      session.logLevel = level;
      saves.push(a.save(session));
    }
    await Promise.all(saves);
    expect(trips.slice(before)).toEqual(["put", "put"]);
    expect(JSON.parse((await memory.entries.get(`session:${session.id}`))?.value ?? "{}").logLevel).toBe("error");
  });

  test("leaves nothing behind when it ends, whatever was on its way", async () => {
    const { a, create, memory } = await rig();
    const session = await create();
    a.notice({ from: "p", to: { session: session.id }, method: "x", payload: session.capabilities });
    a.end(session);
    await settle();
    expect(await memory.entries.get(`session:${session.id}`)).toBeUndefined();
    expect(await memory.logs.read(`outbox:${session.id}`, 0)).toEqual([]);
  });

  test("that no client knows by name is never shared, and has no age", async () => {
    const { a, trips, time, departures } = await rig({ maxAgeMs: HOUR, idleMs: 3 * HOUR });
    const voice = { ended: (_: Session, reason: string) => void departures.push(reason) } as unknown as Voice;
    const declared = { capabilities: a.intern("{}"), clientInfo: a.intern("{}") };
    const session = a.create({
      voice,
      principal: ME,
      catalog: "",
      protocol: "x",
      canBeAsked: false,
      isUnnamed: true,
      ...declared,
    });
    await a.keep(session);
    expect([trips, a.save(session)]).toEqual([[], undefined]);
    time.advance(2 * HOUR);
    expect(departures).toEqual([]);
    a.close();
    expect(departures).toEqual(["ended"]);
  });
});
