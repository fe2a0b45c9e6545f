/** The page on which people decide about a call, in the browser that they have. */
import { describe, expect, test } from "vitest";
import type { Visitor } from "./kit/browser.ts";
import { type Asked, ValveInBrowser } from "./kit/valve-in-browser.ts";

const plant = new ValveInBrowser();

const opened = async (visitor: Visitor, { gate }: Asked) => {
  expect(await visitor.open(String(gate.confirm_url))).toBe(200);
};

describe("somebody with a key, whom the gateway does not know", () => {
  test.each([
    ["Approve", "approve", "Approved: the call is made when the caller makes it again.", "did open"],
    ["Deny", "deny", "Denied: the call is not made.", undefined],
  ])("reads what is asked, pastes a proof and presses %s", async (button, decision, said, text) => {
    await using visitor = await plant.browser.visitor();
    const asked = await plant.ask();
    await opened(visitor, asked);
    expect(await visitor.text()).toContain(`"valve":"${asked.valve}"`);
    await visitor.page.getByLabel("Proof").fill(plant.rig.proof(asked.gate, decision).value);
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
    await using visitor = await plant.browser.visitor({ headers: plant.rig.as("operator").headers });
    const asked = await plant.ask();
    await opened(visitor, asked);
    expect(await visitor.text()).toContain("Decide as yourself");
    expect(await visitor.press(button)).toBe(200);
    expect(await visitor.text()).toContain(said);
    expect(visitor.complaints).toEqual([]);
  });
});
