/** How much a call may say that somebody must look through. */
import { beforeEach, describe, expect, test } from "vitest";
import { ApprovalRig } from "../../../tests/kit/approval-rig.ts";

const listOf = (count: number, one: (index: number) => string) => Array.from({ length: count }, (_, at) => one(at));
/** Of this many keys, and the two that the params have themselves: `name` and `arguments`. */
const keys = (count: number) => `{${listOf(count, (at) => `"k${at}":0`).join(",")}}`;
const items = (count: number) => `[${listOf(count, String).join(",")}]`;

let rig: ApprovalRig;
beforeEach(() => {
  rig = new ApprovalRig();
});

describe("a call that must be approved", () => {
  test.each([
    ["2,000 keys", keys(1_998)],
    ["2,000 keys at all depths together", `{"a":${keys(998)},"b":[${keys(998)}]}`],
    ["2,000 items in a list", `{"a":${items(2_000)}}`],
    ["2,000 items in all its lists together", `{"a":[${items(998)},${items(1_000)}]}`],
  ])("may have %s", async (_what, args) => {
    expect(await rig.request(args)).toMatchObject({ state: "waiting" });
  });

  test.each([
    ["2,001 keys", keys(1_999), "too many keys"],
    ["2,001 keys at all depths together", `{"a":${keys(998)},"b":[${keys(999)}]}`, "too many keys"],
    ["2,001 items in a list", `{"a":${items(2_001)}}`, "too many items in lists"],
    ["2,001 items in all its lists together", `{"a":[${items(999)},${items(1_000)}]}`, "too many items in lists"],
  ])("is refused with %s, and told how many it may have", async (_what, args, why) => {
    const bound = "A call that must be approved is read, and has at most 2000 keys and 2000 items in lists";
    await expect(rig.request(args)).rejects.toMatchObject({
      code: "BAD_CALL",
      message: expect.stringMatching(new RegExp(`^${bound}: ${why} at byte \\d+\\.$`)),
    });
    expect(await rig.rows.list({ limit: 10 })).toEqual([]);
  });

  test("is told of no bound where something else is wrong", async () => {
    await expect(rig.request('{"a":1,"a":2}')).rejects.toMatchObject({
      code: "BAD_CALL",
      message: expect.stringMatching(/^A call that must be approved is read: repeated key at byte \d+\.$/),
    });
  });
});
