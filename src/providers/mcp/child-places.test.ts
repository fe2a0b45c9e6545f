import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { LOCAL, type Principal } from "../../contract/index.ts";
import { type ChildPlace, ChildPlaces } from "./child-places.ts";

const caller = (id: string, user = id) => ({ id, identity: { ...LOCAL.identity, user, proof: "token" } }) as Principal;

const [ann, bob] = [caller("ann"), caller("bob")];

function rig(most: number) {
  const time = new ManualTime();
  const places = new ChildPlaces({ most, clock: time, timers: time });
  /** What has become of those who waited, in that order. */
  const told: string[] = [];
  return {
    time,
    told,
    take(principal: Principal, name = ""): ChildPlace {
      const place = places.take(principal);
      place.free?.then(
        () => told.push(`${name} enters`),
        (fault: Error) => told.push(`${name}: ${fault.message}`),
      );
      return place;
    },
    /** Starts a process, and ends it. */
    async pass(principal: Principal): Promise<void> {
      const place = places.take(principal);
      await place.free;
      place.leave();
    },
  };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("places of children", () => {
  test("a caller waits for the end of its own, and nobody else for them", async () => {
    const it = rig(8);
    const [first] = [it.take(ann), it.take(ann)];
    it.take(ann, "third");
    it.take(bob, "bob's");
    await settled();
    expect(it.told).toEqual(["bob's enters"]);
    first?.leave();
    await settled();
    expect(it.told).toEqual(["bob's enters", "third enters"]);
    expect(it.time.pending).toBe(0);
  });

  test("there are never more than all may have", async () => {
    const it = rig(4);
    const [first] = ["a", "b", "c", "d"].map((id) => it.take(caller(id)));
    it.take(caller("e"), "fifth");
    await settled();
    expect(it.told).toEqual([]);
    first?.leave();
    await settled();
    expect(it.told).toEqual(["fifth enters"]);
  });

  test("whoever starts them without a pause has some at once, and then one a second", async () => {
    const it = rig(16);
    for (let number = 0; number < 10; number++) await it.pass(ann);
    it.take(ann, "next").leave();
    it.take(ann, "one");
    it.take(ann, "two");
    it.take(bob, "bob's");
    it.time.advance(999);
    await settled();
    expect(it.told).toEqual(["next: The session was closed.", "bob's enters"]);
    it.time.advance(1);
    await settled();
    it.time.advance(1_000);
    await settled();
    expect(it.told.slice(2)).toEqual(["one enters", "two enters"]);
  });

  test("whoever gives up waiting takes no place", async () => {
    const it = rig(4);
    const first = it.take(ann);
    it.take(ann, "second").leave();
    first.leave();
    await settled();
    expect(it.told).toEqual(["second: The session was closed."]);
    expect(it.take(ann).free).toBeUndefined();
    expect(it.time.pending).toBe(0);
  });

  test("nobody waits for ever, and is told when to come back", async () => {
    const it = rig(4);
    it.take(ann);
    const refused = it.take(ann).free?.catch((fault: unknown) => fault);
    it.time.advance(10_000);
    expect(await refused).toMatchObject({
      failure: { kind: "full", error: { code: "OVERLOADED", details: { retryAfterMs: 10_000 } } },
    });
    expect(it.time.pending).toBe(0);
  });

  test("a place that is left twice is given back once", () => {
    const it = rig(4);
    const first = it.take(ann);
    first.leave();
    first.leave();
    expect(it.take(ann).free).toBeUndefined();
    expect(it.take(ann).free).toBeDefined();
  });
});
