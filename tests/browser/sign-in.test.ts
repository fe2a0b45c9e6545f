/** The sign-in on the page of a call, in the browser that people have. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GateObject, gateOf, ValveRig } from "../e2e/approvals/valve-rig.ts";
import { TestBrowser, type Visitor } from "./kit/browser.ts";
import { Site } from "./kit/site.ts";

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

const call = (valve: string) => rig.call("plant.open", { valve }, rig.as("agent"));
const ask = async (): Promise<GateObject> => gateOf(await call(`v-${++number}`));

async function signIn(visitor: Visitor, { confirm_url }: GateObject, who = "operator"): Promise<number> {
  expect(await visitor.open(String(confirm_url))).toBe(200);
  await visitor.page.getByLabel("Token of an operator").fill(rig.tokens[who] ?? who);
  return await visitor.press("Sign in");
}

describe("an operator in their browser", () => {
  test("signs in, approves, and the call is made when it comes again", async () => {
    await using visitor = await browser.visitor();
    const gate = await ask();
    expect(await signIn(visitor, gate)).toBe(200);
    expect(visitor.page.url()).toBe(gate.confirm_url);
    expect(await visitor.text()).toContain("You are signed in as bob of default.");
    expect(await visitor.press("Approve")).toBe(200);
    expect(await visitor.text()).toContain("Approved");
    expect((await call(`v-${number}`)).result).toMatchObject({ content: [{ text: "did open" }] });
    expect(visitor.complaints).toEqual([]);
  });

  test("is still signed in at the page of the next call, and is not after signing out", async () => {
    await using visitor = await browser.visitor();
    await signIn(visitor, await ask());
    const next = await ask();
    await visitor.open(String(next.confirm_url));
    expect(await visitor.text()).toContain("You are signed in as bob of default.");
    expect(await visitor.press("Sign out")).toBe(200);
    expect(await visitor.text()).not.toContain("You are signed in as bob of default.");
  });

  test("leaves nothing of the token where a script could read it", async () => {
    await using visitor = await browser.visitor();
    await signIn(visitor, await ask());
    const cookies = await visitor.page.context().cookies();
    expect(cookies.find(({ name }) => name === "isthmus_operator")).toMatchObject({
      httpOnly: true,
      sameSite: "Strict",
      path: "/approvals/",
    });
    expect(JSON.stringify(cookies)).not.toContain(rig.tokens.operator);
    expect(await visitor.page.evaluate("document.cookie")).toBe("");
    expect(await visitor.page.content()).not.toContain(rig.tokens.operator);
  });

  test.each([
    ["a token that nobody has", "isth_wrong", "does not know this token"],
    ["the caller's own token", "agent", "not as an operator"],
  ])("is no operator with %s", async (_what, who, said) => {
    await using visitor = await browser.visitor();
    await signIn(visitor, await ask(), who);
    expect(await visitor.text()).toContain(said);
  });
});

test.each(["evil.example", "127.0.0.1"])(
  "a form of %s decides nothing in the browser of who is signed in",
  async (host) => {
    await using visitor = await browser.visitor();
    const gate = await ask();
    await signIn(visitor, gate);
    const check = await visitor.page.locator('input[name="check"]').first().getAttribute("value");
    const form = `<form method="post" action="${gate.confirm_url}"><input name="check" value="${check}">
<input name="decision" value="approve"><button>Win a prize</button></form>`;
    await using site = await Site.start({ "/": form });
    await visitor.open(site.origin(host));
    expect(await visitor.press("Win a prize")).toBe(403);
    expect((await call(`v-${number}`)).result).toMatchObject({ isError: true });
  },
);
