import { beforeEach, describe, expect, test } from "vitest";
import { type ApprovalRig, person } from "../../tests/kit/approval-rig.ts";
import { HeldRig, settle } from "../../tests/kit/held-rig.ts";
import { type Approval, type Evidence, payload, type Run, type SessionRef } from "../contract/index.ts";
import { confirmUrl } from "../mechanisms/approvals/index.ts";

const PAGES = "https://gateway.example";
const BOTH = '{"elicitation":{"form":{},"url":{}}}';

let held: HeldRig;
let rig: ApprovalRig;

async function build(evidence: Evidence = "external_proof"): Promise<void> {
  held = await HeldRig.make(evidence);
  held.pages = PAGES;
  rig = held.rig;
}

const linkOf = (approval: Approval) => confirmUrl(approval, { gateway: "", proofTypes: [], now: 0, pages: PAGES });

function client(more: Partial<SessionRef> = {}, capabilities = BOTH): SessionRef {
  return {
    id: "s",
    principal: person("agent"),
    catalog: "",
    protocol: "2025-11-25",
    capabilities: payload(capabilities),
    clientInfo: payload("{}"),
    canBeAsked: true,
    isEphemeral: false,
    ...more,
  };
}

const start = (session = client(), more: object = {}) => held.start("{}", { session, ...more });

async function answer(run: Run, { id }: Approval, body: string, outcome: "result" | "fault" = "result"): Promise<void> {
  run.reply({ type: "answer", answers: [{ key: `approval ${id}`, outcome, payload: payload(body) }] });
  await settle();
}

async function later(ms: number): Promise<void> {
  rig.time.advance(ms);
  await settle();
}

const noticesOf = ({ seen }: ReturnType<typeof start>) => seen.of("notice").map(({ method }) => method);

beforeEach(() => build());

describe("a client that opens pages", () => {
  test("is asked to open the one on which the call is decided, as soon as it waits", async () => {
    const { seen } = start();
    const approval = await held.waiting();
    expect(seen.of("ask").map(({ asks }) => asks.map(({ method, input }) => [method, input.value()]))).toEqual([
      [
        [
          "elicitation/create",
          {
            mode: "url",
            message: expect.stringContaining("plant.open"),
            elicitationId: approval.id,
            url: linkOf(approval),
          },
        ],
      ],
    ]);
  });

  test("hears that nothing is to be done on the page any more when it is decided there, and its call is made", async () => {
    const call = start();
    const approval = await held.waiting();
    await answer(call.run, approval, '{"action":"accept"}');
    await held.approve(approval);
    expect(held.made).toHaveLength(1);
    expect(call.seen.of("notice")).toMatchObject([
      { method: "notifications/elicitation/complete", payload: { text: `{"elicitationId":"${approval.id}"}` } },
    ]);
  });

  test.each([
    '{"action":"accept"}',
    '{"action":"accept","content":{"decision":"confirm"}}',
    '{"action":"accept","content":{"approved":true}}',
  ])("decides nothing by answering %s", async (body) => {
    const { seen, run } = start();
    const approval = await held.waiting();
    await answer(run, approval, body);
    expect(held.made).toEqual([]);
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "waiting" });
    await later(45_000);
    expect(held.made).toEqual([]);
    expect(seen.error).toMatchObject({
      code: "CONFIRMATION_REQUIRED",
      details: { gate: { confirm_url: linkOf(approval) } },
    });
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "waiting" });
  });

  test.each(['{"action":"decline"}', '{"action":"cancel"}', "{}"])(
    "takes its call back by answering %s",
    async (body) => {
      const { seen, run } = start();
      const approval = await held.waiting();
      await answer(run, approval, body);
      expect(seen.error).toMatchObject({ code: "NOT_ALLOWED", message: expect.stringContaining("withdrawn") });
      expect(await rig.rows.get(approval.id)).toMatchObject({ state: "withdrawn" });
      expect(await held.approve(approval)).toMatchObject({ reason: "already_withdrawn" });
      expect(held.made).toEqual([]);
      expect(rig.trail.types()).toContain("dev.isthmus.approval.withdrawn");
    },
  );

  test("takes back only its own call where another one waits for the same", async () => {
    const first = start();
    start(client({ id: "t" }));
    const approval = await held.waiting();
    await answer(first.run, approval, '{"action":"decline"}');
    expect(first.seen.error?.code).toBe("NOT_ALLOWED");
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "waiting" });
  });

  test("is not kept waiting longer than others, however late it answers", async () => {
    const { seen, run } = start();
    const approval = await held.waiting();
    await later(40_000);
    await answer(run, approval, '{"action":"accept"}');
    expect(seen.error).toBeUndefined();
    await later(5_000);
    expect(seen.error?.code).toBe("CONFIRMATION_REQUIRED");
  });

  test("need not answer when somebody decides first, or when it is told to come back", async () => {
    const first = start();
    await held.approve(await held.waiting());
    expect(held.made).toHaveLength(1);
    expect(noticesOf(first)).toEqual(["notifications/cancelled", "notifications/elicitation/complete"]);
    const second = start();
    await held.waiting();
    await later(45_000);
    expect(second.seen.error?.code).toBe("CONFIRMATION_REQUIRED");
    expect(noticesOf(second)).toEqual(["notifications/cancelled"]);
  });

  test("hears of a no as well", async () => {
    const call = start();
    const { id } = await held.waiting();
    await rig.decider.decideAs(person("bob", { role: "operator" }), id, "deny");
    await settle();
    expect(call.seen.error?.code).toBe("NOT_ALLOWED");
    expect(noticesOf(call)).toContain("notifications/elicitation/complete");
  });

  test("leaves no timer and no watcher behind, whichever way it ends", async () => {
    const before = rig.time.pending;
    const first = start();
    const approval = await held.waiting();
    await answer(first.run, approval, '{"action":"decline"}');
    const second = start();
    await held.waiting();
    second.run.cancel();
    await settle();
    rig.approvals.close();
    expect(rig.time.pending).toBe(before);
    expect(rig.watch.count(approval.id)).toBe(0);
  });
});

