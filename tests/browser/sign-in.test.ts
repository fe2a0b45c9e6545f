/** The sign-in on the page of a call, in the browser that people have. */
import { describe, expect, test } from "vitest";
import type { Visitor } from "./kit/browser.ts";
import { Site } from "./kit/site.ts";
import { type Asked, ValveInBrowser } from "./kit/valve-in-browser.ts";

const plant = new ValveInBrowser();

async function signIn(visitor: Visitor, { gate }: Asked, who = "operator"): Promise<number> {
  expect(await visitor.open(String(gate.confirm_url))).toBe(200);
  await visitor.page.getByLabel("Token of an operator").fill(plant.rig.tokens[who] ?? who);
  return await visitor.press("Sign in");
}

describe("an operator in their browser", () => {
  test("signs in, approves, and the call is made when it comes again", async () => {
    await using visitor = await plant.browser.visitor();
    const asked = await plant.ask();
    expect(await signIn(visitor, asked)).toBe(200);
    expect(visitor.page.url()).toBe(asked.gate.confirm_url);
    expect(await visitor.text()).toContain("You are signed in as bob of default.");
    expect(await visitor.press("Approve")).toBe(200);
    expect(await visitor.text()).toContain("Approved");
    expect((await asked.again()).result).toMatchObject({ content: [{ text: "did open" }] });
    expect(visitor.complaints).toEqual([]);
  });

  test("is still signed in at the page of the next call, and is not after signing out", async () => {
    await using visitor = await plant.browser.visitor();
    await signIn(visitor, await plant.ask());
    const next = await plant.ask();
    await visitor.open(String(next.gate.confirm_url));
    expect(await visitor.text()).toContain("You are signed in as bob of default.");
    expect(await visitor.press("Sign out")).toBe(200);
    expect(await visitor.text()).not.toContain("You are signed in as bob of default.");
  });

  test("leaves nothing of the token where a script could read it", async () => {
    await using visitor = await plant.browser.visitor();
    await signIn(visitor, await plant.ask());
    const cookies = await visitor.page.context().cookies();
    expect(cookies.find(({ name }) => name === "isthmus_operator")).toMatchObject({
      httpOnly: true,
      sameSite: "Strict",
      path: "/approvals/",
    });
    expect(JSON.stringify(cookies)).not.toContain(plant.rig.tokens.operator);
    expect(await visitor.page.evaluate("document.cookie")).toBe("");
    expect(await visitor.page.content()).not.toContain(plant.rig.tokens.operator);
  });

  test.each([
    ["a token that nobody has", "isth_wrong", "does not know this token"],
    ["the caller's own token", "agent", "not as an operator"],
  ])("is no operator with %s", async (_what, who, said) => {
    await using visitor = await plant.browser.visitor();
    await signIn(visitor, await plant.ask(), who);
    expect(await visitor.text()).toContain(said);
  });
});

test.each(["evil.example", "127.0.0.1"])(
  "a form of %s decides nothing in the browser of who is signed in",
  async (host) => {
    await using visitor = await plant.browser.visitor();
    const asked = await plant.ask();
    await signIn(visitor, asked);
    const check = await visitor.page.locator('input[name="check"]').first().getAttribute("value");
    const form = `<form method="post" action="${asked.gate.confirm_url}"><input name="check" value="${check}">
<input name="decision" value="approve"><button>Win a prize</button></form>`;
    await using site = await Site.start({ "/": form });
    await visitor.open(site.origin(host));
    expect(await visitor.press("Win a prize")).toBe(403);
    expect((await asked.again()).result).toMatchObject({ isError: true });
  },
);
