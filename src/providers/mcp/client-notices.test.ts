import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import type { Principal } from "../../contract/index.ts";
import { ClientNotices } from "./client-notices.ts";

const known = (user: string, id = user): Principal => ({
  id: `token:default/${user}/${id}`,
  identity: { tenant: "default", user, client: id, groups: [], scopes: [], role: undefined, proof: "token" },
});

/** `isTaken`: the server takes what it is told at once. */
function started(isTaken = true) {
  const time = new ManualTime();
  const said: string[] = [];
  const counted: string[] = [];
  const warned: object[] = [];
  const open: (() => void)[] = [];
  const log = { warn: (_text: string, fields: object) => warned.push(fields) } as never;
  const meter = { count: (_name: string, label: string) => counted.push(label) } as never;
  const notices = new ClientNotices({ clock: time, timers: time, meter, log });
  const take = (principal: Principal, words: number, session = principal.id) => {
    for (let word = 0; word < words; word++)
      notices.take({ id: session, principal }, () => {
        said.push(session);
        return isTaken ? Promise.resolve() : new Promise<void>((resolve) => open.push(resolve));
      });
  };
  const of = (session: string) => said.filter((one) => one === session).length;
  const settle = async () => {
    for (let turn = 0; turn < 600; turn++) await Promise.resolve();
  };
  return { time, said, counted, warned, open, take, of, settle };
}

const [ANN, BOB] = [known("ann"), known("bob")];

describe("what clients say outside requests", () => {
  test("is said at once while it is little, and leaves no timer", async () => {
    const { take, of, settle, time } = started();
    take(ANN, 5);
    await settle();
    expect([of(ANN.id), time.pending]).toEqual([5, 0]);
  });

  test("has few on the way at once: of a caller 8, of all 32, and the rest as the server takes them", async () => {
    const { take, of, open, said, settle } = started(false);
    take(ANN, 100);
    take(BOB, 3);
    expect([of(ANN.id), of(BOB.id)]).toEqual([8, 3]);
    for (let user = 0; user < 10; user++) take(known(`u${user}`), 10);
    expect(said).toHaveLength(32);
    for (const resolve of open.splice(0)) resolve();
    await settle();
    expect(said).toHaveLength(64);
    expect(of("token:default/u9/u9")).toBeGreaterThan(0);
  });

  test("comes 256 at once and then 64 a second; what waits is bounded, and the rest is counted and told of once", async () => {
    const { take, of, settle, time, counted, warned } = started();
    for (let turn = 0; turn < 50; turn++) {
      take(ANN, 20);
      await settle();
    }
    expect(of(ANN.id)).toBe(256);
    expect(counted).toEqual(new Array(1000 - 256 - 256).fill("too-many"));
    expect(warned).toEqual([{ principal: ANN.id }]);
    for (let ms = 0; ms < 1000; ms += 20) {
      time.advance(20);
      await settle();
    }
    expect(of(ANN.id)).toBeGreaterThanOrEqual(256 + 60);
    expect(of(ANN.id)).toBeLessThanOrEqual(256 + 64);
    take(BOB, 1);
    expect(of(BOB.id)).toBe(1);
  });

  test("is one caller's over all tokens and sessions of a user, and each session's where nobody is known", async () => {
    const { take, of } = started(false);
    take(ANN, 8, "s1");
    take(known("ann", "other"), 8, "s2");
    expect([of("s1"), of("s2")]).toEqual([8, 0]);
    const local: Principal = { id: "local" };
    take(local, 8, "l1");
    take(local, 8, "l2");
    expect([of("l1"), of("l2")]).toEqual([8, 8]);
  });

  test("that a server does not take makes nobody else wait for it when it fails", async () => {
    const { take, of, open, settle } = started(false);
    take(ANN, 9);
    open.shift()?.();
    await settle();
    expect(of(ANN.id)).toBe(9);
  });
});
