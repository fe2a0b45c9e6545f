import { afterAll, beforeAll, expect, test } from "vitest";
import { fresh, joinMember, LONG_MS, SHORT_MS, type SharedStateRig, type StartRig } from "./shared-state-rig.ts";

export function membersSuite(start: StartRig): void {
  let rig: SharedStateRig;
  beforeAll(async () => {
    rig = await start();
  });
  afterAll(() => rig.close());

  test("a member is found by others until it leaves", async () => {
    const { here, there } = rig;
    const id = fresh("member");
    await here.members.join({ id, address: "10.0.0.1:7070" }, LONG_MS);
    expect(await there.members.find(id)).toEqual({ id, address: "10.0.0.1:7070" });
    expect(await there.members.list()).toContainEqual({ id, address: "10.0.0.1:7070" });
    await here.members.leave(id);
    expect(await there.members.find(id)).toBeUndefined();
    expect((await there.members.list()).map((member) => member.id)).not.toContain(id);
  });

  test("a member without a listener has an empty address", async () => {
    const id = await joinMember(rig.here, "");
    expect(await rig.there.members.find(id)).toEqual({ id, address: "" });
  });

  test("a lease that is renewed goes on, at its new length", async () => {
    const { here, there } = rig;
    const id = fresh("member");
    await here.members.join({ id, address: "" }, SHORT_MS * 50);
    expect(await here.members.renew(id, LONG_MS)).toBe(true);
    await rig.elapse(SHORT_MS * 2);
    expect(await there.members.find(id)).toBeDefined();
  });

  test("a lease that is over is not renewed", async () => {
    const { here, there } = rig;
    const id = fresh("member");
    await here.members.join({ id, address: "" }, SHORT_MS);
    await rig.elapse(SHORT_MS * 2);
    expect(await there.members.find(id)).toBeUndefined();
    expect(await here.members.renew(id, LONG_MS)).toBe(false);
    expect(await there.members.find(id)).toBeUndefined();
    expect((await there.members.list()).map((member) => member.id)).not.toContain(id);
  });

  test("who has left, or was never there, cannot renew", async () => {
    const id = await joinMember(rig.here);
    await rig.here.members.leave(id);
    expect(await rig.here.members.renew(id, LONG_MS)).toBe(false);
    expect(await rig.here.members.renew(fresh("nobody"), LONG_MS)).toBe(false);
  });
}