describe("a client without a session", () => {
  const modern = () => client({ isUnnamed: true, protocol: "2026-07-28" });

  test("thinks for as long as the approval lasts, and is kept waiting from its answer on", async () => {
    const { seen, run } = start(modern());
    const approval = await held.waiting();
    await later(200_000);
    expect(seen.error).toBeUndefined();
    await answer(run, approval, '{"action":"accept"}');
    await later(44_000);
    expect(seen.error).toBeUndefined();
    await later(1_000);
    expect(seen.error?.code).toBe("CONFIRMATION_REQUIRED");
  });

  test("is told that it took too long when the approval is over meanwhile", async () => {
    const { seen } = start(modern());
    await held.waiting();
    await later(300_000);
    expect(seen.error).toMatchObject({ code: "NOT_ALLOWED", message: expect.stringContaining("in time") });
    expect(held.made).toEqual([]);
  });
});

describe("a client that cannot be asked in the middle of a call", () => {
  const fault = '{"code":-32601,"message":"no"}';

  test("gets the page to open by itself at once, and is kept waiting when it calls again", async () => {
    const first = start();
    const approval = await held.waiting();
    await answer(first.run, approval, fault, "fault");
    const page = { mode: "url", elicitationId: approval.id, url: linkOf(approval) };
    expect(first.seen.error).toMatchObject({ code: "CONFIRMATION_REQUIRED", details: { visit: page } });
    await later(5_000);
    const second = start();
    await held.waiting();
    await answer(second.run, approval, fault, "fault");
    expect(second.seen.error).toBeUndefined();
    await held.approve(approval);
    expect(held.made).toHaveLength(1);
  });

  test("waits as a task where it takes one", async () => {
    const { seen, run } = start(client(), { mayDefer: true, life: "detached" });
    const approval = await held.waiting();
    await answer(run, approval, fault, "fault");
    await later(200_000);
    expect(seen.error).toBeUndefined();
  });
});

describe("nobody is asked to open a page", () => {
  test.each([
    "{}",
    '{"elicitation":{}}',
    '{"elicitation":{"form":{}}}',
    '{"elicitation":{"url":null}}',
    '{"elicitation":null}',
  ])("by a client that declares %s", async (capabilities) => {
    const { seen } = start(client({}, capabilities));
    await held.waiting();
    expect(seen.of("ask")).toEqual([]);
  });

  test("where the operator does not want it", async () => {
    held.asksForVisits = false;
    const { seen } = start();
    await held.waiting();
    expect(seen.of("ask")).toEqual([]);
  });

  test.each(["complete", "raw", "subscribe"] as const)(
    "in a call of the kind %s, in which nobody can be asked",
    async (verb) => {
      const { seen } = start(client(), { verb });
      await settle();
      expect(seen.of("ask")).toEqual([]);
    },
  );

  test("where there is none", async () => {
    held.pages = undefined;
    const { seen } = start();
    await held.waiting();
    expect(seen.of("ask")).toEqual([]);
  });

  test("where the user's own word is enough, and the client has a form for it", async () => {
    await build("session_user");
    const { seen } = start();
    await held.waiting();
    expect(seen.of("ask")[0]?.asks[0]?.input.at(["mode"])).toBe('"form"');
  });

  test("about a call that was approved before", async () => {
    start();
    const approval = await held.waiting();
    await later(45_000);
    await held.approve(approval);
    const { seen } = start();
    await settle();
    expect(held.made).toHaveLength(1);
    expect(seen.of("ask")).toEqual([]);
  });
});
