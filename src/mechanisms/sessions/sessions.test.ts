import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { who } from "../../../tests/kit/policy-rig.ts";
import { KeptLog, KeptMeter } from "../../../tests/kit/quiet.ts";
import { ANONYMOUS, type Ask, LOCAL, type Notice, payload, type Run, type Slices } from "../../contract/index.ts";
import type { Session, SessionOpening, Voice } from "./session.ts";
import { createSessions, type SessionsOptions } from "./sessions.ts";

const ME = { id: "me" };
const ASK: Ask = { key: "k", kind: "roots", method: "roots/list", input: payload("{}") };
const MINUTE = 60_000;

function rig(options: Partial<SessionsOptions> = {}) {
  const time = new ManualTime();
  const meter = new KeptMeter();
  const ended: Session[] = [];
  const voice: Voice = {
    notice: (_session, notice) => ({ type: "notice", text: notice.method }),
    listChanged: (_session, notice) => [{ type: "list_changed", text: notice.from, key: "lists" }],
    question: (session, id) => (session.canBeAsked ? `ask ${id}` : undefined),
    withdrawal: (id) => `never mind ${id}`,
    ended: (session) => ended.push(session),
  };
  const sessions = createSessions({ clock: time, timers: time, log: new KeptLog(), meter, ...options });
  const create = (more: Partial<SessionOpening> = {}) =>
    sessions.create({
      voice,
      principal: ME,
      catalog: "",
      protocol: "x",
      capabilities: sessions.intern('{"roots":{}}'),
      clientInfo: sessions.intern('{"name":"t"}'),
      canBeAsked: true,
      ...more,
    });
  const listen = (session: Session) => {
    const got: string[] = [];
    const writer = {
      listener: LOCAL,
      canReplay: true,
      write: (text: string) => got.push(text) > 0,
      end: () => undefined,
    };
    sessions.outboxOf(session).open(writer);
    return { got, writer };
  };
  return { time, meter, ended, sessions, create, listen };
}

describe("what clients declare", () => {
  const declared = (bytes: number) => ({ capabilities: payload(`{"x":"${"x".repeat(bytes)}"}`) });

  test("is bounded in bytes for each caller and in all, and given back", () => {
    const { sessions, create } = rig({ maxKeptBytes: 400_000 });
    const [ann, bob] = [who("ann"), who("bob")];
    const first = create({ principal: ann, ...declared(60_000) });
    expect(() => create({ principal: ann, ...declared(60_000) })).toThrow("declare less");
    create({ principal: ann, ...declared(100) });
    create({ principal: bob, ...declared(60_000) });
    sessions.end(first);
    create({ principal: ann, ...declared(60_000) });
    for (let n = 0; n < 3; n++) create(declared(60_000));
    expect(() => create(declared(90_000))).toThrow("as fits here");
  });

  test("makes room by the end of idle ones before anybody is refused", () => {
    const { create, time, ended } = rig({ maxKeptBytes: 100_000, idleMs: 30_000 });
    const first = create(declared(60_000));
    time.advance(29_000);
    expect(() => create(declared(60_000))).toThrow("declare less");
    time.advance(1_000);
    create(declared(60_000));
    expect(ended).toEqual([first]);
  });
});

