/** How many calls may wait at once. */
import { beforeEach, describe, expect, test } from "vitest";
import { ApprovalRig, person } from "../../../tests/kit/approval-rig.ts";

let rig: ApprovalRig;
beforeEach(() => {
  rig = new ApprovalRig();
});

describe("a request", () => {
  test("is refused when the caller has too many that wait", async () => {
    for (let number = 0; number < 100; number++) await rig.request(`{"n":${number}}`);
    await expect(rig.request('{"n":100}')).rejects.toMatchObject({ code: "OVERLOADED" });
    await expect(rig.request('{"n":1}')).resolves.toMatchObject({ state: "waiting" });
  });

  test("is refused when the caller has too many that wait, also where all of them come at once", async () => {
    const asked = await Promise.allSettled(Array.from({ length: 150 }, (_, number) => rig.request(`{"n":${number}}`)));
    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(100);
    expect(asked.at(-1)).toMatchObject({ reason: { code: "OVERLOADED" } });
    expect(await rig.rows.count({ principal: "agent", state: "open" })).toBe(100);
    await expect(rig.request('{"n":100}', { principal: person("other") })).resolves.toMatchObject({ state: "waiting" });
  });

  test("is refused when the caller's user has too many that wait, with however many tokens at once; others ask on", async () => {
    const of = (number: number) => person(`token-${number}`, { user: "mallory" });
    const order = (number: number) => rig.request(`{"n":${number}}`, { principal: of(number % 4) });
    const asked = await Promise.allSettled(Array.from({ length: 300 }, (_, number) => order(number)));
    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(200);
    expect(asked.at(-1)).toMatchObject({ reason: { code: "OVERLOADED", message: expect.stringContaining("user") } });
    await expect(rig.request('{"n":1}', { principal: person("bob") })).resolves.toMatchObject({ state: "waiting" });
    await expect(
      rig.request('{"n":1}', { principal: person("x", { user: "mallory", tenant: "acme" }) }),
    ).resolves.toMatchObject({ state: "waiting" });
  });

  test("is refused when the caller's tenant has too many that wait, by however many callers; others ask on", async () => {
    const of = (id: string, tenant: string) => person(id, { tenant });
    const order = (number: number, tenant: string) =>
      rig.request(`{"n":${number}}`, { principal: of(`${tenant}-${number % 8}`, tenant) });
    const asked = await Promise.allSettled(Array.from({ length: 600 }, (_, number) => order(number, "acme")));
    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(500);
    expect(asked.at(-1)).toMatchObject({ reason: { code: "OVERLOADED" } });
    await expect(order(1, "other")).resolves.toMatchObject({ state: "waiting" });
    const platform = await Promise.allSettled(Array.from({ length: 600 }, (_, number) => order(number, "default")));
    expect(platform.filter(({ status }) => status === "rejected")).toEqual([]);
  });
});
