import { beforeEach, describe, expect, test } from "vitest";
import { type ApprovalRig, person } from "../../tests/kit/approval-rig.ts";
import { HeldRig, settle } from "../../tests/kit/held-rig.ts";
import { type Approval, type Evidence, payload, type Run, type SessionRef } from "../contract/index.ts";

let held: HeldRig;
let rig: ApprovalRig;

async function build(evidence?: Evidence): Promise<void> {
  held = await HeldRig.make(evidence);
  rig = held.rig;
}

const start: HeldRig["start"] = (args, more) => held.start(args, more);
const waiting = () => held.waiting();
const approve = (approval: Approval) => held.approve(approval);
const made = () => held.made;

function client(capabilities: string): SessionRef {
  return {
    id: "s",
    principal: person("agent"),
    catalog: "",
    protocol: "2025-11-25",
    capabilities: payload(capabilities),
    clientInfo: payload("{}"),
    canBeAsked: true,
    isEphemeral: false,
  };
}

describe("the user of a session", () => {
  const session = () => client('{"elicitation":{}}');
  const decide = (run: Run, approval: Approval, answer: string) => {
    const key = `approval ${approval.id}`;
    run.reply({ type: "answer", answers: [{ key, outcome: "result", payload: payload(answer) }] });
    return settle();
  };

  beforeEach(() => build("session_user"));

  test("is asked on the call's own stream, and the call is made when it confirms", async () => {
    const { seen, run } = start('{"valve":"é"}'.replace("é", Buffer.from("é").toString("latin1")), {
      session: session(),
    });
    const approval = await waiting();
    const [ask] = seen.of("ask")[0]?.asks ?? [];
    const question = ask?.input.value();
    expect(question).toMatchObject({
      requestedSchema: { properties: { decision: { enum: ["confirm", "cancel"] } } },
    });
    expect(JSON.stringify(question)).toContain(
      'plant.open does something that may not be taken back. It would be called with: {\\"valve\\":\\"é\\"}',
    );
    expect(made()).toEqual([]);
    await decide(run, approval, '{"action":"accept","content":{"decision":"confirm"}}');
    expect(made()).toHaveLength(1);
    expect(made()[0]?.replies).toEqual([]);
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "consumed", given: "session_user" });
  });

  test.each([
    ["cancels", '{"action":"accept","content":{"decision":"cancel"}}'],
    ["declines", '{"action":"decline"}'],
    ["closes the question", '{"action":"cancel"}'],
    ["says something else", '{"action":"accept","content":{"decision":"yes"}}'],
    ["says nothing", "{}"],
  ])("denies the call when it %s", async (_what, answer) => {
    const { seen, run } = start("{}", { session: session() });
    const approval = await waiting();
    await decide(run, approval, answer);
    expect(made()).toEqual([]);
    expect(seen.error?.code).toBe("NOT_ALLOWED");
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "denied" });
  });

  test("need not answer when an operator is faster", async () => {
    const { seen } = start("{}", { session: session() });
    await approve(await waiting());
    expect(made()).toHaveLength(1);
    expect(seen.of("notice")[0]).toMatchObject({ method: "notifications/cancelled" });
  });

  test("is not asked where its client cannot; then the call is held", async () => {
    const { seen, run } = start("{}", { session: session() });
    const { id } = await waiting();
    const fault = payload('{"code":-32601,"message":"no"}');
    run.reply({ type: "answer", answers: [{ key: `approval ${id}`, outcome: "fault", payload: fault }] });
    await settle();
    expect(seen.error).toBeUndefined();
    rig.time.advance(45_000);
    await settle();
    expect(seen.error?.code).toBe("CONFIRMATION_REQUIRED");
  });

  test.each(["{}", '{"elicitation":null}', '{"elicitation":{"url":{}}}'])(
    "is not asked by a client that declares %s",
    async (text) => {
      const { seen } = start("{}", { session: client(text) });
      await waiting();
      expect(seen.of("ask")).toEqual([]);
    },
  );

  const messageIn = (seen: ReturnType<typeof start>["seen"]) =>
    JSON.parse(seen.of("ask")[0]?.asks[0]?.input.at(["message"]) ?? '""') as string;

  test("is shown numbers as they are, and whatever hides", async () => {
    const { seen } = start('{"to":12345678901234567891,"amount":1e400,"x":"a\\u202e  b\\u200b"}', {
      session: session(),
    });
    await waiting();
    expect(messageIn(seen)).toContain(
      'called with: {"amount":1e400,"to":12345678901234567891,"x":"a\\u{202e}  b\\u{200b}"}',
    );
  });

  test("is asked by no form for a yes to what a form cannot show whole", async () => {
    const { seen } = start(`{"a":"${"x".repeat(2_000)}","z":"rm -rf /"}`, { session: session() });
    const approval = await waiting();
    expect(seen.of("ask")).toEqual([]);
    await approve(approval);
    expect(made()).toHaveLength(1);
  });

  test("is asked to open the page instead, where its client can", async () => {
    held.pages = "https://gateway.example";
    const both = client('{"elicitation":{"form":{},"url":{}}}');
    const { seen } = start(`{"a":"${"x".repeat(2_000)}"}`, { session: both });
    await waiting();
    expect(seen.of("ask")[0]?.asks[0]?.input.value()).toMatchObject({ mode: "url" });
  });

  test("is not asked where more than its word is needed", async () => {
    await build("operator");
    const { seen } = start("{}", { session: session() });
    await waiting();
    expect(seen.of("ask")).toEqual([]);
  });
});