describe("notices to many", () => {
  const update = (pad: string): Notice => ({
    from: "p",
    to: { resource: "u" },
    method: "notifications/resources/updated",
    payload: payload(`{"uri":"u","pad":"${pad}"}`),
  });

  /** Slices that end after each step; `goOn` begins the next. */
  function steppedRig() {
    const turns: (() => void)[] = [];
    const slices: Slices = {
      async run(steps) {
        for (;;) {
          const { done, value } = steps.next();
          if (done) return value;
          await new Promise<void>((resolve) => turns.push(resolve));
        }
      },
    };
    const goOn = async () => {
      for (const turn of turns.splice(0)) turn();
      await new Promise((resolve) => setImmediate(resolve));
    };
    const all = async () => {
      while (turns.length > 0) await goOn();
    };
    return { ...rig({ slices }), turns, goOn, all };
  }

  test("are told in slices, one after the other, and of one resource the last", async () => {
    const { sessions, create, listen, all, turns } = steppedRig();
    const heard = [1, 2, 3].map(() => {
      const session = create({
        voice: { ...create().voice, notice: (_session, { payload: { text } }) => ({ type: "notice", text }) },
      });
      sessions.subscribe(session, { provider: "p", own: "u", shown: "u" });
      return listen(session).got;
    });
    for (const pad of ["1", "2", "3"]) sessions.notice(update(pad));
    expect(heard.map(({ length }) => length)).toEqual([1, 0, 0]);
    expect(turns).toHaveLength(1);
    await all();
    for (const got of heard) expect(got).toEqual([update("1").payload.text, update("3").payload.text]);
  });

  test("wait in a bounded number and size, lists first, and what is dropped is counted", async () => {
    const { sessions, create, listen, all, meter } = steppedRig();
    const session = create();
    const { got } = listen(session);
    const to = { session: session.id };
    for (let n = 0; n < 3; n++) sessions.subscribe(create(), { provider: "p", own: "u", shown: "u" });
    sessions.notice(update("1"));
    sessions.notice({ from: "lists", to: { catalog: ["tool"] }, method: "", payload: payload("{}") });
    for (let n = 0; n < 1_500; n++) sessions.notice({ from: "p", to, method: `${n}`, payload: payload("{}") });
    for (let n = 0; n < 40; n++)
      sessions.notice({ from: "p", to, method: "big", payload: payload("x".repeat(1_000_000)) });
    await all();
    expect(got).toContain("lists");
    expect(got.filter((text) => text === "big")).toHaveLength(16);
    expect(meter.of("isthmus_notices_dropped_total too many")).toBe(1_500 + 40 - 16);
  });
});

describe("what sessions subscribe to", () => {
  const to = (own: string) => ({ provider: "p", own, shown: own });

  test("is one text for all of them", () => {
    const { sessions, create } = rig();
    const [first, second] = [create(), create()];
    const long = "x".repeat(8_000);
    for (const session of [first, second]) expect(sessions.subscribe(session, to(`${long}1`))).toBe(true);
    expect([...(first.subscriptions?.values() ?? [])]).toEqual([...(second.subscriptions?.values() ?? [])]);
    const before = process.memoryUsage().heapUsed;
    const all = Array.from({ length: 2_000 }, () => create());
    for (const session of all) sessions.subscribe(session, to(`${long}1`));
    expect((process.memoryUsage().heapUsed - before) / all.length).toBeLessThan(12_000);
  });

  test("is bounded in characters for each session whose client has its name, and given back", () => {
    const { sessions, create } = rig();
    const [session, line] = [create(), create({ isUnnamed: true })];
    const long = (at: number) => to(`${"x".repeat(8_000)}${at}`);
    let taken = 0;
    for (; sessions.hasRoomFor(session, [long(taken)]); taken++) sessions.subscribe(session, long(taken));
    expect(taken).toBe(Math.floor((256 * 1024) / 8_002));
    expect(sessions.hasRoomFor(session, [long(0)])).toBe(true);
    expect(
      sessions.hasRoomFor(
        line,
        Array.from({ length: 100 }, (_, at) => long(at)),
      ),
    ).toBe(true);
    sessions.unsubscribe(session, long(0));
    expect(sessions.hasRoomFor(session, [long(taken)])).toBe(true);
  });

  test("is bounded for each caller, so that none takes all from the others", () => {
    const { sessions, create } = rig({ maxKeptBytes: 400_000 });
    const [ann, bob] = [who("ann"), who("bob")];
    let taken = 0;
    const next = () => [create({ principal: ann }), to(`${"x".repeat(4_000)}${taken}`)] as const;
    for (let [session, wanted] = next(); sessions.hasRoomFor(session, [wanted]); [session, wanted] = next()) {
      sessions.subscribe(session, wanted);
      taken++;
    }
    expect(taken).toBeGreaterThan(2);
    expect(taken).toBeLessThan(8);
    expect(sessions.hasRoomFor(create({ principal: bob }), [to("y")])).toBe(true);
    sessions.endWhere(({ principal }) => principal === ann, "gone");
    expect(sessions.hasRoomFor(create({ principal: ann }), [to(`${"x".repeat(4_000)}`)])).toBe(true);
  });
});

