/** The page on which people decide about a call, in the browser that they have. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GateObject, gateOf, ValveRig } from "../e2e/approvals/valve-rig.ts";
import { TestBrowser, type Visitor } from "./kit/browser.ts";

const AUTH = '[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n';
const TOKENS = { agent: "--user ada --client agent", operator: "--user bob --role operator" };

let browser: TestBrowser;
let rig: ValveRig;
let number = 0;

beforeAll(async () => {
  browser = await TestBrowser.start();
  rig = await ValveRig.start({ gate: 'hold = "50ms"\nevidence = "operator"', more: AUTH, tokens: TOKENS });
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await rig[Symbol.asyncDispose]();
});

type Asked = { readonly gate: GateObject; readonly again: () => ReturnType<ValveRig["call"]> };

/** A call that waits, and how its caller makes it again. */
async function ask(args: object = {}): Promise<Asked> {
  const valve = { valve: `v-${++number}`, ...args };
  const again = () => rig.call("plant.open", valve, rig.as("agent"));
  return { gate: gateOf(await again()), again };
}

const opened = async (visitor: Visitor, { gate }: Asked) => {
  expect(await visitor.open(String(gate.confirm_url))).toBe(200);
};

describe("somebody with a key, whom the gateway does not know", () => {
  test.each([
    ["Approve", "approve", "Approved: the call is made when the caller makes it again.", "did open"],
    ["Deny", "deny", "Denied: the call is not made.", undefined],
  ])("reads what is asked, pastes a proof and presses %s", async (button, decision, said, text) => {
    await using visitor = await browser.visitor();
    const asked = await ask();
    await opened(visitor, asked);
    expect(await visitor.text()).toContain(`"valve":"v-${number}"`);
    await visitor.page.getByLabel("Proof").fill(rig.proof(asked.gate, decision).value);
    expect(await visitor.press(button)).toBe(200);
    expect(await visitor.text()).toContain(said);
    const { result } = await asked.again();
    if (text !== undefined) expect(result).toMatchObject({ content: [{ text }] });
    else expect(result).not.toMatchObject({ content: [{ text: "did open" }] });
    expect(visitor.complaints).toEqual([]);
  });
});

describe("an operator whom the gateway knows", () => {
  test.each([
    ["Approve", "Approved"],
    ["Deny", "Denied"],
  ])("presses %s, and nothing else is needed", async (button, said) => {
    await using visitor = await browser.visitor({ headers: rig.as("operator").headers });
    const asked = await ask();
    await opened(visitor, asked);
    expect(await visitor.text()).toContain("Decide as yourself");
    expect(await visitor.press(button)).toBe(200);
    expect(await visitor.text()).toContain(said);
    expect(visitor.complaints).toEqual([]);
  });
});
