/** What a newcomer sees on the page of the demo's call, in the browser that they have. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { gateOf } from "../e2e/approvals/valve-rig.ts";
import { type RunningGateway, startGateway } from "../e2e/kit/gateway.ts";
import { operatorToken } from "../e2e/kit/operator.ts";
import { runProgram } from "../e2e/kit/program.ts";
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

test("whoever signs in with a wrong token is told so above the form, and gets in with the right one", async () => {
  await using visitor = await browser.visitor();
  await ask(visitor);
  await fillToken(visitor, "wrong");
  expect(await visitor.press("Sign in")).toBe(403);
  expect(await visitor.page.getByRole("alert").textContent()).toContain("does not know this token");
  expect(await visitor.page.evaluate("document.activeElement.name")).toBe("token");
  await fillToken(visitor, operatorToken(demo.program.folder));
  expect(await visitor.press("Sign in")).toBe(200);
  expect(await visitor.text()).toContain("You are signed in as operator of default.");
  expect(visitor.complaints.filter((line) => !line.includes("403"))).toEqual([]);
});

test("the page says how to see the token, with a command that works, and of no other token", async () => {
  await using visitor = await browser.visitor();
  await ask(visitor);
  const text = await visitor.text();
  expect(text).not.toContain("token create");
  const [, words = ""] = /isthmus (operator token) prints yours/.exec(text) ?? [];
  const { stdout } = await runProgram(words.split(" "), { env: { HOME: demo.program.folder } });
  await fillToken(visitor, stdout);
  expect(await visitor.press("Sign in")).toBe(200);
});

test("of the buttons the yes stands out, and signing out does not; done leads to what still waits", async () => {
  await using visitor = await browser.visitor();
  await ask(visitor);
  await fillToken(visitor, operatorToken(demo.program.folder));
  await visitor.press("Sign in");
  const colorOf = async (name: string) => {
    const button = `[...document.querySelectorAll("button")].find((one) => one.textContent === "${name}")`;
    return await visitor.page.evaluate(`getComputedStyle(${button}).backgroundColor`);
  };
  const [yes, no, out] = [await colorOf("Approve"), await colorOf("Deny"), await colorOf("Sign out")];
  expect(yes).not.toBe(no);
  expect(out).toBe("rgba(0, 0, 0, 0)");
  await visitor.press("Approve");
  await visitor.follow(() => visitor.page.getByRole("link", { name: "The calls that still wait" }).click());
  expect(visitor.page.url()).toBe(`${demo.origin}/approvals/waiting`);
  expect(await visitor.text()).not.toContain("Sign in");
});

test("Enter signs in and decides nothing; the first button that Tab leads to is no yes", async () => {
  await using visitor = await browser.visitor();
  await ask(visitor);
  await fillToken(visitor, operatorToken(demo.program.folder));
  await visitor.page.keyboard.press("Enter");
  await visitor.page.getByText("You are signed in as operator of default.").waitFor();
  await visitor.page.keyboard.press("Enter");
  expect(gateOf(await call(`Ada ${number}`))).toMatchObject({ status: "confirmation_required" });
  await visitor.page.keyboard.press("Tab");
  expect(await visitor.page.evaluate("document.activeElement.textContent")).toBe("Deny");
  await visitor.page.keyboard.press("Enter");
  await visitor.page.getByText("Denied: the call is not made.").waitFor();
});