describe("sessions", () => {
  test("are found by their own principal only", () => {
    const { sessions, create } = rig();
    const session = create();
    expect(sessions.find(session.id, ME)).toBe(session);
    expect(sessions.find(session.id, { id: "other" })).toBeUndefined();
    expect(sessions.find("none", ME)).toBeUndefined();
  });

  test("are their principal's as it was proved last", () => {
    const { sessions, create } = rig();
    const [first, second] = [who("ann", { tokenHash: "1" }), who("ann", { tokenHash: "2" })];
    const session = create({ principal: first });
    sessions.find(session.id, who("bob"));
    expect(session.principal).toBe(first);
    sessions.find(session.id, second);
    expect(session.principal).toBe(second);
    sessions.endWhere(({ principal }) => principal === first, "revoked");
    expect(session.isEnded).toBe(false);
    sessions.endWhere(({ principal }) => principal === second, "revoked");
    expect(session.isEnded).toBe(true);
  });

  test("expire when nobody uses them", () => {
    const { sessions, create, time, ended } = rig({ idleMs: 10 * MINUTE });
    const [used, idle] = [create(), create()];
    time.advance(9 * MINUTE);
    sessions.find(used.id, ME);
    time.advance(2 * MINUTE);
    expect(ended).toEqual([idle]);
    expect(sessions.size).toBe(1);
    time.advance(20 * MINUTE);
    expect([sessions.size, time.pending]).toEqual([0, 0]);
  });

  test("are looked at as often as their idle time asks for", () => {
    const { create, time, ended } = rig({ idleMs: 2_000 });
    const session = create();
    time.advance(4_100);
    expect(ended).toEqual([session]);
  });

  test("have their whole idle time after a long call", () => {
    const { create, time, ended } = rig({ idleMs: 2_000 });
    const session = create();
    const call = { run: undefined, abandon: () => undefined };
    session.addRunning("1", call);
    time.advance(9_900);
    session.dropRunning("1", call);
    time.advance(1_900);
    expect(ended).toEqual([]);
    time.advance(4_000);
    expect(ended).toEqual([session]);
  });

  test("do not expire while a call runs or a stream is open", () => {
    const { create, listen, time, ended, sessions } = rig({ idleMs: 10 * MINUTE });
    const [calling, listening] = [create(), create()];
    const run = { isEnded: false };
    calling.addRunning("1", { run: run as Run, abandon: () => undefined });
    const { writer } = listen(listening);
    time.advance(60 * MINUTE);
    expect(ended).toEqual([]);
    run.isEnded = true;
    sessions.outboxOf(listening).close(writer);
    time.advance(12 * MINUTE);
    expect(ended.length).toBe(2);
  });

  test("end at their age however busy they are", () => {
    const { create, listen, time, ended } = rig({ maxAgeMs: 5 * MINUTE });
    listen(create());
    time.advance(6 * MINUTE);
    expect(ended.length).toBe(1);
  });

  test("are bounded in number, and say so", () => {
    const { create } = rig({ maxSessions: 2 });
    create();
    create();
    expect(() => create()).toThrow("as many sessions as it can hold");
  });

  test("are bounded in number for each caller, so that none takes all from the others", () => {
    const { create, sessions } = rig({ maxSessions: 8 });
    const [ann, bob] = [who("ann"), who("bob")];
    const [first] = [create({ principal: ann }), create({ principal: ann })];
    expect(() => create({ principal: ann })).toThrow("as many sessions as one may have");
    create({ principal: bob });
    // Another token of the same caller gives nothing new, and takes nothing away.
    sessions.find(first.id, who("ann", { tokenHash: "2" }));
    expect(() => create({ principal: who("ann", { tokenHash: "2" }) })).toThrow("as many sessions as one may have");
    sessions.end(first);
    sessions.end(first);
    create({ principal: ann });
    expect(() => create({ principal: ann })).toThrow("as many sessions as one may have");
  });

  test.each([LOCAL, ANONYMOUS, ME])("may all be those of $id, who stands for everybody", (principal) => {
    const { create } = rig({ maxSessions: 8 });
    for (let n = 0; n < 8; n++) create({ principal });
    expect(() => create({ principal })).toThrow("as many sessions as it can hold");
  });

  test("make room by ending idle ones before they refuse", () => {
    const { create, time, sessions } = rig({ maxSessions: 1, idleMs: 30_000 });
    create();
    time.advance(45_000);
    create();
    expect(sessions.size).toBe(1);
  });

  test("of equal clients share what those declared, and hold no message alive", () => {
    const { sessions } = rig();
    const message = `{"params":{"capabilities":{"roots":{}}},"padding":"${"x".repeat(1000)}"}`;
    const first = sessions.intern(message.slice(26, 38));
    expect(sessions.intern('{"roots":{}}')).toBe(first);
  });

  test("cost under 4 KB each when idle", () => {
    const { create } = rig();
    create();
    const before = process.memoryUsage().heapUsed;
    const held = Array.from({ length: 10_000 }, () => create());
    expect((process.memoryUsage().heapUsed - before) / held.length).toBeLessThan(2048);
  });

  test("that end abandon their calls, reject their questions and tell their front, once", async () => {
    const { sessions, create, ended } = rig();
    const session = create();
    const abandoned: string[] = [];
    session.addRunning("1", { run: undefined, abandon: (reason) => abandoned.push(reason) });
    const asking = sessions.ask(session, ASK, new AbortController().signal);
    sessions.end(session, "over");
    sessions.end(session, "over");
    await expect(asking).rejects.toMatchObject({ code: "NOT_ALLOWED" });
    expect([abandoned, ended]).toEqual([["over"], [session]]);
  });

  test("all end when the registry closes, and no timer stays", () => {
    const { sessions, create, ended, time } = rig();
    create();
    create();
    sessions.close();
    sessions.close();
    expect([ended.length, sessions.size, time.pending]).toEqual([2, 0, 0]);
  });
});

