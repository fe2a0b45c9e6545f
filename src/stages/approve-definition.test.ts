import { beforeEach, describe, expect, test } from "vitest";
import { type ApprovalRig, person } from "../../tests/kit/approval-rig.ts";
import { HeldRig, settle } from "../../tests/kit/held-rig.ts";
import { type Approval, payload } from "../contract/index.ts";

let held: HeldRig;
let rig: ApprovalRig;

const WRITTEN = '{"name":"open","description":"Opens a valve.","inputSchema":{"type":"object"}}';

/** The server says this of its tool from now on. */
function offer(definition: string): void {
  const primitives = [{ kind: "tool", name: "open", definition: payload(definition), repeatable: false }] as const;
  void held.provider.host?.offer("shared", [{ kind: "tool", primitives, extras: "" }]);
}

beforeEach(async () => {
  held = await HeldRig.make("external_proof");
  rig = held.rig;
  offer(WRITTEN);
});

const CHANGED: readonly [string, string][] = [
  ["description", '{"name":"open","description":"Opens all valves.","inputSchema":{"type":"object"}}'],
  ["schema", '{"name":"open","description":"Opens a valve.","inputSchema":{"type":"object","required":["x"]}}'],
  ["hints", `{"annotations":{"destructiveHint":false},${WRITTEN.slice(1)}`],
  ["capability", `{"_meta":{"x-mcpax-capability":{"reversible":true}},${WRITTEN.slice(1)}`],
  ["metadata", `{"_meta":{"com.example/scope":"all"},${WRITTEN.slice(1)}`],
  ["icons", `{"icons":[{"src":"https://example.com/safe.png"}],${WRITTEN.slice(1)}`],
  ["execution", `{"execution":{"taskSupport":"required"},${WRITTEN.slice(1)}`],
  ["members that nobody knows", `{"x-target":"production",${WRITTEN.slice(1)}`],
];

/** Why the gateway has ended approvals, as the trail has it. */
const whys = () =>
  rig.trail.events.filter(({ type }) => type === "dev.isthmus.approval.withdrawn").map(({ details }) => details?.why);

async function waitedOut(): Promise<Approval> {
  held.start("{}");
  const approval = await held.waiting();
  rig.time.advance(45_000);
  await settle();
  return approval;
}

describe("a tool whose definition changes", () => {
  test.each(CHANGED)(
    "in its %s, after the question: a yes does not count, and who waits is asked anew",
    async (_what, definition) => {
      const { seen } = held.start("{}");
      const asked = await held.waiting();
      offer(definition);
      expect(await held.approve(asked)).toMatchObject({ type: "refused", reason: "definition_changed" });
      const anew = await held.waiting();
      expect(anew.id).not.toBe(asked.id);
      expect(seen.error).toMatchObject({
        code: "CONFIRMATION_REQUIRED",
        details: { gate: { confirmation_id: anew.id } },
      });
      expect(held.made).toEqual([]);
      expect(whys()).toEqual(["definition changed"]);
    },
  );

  test.each(CHANGED)("in its %s, after the yes: a repeat is asked about anew", async (_what, definition) => {
    const asked = await waitedOut();
    expect(await held.approve(asked)).toMatchObject({ status: "approved" });
    offer(definition);
    held.start("{}");
    expect((await held.waiting()).id).not.toBe(asked.id);
    expect(held.made).toEqual([]);
    expect(whys()).toEqual(["definition changed"]);
  });

  test("where the process that takes the yes does not know it yet, is not called by the one that does", async () => {
    const { seen } = held.start("{}");
    const asked = await held.waiting();
    offer(CHANGED[0]?.[1] ?? "");
    const actor = { type: "operator", id: "alice" } as const;
    await rig.approvals.move(asked, { to: "approved", actor, by: "alice", given: "external_proof" });
    await settle();
    expect(held.made).toEqual([]);
    expect(seen.error).toMatchObject({ code: "CONFIRMATION_REQUIRED" });
    expect((await held.waiting()).id).not.toBe(asked.id);
    expect(whys()).toEqual(["definition changed"]);
  });

  test("only in how it is spelled keeps its yes", async () => {
    const asked = await waitedOut();
    offer('{"inputSchema":{"type":"object"}, "description":"Opens a valve\\u002e","name":"open"}');
    await held.approve(asked);
    held.start("{}");
    await settle();
    expect(held.made).toHaveLength(1);
  });

  test("can still be denied", async () => {
    const asked = await waitedOut();
    offer(CHANGED[0]?.[1] ?? "");
    const proof = { type: "operator_signature", format: "jws", value: await rig.proof(asked, {}, "deny") };
    expect(await rig.decider.confirm(person("relay"), { id: asked.id, decision: "deny", proof })).toMatchObject({
      status: "denied",
    });
  });
});
