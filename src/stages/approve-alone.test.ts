/** Calls that need a yes in a gateway that nobody reaches but its one client. */
import { beforeEach, describe, expect, test } from "vitest";
import { person } from "../../tests/kit/approval-rig.ts";
import { HeldRig, settle } from "../../tests/kit/held-rig.ts";
import { type Evidence, payload, type SessionRef } from "../contract/index.ts";

let held: HeldRig;

async function build(evidence: Evidence): Promise<void> {
  held = await HeldRig.make(evidence);
  held.isAlone = true;
  held.proofTypes = [];
}

const FORMS: SessionRef = {
  id: "s",
  principal: person("agent"),
  catalog: "",
  protocol: "2025-11-25",
  capabilities: payload('{"elicitation":{}}'),
  clientInfo: payload("{}"),
  canBeAsked: true,
  isEphemeral: false,
};

const REFUSED = {
  code: "NOT_ALLOWED",
  message:
    'plant.open needs a yes, and nobody can give one here: this gateway serves one client alone, without a page. Start "isthmus up" and connect to that one ("isthmus import CLIENT --connect url"), or change [gate] in the config.',
};

describe("a call that nobody can say yes to", () => {
  beforeEach(() => build("operator"));

  test.each([
    ["a client that shows nothing", {}],
    ["a client whose user's word is not enough", { session: FORMS }],
    ["a client that can come back later", { mayDefer: true }],
  ])("is refused at once, with what to do, for %s", async (_who, more) => {
    const { seen } = held.start("{}", more);
    await settle();
    expect(seen.error).toMatchObject(REFUSED);
    expect(seen.of("progress")).toEqual([]);
    expect(held.made).toEqual([]);
    expect(await held.rig.rows.list({ state: "waiting", limit: 1 })).toEqual([]);
    const [asked] = await held.rig.rows.list({ state: "withdrawn", limit: 1 });
    expect(asked).toMatchObject({ tool: "plant.open", decidedBy: "gateway" });
  });

  test("waits where a signature counts, and hears who brings it", async () => {
    held.proofTypes = ["operator_signature"];
    const { seen } = held.start("{}");
    const approval = await held.waiting();
    held.rig.time.advance(1);
    expect(seen.of("progress")[0]?.payload.text).toContain("mcpax/confirm");
    expect(seen.of("progress")[0]?.payload.text).not.toContain("isthmus approve");
    await held.approve(approval);
    expect(held.made).toHaveLength(1);
  });
});

describe("a call to which its own user may say yes", () => {
  beforeEach(() => build("session_user"));

  test("is put to the user whose client shows forms", async () => {
    const { seen } = held.start("{}", { session: FORMS });
    await held.waiting();
    expect(seen.of("ask")).toHaveLength(1);
    expect(seen.error).toBeUndefined();
  });

  test("is refused when the client turns out to show none", async () => {
    const { seen, run } = held.start("{}", { session: FORMS });
    const { id } = await held.waiting();
    const fault = payload('{"code":-32601,"message":"no"}');
    run.reply({ type: "answer", answers: [{ key: `approval ${id}`, outcome: "fault", payload: fault }] });
    await settle();
    expect(seen.error).toMatchObject(REFUSED);
  });
});