describe("a notice", () => {
  test("goes to one session, a principal's sessions, or everybody whose lists changed", () => {
    const { sessions, create, listen } = rig();
    const [a, b, other] = [create(), create(), create({ principal: { id: "other" } })];
    const [toA, toB, toOther] = [listen(a).got, listen(b).got, listen(other).got];
    const tell = (to: Parameters<typeof sessions.notice>[0]["to"], method: string) =>
      sessions.notice({ from: "p", to, method, payload: payload("{}") });
    tell({ session: a.id }, "one");
    tell({ principal: "me" }, "mine");
    tell({ catalog: ["tool"] }, "");
    tell({ catalog: ["tool"], session: b.id }, "");
    expect([toA, toB, toOther]).toEqual([["one", "mine", "p"], ["mine", "p", "p"], ["p"]]);
  });

  test("for a session that is gone is counted", () => {
    const { sessions, meter } = rig();
    sessions.notice({ from: "p", to: { session: "gone" }, method: "x", payload: payload("{}") });
    expect(meter.of("isthmus_notices_dropped_total")).toBe(1);
  });

  test("about a resource goes to who subscribed to it or to a whole it is part of, at that provider", () => {
    const { sessions, create, listen } = rig();
    const session = create();
    const { got } = listen(session);
    const subscription = { provider: "p", shown: "s+doc://a", own: "doc://a" };
    expect([sessions.subscribe(session, subscription), sessions.subscribe(session, subscription)]).toEqual([
      true,
      false,
    ]);
    const tell = (from: string, resource: string) =>
      sessions.notice({ from, to: { resource }, method: `${from} ${resource}`, payload: payload("{}") });
    for (const uri of ["doc://a", "doc://a/b/c", "doc://ab", "doc://"]) tell("p", uri);
    tell("q", "doc://a");
    sessions.unsubscribe(session, subscription);
    tell("p", "doc://a");
    expect(got).toEqual(["p doc://a", "p doc://a/b/c"]);
  });
});

describe("a question outside calls", () => {
  test("is answered by the session it was put to", async () => {
    const { sessions, create, listen } = rig();
    const [session, other] = [create(), create()];
    const { got } = listen(session);
    const asking = sessions.ask(session, ASK, new AbortController().signal);
    expect(got).toEqual(["ask 1"]);
    expect(other.answer("1", "result", payload("{}"))).toBe(false);
    expect(session.answer("1", "result", payload('{"roots":[]}'))).toBe(true);
    expect(session.answer("1", "result", payload("{}"))).toBe(false);
    expect(await asking).toMatchObject({ key: "k", outcome: "result" });
  });

  test("is not allowed for who cannot be asked, is ephemeral or gone", async () => {
    const { sessions, create } = rig();
    const signal = new AbortController().signal;
    const gone = create();
    sessions.end(gone);
    for (const session of [create({ canBeAsked: false }), gone, sessions.ephemeral(create())]) {
      await expect(sessions.ask(session, ASK, signal)).rejects.toMatchObject({ code: "NOT_ALLOWED" });
    }
  });

  test("is taken back when the asker gives up: silently before it was sent, else by a word", async () => {
    const { sessions, create, listen } = rig();
    const session = create();
    const first = new AbortController();
    const unsent = sessions.ask(session, ASK, first.signal);
    first.abort();
    await expect(unsent).rejects.toMatchObject({ code: "CANCELLED" });
    const { got } = listen(session);
    const second = new AbortController();
    const sent = sessions.ask(session, ASK, second.signal);
    second.abort();
    await expect(sent).rejects.toMatchObject({ code: "CANCELLED" });
    expect(got).toEqual(["ask 2", "never mind 2"]);
  });
});
