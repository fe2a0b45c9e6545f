/** What a newcomer sees on the page of the demo's call, in the browser that they have. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { gateOf } from "../e2e/approvals/valve-rig.ts";
import { type RunningGateway, startGateway } from "../e2e/kit/gateway.ts";
import { operatorToken } from "../e2e/kit/operator.ts";
import { post, toolCall } from "../e2e/kit/rpc.ts";
import { TestBrowser, type Visitor } from "./kit/browser.ts";

let browser: TestBrowser;
let demo: RunningGateway;
let number = 0;

beforeAll(async () => {
  browser = await TestBrowser.start();
  demo = await startGateway();
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await demo[Symbol.asyncDispose]();
});

const call = async (name: string) => (await post(demo.url, toolCall(1, "demo.forget", { name }))).messages.at(-1) ?? {};
const ask = async (visitor: Visitor) => {
  const { confirm_url } = gateOf(await call(`Ada ${++number}`));
  expect(await visitor.open(String(confirm_url))).toBe(200);
};
const fillToken = (visitor: Visitor, token: string) => visitor.page.getByLabel("Token of an operator").fill(token);

test("the demo's page asks for nothing that needs a key, and says in plain words why the call waits", async () => {
  await using visitor = await browser.visitor();
  await ask(visitor);
  const text = await visitor.text();
  expect(text).toContain("the tool says that what it does cannot be taken back");
  expect(text).not.toMatch(/proof|gate\.anchors|irreversible_mutable/);
  expect(await visitor.page.getByLabel("Proof").count()).toBe(0);
});

test("whoever signed in with a wrong token gets back to the sign-in by a link, and in with the right one", async () => {
  await using visitor = await browser.visitor();
  await ask(visitor);
  await fillToken(visitor, "wrong");
  expect(await visitor.press("Sign in")).toBe(403);
  await visitor.page.getByRole("link", { name: "Sign in with another one" }).click();
  await fillToken(visitor, operatorToken(demo.program.folder));
  expect(await visitor.press("Sign in")).toBe(200);
  expect(await visitor.text()).toContain("You are operator.");
  expect(visitor.complaints.filter((line) => !line.includes("403"))).toEqual([]);
});

test("Enter signs in and decides nothing; the first button that Tab leads to is no yes", async () => {
  await using visitor = await browser.visitor();
  await ask(visitor);
  await fillToken(visitor, operatorToken(demo.program.folder));
  await visitor.page.keyboard.press("Enter");
  await visitor.page.getByText("You are operator.").waitFor();
  await visitor.page.keyboard.press("Enter");
  expect(gateOf(await call(`Ada ${number}`))).toMatchObject({ status: "confirmation_required" });
  await visitor.page.keyboard.press("Tab");
  expect(await visitor.page.evaluate("document.activeElement.textContent")).toBe("Deny");
  await visitor.page.keyboard.press("Enter");
  await visitor.page.getByText("Denied: the call is not made.").waitFor();
});
