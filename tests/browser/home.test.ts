/** What somebody sees who opens the address of the gateway in a browser. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { gateOf, ValveRig } from "../e2e/approvals/valve-rig.ts";
import { startGateway } from "../e2e/kit/gateway.ts";
import { TestBrowser } from "./kit/browser.ts";

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.start();
});
afterAll(() => browser[Symbol.asyncDispose]());

test("the page at / says what runs, and leads to the calls that wait", async () => {
  const more = '[[servers]]\nid = "gone"\ncommand = "there-is-no-such-program"\n';
  await using rig = await ValveRig.start({ more });
  gateOf(await rig.call("plant.open", { valve: "v-1" }));
  await using visitor = await browser.visitor();
  expect(await visitor.open(rig.gateway.origin)).toBe(200);
  expect(await visitor.page.title()).toBe("Isthmus");
  const text = await visitor.text();
  for (const told of [rig.url, "ready", /plant\s+up/, /gone\s+down/, "docs/guide"]) expect(text).toMatch(told);
  expect(await visitor.follow(() => visitor.page.getByRole("link", { name: "plant.open" }).click())).toBe(200);
  expect(await visitor.text()).toContain('"valve":"v-1"');
  expect(visitor.complaints).toEqual([]);
});

test("the page at / of the demo names its address, and a program is told the same", async () => {
  await using gateway = await startGateway();
  await using visitor = await browser.visitor();
  await visitor.open(`${gateway.origin}/`);
  expect(await visitor.text()).toMatch(/demo\s+up/);
  await visitor.follow(() => visitor.page.getByRole("link", { name: "/healthz" }).click());
  expect(await visitor.text()).toBe("ok");
  const told = await (await fetch(gateway.origin)).json();
  expect(told).toMatchObject({ name: "isthmus", status: "ready", mcp: gateway.url, servers: { demo: "ok" } });
});

test("with [auth] the page at / leads an operator to a sign-in, and from there to the calls that wait", async () => {
  const auth = '[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n';
  const tokens = { agent: "--user ada --client agent", operator: "--user bob --role operator", other: "--user eve" };
  await using rig = await ValveRig.start({ gate: 'hold = "50ms"\nevidence = "operator"', more: auth, tokens });
  gateOf(await rig.call("plant.open", { valve: "v-1" }, rig.as("agent")));
  await using visitor = await browser.visitor();
  const signIn = async (who: string) => {
    await visitor.page.getByLabel("Token of an operator").fill(rig.tokens[who] ?? who);
    return await visitor.press("Sign in");
  };
  await visitor.open(rig.gateway.origin);
  expect(await visitor.follow(() => visitor.page.getByRole("link", { name: "sign in" }).click())).toBe(200);
  expect(await visitor.text()).not.toContain("plant.open");
  expect(await signIn("other")).toBe(200);
  expect(await visitor.text()).toMatch(/You are known, but not as an operator/);
  expect(await visitor.text()).not.toContain("plant.open");
  await visitor.press("Sign out");
  expect(await signIn("operator")).toBe(200);
  await visitor.follow(() => visitor.page.getByRole("link", { name: "plant.open" }).click());
  expect(await visitor.text()).toContain("You are signed in as bob of default.");
  expect(await visitor.press("Approve")).toBe(200);
  await visitor.open(`${rig.gateway.origin}/approvals/waiting`);
  expect(await visitor.text()).toContain("Nothing waits for a yes.");
  expect(visitor.complaints).toEqual([]);
});

test("whoever is not known learns nothing from the page at / but that it is there", async () => {
  const auth = '[auth]\ntokens = true\nlocal = false\n[access]\ndefaultPolicy = "opt-out"\n';
  const tokens = { operator: "--user bob --role operator" };
  await using rig = await ValveRig.start({ more: auth, tokens });
  await rig.call("plant.open", {}, rig.as("operator"));
  await using visitor = await browser.visitor();
  expect(await visitor.open(rig.gateway.origin)).toBe(200);
  const text = await visitor.text();
  expect(text).toContain(rig.url);
  expect(text).not.toMatch(/plant|Version/);
  await using known = await browser.visitor({ headers: rig.as("operator").headers });
  await known.open(rig.gateway.origin);
  expect(await known.text()).toMatch(/Version/);
});
