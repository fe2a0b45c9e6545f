/** Pages of others that want a yes to a call: in the browser of an operator, who has the page of the call open, too. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { GateObject } from "../e2e/approvals/valve-rig.ts";
import type { Visitor } from "./kit/browser.ts";
import { Site } from "./kit/site.ts";
import { ValveInBrowser } from "./kit/valve-in-browser.ts";

const plant = new ValveInBrowser();

type Attacked = AsyncDisposable & {
  readonly visitor: Visitor;
  readonly gate: GateObject;
  readonly link: string;
  /** What the form carries in this browser: more than an attacker can know. */
  readonly check: string;
};

/** An operator's browser in which the page of a call is open. */
async function attacked(): Promise<Attacked> {
  const { gate } = await plant.ask();
  const visitor = await plant.browser.visitor({ headers: plant.rig.as("operator").headers });
  const link = String(gate.confirm_url);
  await visitor.open(link);
  const check = await visitor.page.locator('input[name="check"]').first().getAttribute("value");
  return { visitor, gate, link, check: check ?? "", [Symbol.asyncDispose]: () => visitor[Symbol.asyncDispose]() };
}

const escaped = (html: string) => html.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

function form(link: string, check: string): string {
  return `<form method="post" action="${link}"><input name="check" value="${check}">
<input name="decision" value="approve"><button>Win a prize</button></form>`;
}

async function isUndecided({ gate }: Attacked): Promise<void> {
  const response = await fetch(
    new URL(`/api/approvals/${gate.confirmation_id}`, plant.rig.url),
    plant.rig.as("operator"),
  );
  expect(await response.json()).toMatchObject({ state: "waiting" });
  expect(plant.rig.made()).toEqual([]);
}

test.each([
  ["another site", "evil.example"],
  ["a neighbour on this machine", "127.0.0.1"],
])("a form on %s decides nothing, not even with the page's own word", async (_where, host) => {
  await using field = await attacked();
  const { visitor, link, check } = field;
  await using site = await Site.start({ "/": form(link, check) });
  await visitor.open(site.origin(host));
  expect(await visitor.press("Win a prize")).toBe(403);
  expect(visitor.page.url()).toBe(link);
  await isUndecided(field);
});

test("a form in a sandboxed frame, which has no origin, decides nothing", async () => {
  await using field = await attacked();
  const { visitor, link, check } = field;
  const frame = `<iframe sandbox="allow-forms allow-top-navigation" srcdoc="${escaped(form(link, check).replace("<form", '<form target="_top"'))}"></iframe>`;
  await using site = await Site.start({ "/": frame });
  await visitor.open(site.origin("127.0.0.1"));
  const pressed = () => visitor.page.frameLocator("iframe").getByRole("button").click();
  expect(await visitor.follow(pressed)).toBe(403);
  await isUndecided(field);
});

test("a neighbour who was sent the cookie, and makes the word of it, decides nothing", async () => {
  await using field = await attacked();
  const { visitor, link } = field;
  const [cookie] = await visitor.page.context().cookies(link);
  const name = new URL(link).pathname.slice("/approvals/".length);
  const made = createHash("sha256").update(`form ${name} ${cookie?.value}`).digest("base64url");
  expect(made).toBe(field.check);
  await using site = await Site.start({ "/approvals/prize": form(link, made) });
  await visitor.open(`${site.origin("127.0.0.1")}/approvals/prize`);
  expect(await visitor.press("Win a prize")).toBe(403);
  await isUndecided(field);
});

test.each(["evil.example", "127.0.0.1"])("the page is shown in no frame of %s", async (host) => {
  await using field = await attacked();
  const { visitor, link } = field;
  await using site = await Site.start({ "/": `<h1>Prizes</h1><iframe src="${link}"></iframe>` });
  await visitor.open(site.origin(host));
  expect(visitor.complaints.join("\n")).toMatch(/frame-ancestors|X-Frame-Options|refused to connect/);
  await expect(visitor.page.frameLocator("iframe").getByRole("button").count()).resolves.toBe(0);
});

test("the page runs no script and loads nothing, though the arguments try", async () => {
  const text = '<script>document.title="owned"</script><img src="http://evil.example/x" onerror="document.title=1">';
  const { gate } = await plant.ask({ text });
  await using visitor = await plant.browser.visitor({ headers: plant.rig.as("operator").headers });
  const asked: string[] = [];
  visitor.page.on("request", (request) => asked.push(request.url()));
  await visitor.open(String(gate.confirm_url));
  expect(asked.filter((url) => !url.endsWith("/favicon.ico"))).toEqual([gate.confirm_url]);
  expect(await visitor.page.title()).toBe("Approve plant.open?");
  // What is put into the page by other ways is refused by its policy.
  await visitor.page.evaluate(`document.body.insertAdjacentHTML("beforeend", '<img src="http://evil.example/y">')`);
  await visitor.page.evaluate(
    `document.body.append(Object.assign(document.createElement("script"), { text: "document.title = 'owned'" }))`,
  );
  expect(await visitor.page.title()).toBe("Approve plant.open?");
  expect(visitor.complaints.join("\n")).toMatch(/img-src[\s\S]*script-src/);
});

test("no other site is told the address of the page, which lets whoever has it read the call", async () => {
  await using field = await attacked();
  const { visitor } = field;
  await using site = await Site.start({ "/": "<h1>Prizes</h1>" });
  await visitor.page.evaluate(`location.href = ${JSON.stringify(site.origin())}`);
  await visitor.page.getByRole("heading", { name: "Prizes" }).waitFor();
  expect(site.referrers).toEqual([undefined]);
});
