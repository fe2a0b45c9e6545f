import { beforeEach, describe, expect, test } from "vitest";
import { ApprovalRig, person } from "../../../tests/kit/approval-rig.ts";
import { type Approval, payload } from "../../contract/index.ts";
import { ShownInputs } from "./shown-inputs.ts";

const BYTES_OF_CHAR = 2;
const operator = person("ops", { role: "operator" });

let rig: ApprovalRig;
beforeEach(() => {
  rig = new ApprovalRig();
});

/** One of which `characters` are shown: half of them as its arguments, and half as what is sent beside them. */
function requestOf(characters: number, letter: string): Promise<Approval> {
  const half = `{"${letter}":"${"x".repeat(characters / 2 - `{"${letter}":""}`.length)}"}`;
  return rig.approvals.request({
    principal: person("agent"),
    target: { provider: "plant", kind: "tool", name: "open" },
    tool: "plant.open",
    input: payload(`{"name":"open","arguments":${half},${half.slice(1)}`),
    gate: { reason: "undeclared", evidence: "operator", capability: "{}" },
    definition: "",
  });
}

describe("ShownInputs", () => {
  test("makes what is decided about once, however often it is shown", async () => {
    const inputs = new ShownInputs();
    const approval = await rig.request('{"b":1,"a":2}');
    const first = inputs.of(approval);
    expect(first.given).toBe('{"a":2,"b":1}');
    expect(inputs.of({ ...approval })).toBe(first);
  });

  test("makes the text of it once for each use", async () => {
    const inputs = new ShownInputs();
    const [one, other] = [await rig.request('{"n":1}'), await rig.request('{"n":2}')];
    const made: string[] = [];
    const show = (use: string, approval: Approval) =>
      inputs.as(use, approval, ({ given }) => {
        made.push(`${use} of ${given}`);
        return `${use} ${given}`;
      });
    const shown = () => [show("page", one), show("json", one), show("page", other)];
    const expected = ['page {"n":1}', 'json {"n":1}', 'page {"n":2}'];
    expect([shown(), shown()]).toEqual([expected, expected]);
    expect(made).toEqual(['page of {"n":1}', 'json of {"n":1}', 'page of {"n":2}']);
  });

  test("forgets what was asked for longest ago where it takes more bytes than it may", async () => {
    const inputs = new ShownInputs(2 * 100 * BYTES_OF_CHAR);
    const [a, b, c] = [await requestOf(100, "a"), await requestOf(100, "b"), await requestOf(100, "c")];
    const [ofA, ofB] = [inputs.of(a), inputs.of(b)];
    // Asked for again, it is not the oldest any more.
    expect(inputs.of(a)).toBe(ofA);
    const ofC = inputs.of(c);
    expect([inputs.of(a), inputs.of(c)]).toEqual([ofA, ofC]);
    expect(inputs.of(a)).toBe(ofA);
    expect(inputs.of(c)).toBe(ofC);
    expect(inputs.of(b)).not.toBe(ofB);
  });

  test("counts the texts that were made of it, too", async () => {
    const inputs = new ShownInputs(2 * 100 * BYTES_OF_CHAR);
    const [a, b] = [await requestOf(60, "a"), await requestOf(60, "b")];
    const [ofA, ofB] = [inputs.of(a), inputs.of(b)];
    inputs.as("page", b, () => "x".repeat(80));
    expect(inputs.of(a)).toBe(ofA);
    expect(inputs.of(b)).toBe(ofB);
    inputs.as("json", b, () => "x");
    expect(inputs.of(b)).toBe(ofB);
    expect(inputs.of(a)).not.toBe(ofA);
  });

  test("keeps the one that is asked for, however long it is, until another is", async () => {
    const inputs = new ShownInputs(20 * BYTES_OF_CHAR);
    const [a, b] = [await requestOf(100, "a"), await requestOf(20, "b")];
    const ofA = inputs.of(a);
    expect(inputs.as("page", a, () => "x".repeat(100))).toHaveLength(100);
    expect(inputs.of(a)).toBe(ofA);
    inputs.of(b);
    expect(inputs.of(a)).not.toBe(ofA);
  });

  test("has the bytes of one that it was told to forget for others", async () => {
    const inputs = new ShownInputs(2 * 100 * BYTES_OF_CHAR);
    const [a, b, c] = [await requestOf(100, "a"), await requestOf(100, "b"), await requestOf(100, "c")];
    const [ofA, ofB] = [inputs.of(a), inputs.of(b)];
    inputs.forget(a.id);
    inputs.forget(a.id);
    inputs.of(c);
    expect(inputs.of(b)).toBe(ofB);
    expect(inputs.of(a)).not.toBe(ofA);
  });
});

describe("what is shown of an approval", () => {
  test.each<[string, (approval: Approval) => Promise<unknown>]>([
    ["denied", ({ id }) => rig.decider.decideAs(operator, id, "deny")],
    ["withdrawn", (approval) => rig.approvals.withdraw(approval)],
    [
      "expired",
      (approval) => {
        rig.time.advance(300_000);
        return rig.approvals.expire(approval);
      },
    ],
    [
      "consumed",
      async ({ id }) => {
        await rig.decider.decideAs(operator, id, "approve");
        await rig.approvals.consume((await rig.rows.get(id)) as Approval, "call");
      },
    ],
  ])("is forgotten when it is %s", async (state, end) => {
    const approval = await rig.request("{}", { evidence: "operator" });
    const shown = rig.approvals.inputs.of(approval);
    await end(approval);
    expect(await rig.rows.get(approval.id)).toMatchObject({ state });
    expect(rig.approvals.inputs.of(approval)).not.toBe(shown);
  });

  test("is there as long as somebody may use a yes", async () => {
    const approval = await rig.request("{}", { evidence: "operator" });
    const shown = rig.approvals.inputs.of(approval);
    await rig.decider.decideAs(operator, approval.id, "approve");
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "approved" });
    expect(rig.approvals.inputs.of(approval)).toBe(shown);
  });
});
