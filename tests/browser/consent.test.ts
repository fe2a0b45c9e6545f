/** The pages on which people let the gateway use a server in their name, with a real authorization server in between. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, Workspace } from "../e2e/identity/workspace.ts";
import { SessionClient } from "../e2e/upstream-auth/client.ts";
import { Issuer } from "../e2e/upstream-auth/issuer.ts";
import { ProtectedServer } from "../e2e/upstream-auth/protected-server.ts";
import { TestBrowser, type Visitor } from "./kit/browser.ts";
import { Site } from "./kit/site.ts";

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.start();
});
afterAll(() => browser[Symbol.asyncDispose]());

class ConsentRig implements AsyncDisposable {
  readonly issuer: Issuer;
  readonly client: SessionClient;
  readonly #parts: AsyncDisposableStack;

  private constructor(issuer: Issuer, client: SessionClient, parts: AsyncDisposableStack) {
    this.issuer = issuer;
    this.client = client;
    this.#parts = parts;
  }

  /** `host`: the name by which people reach the gateway. */
  static async start(host = "127.0.0.1"): Promise<ConsentRig> {
    const parts = new AsyncDisposableStack();
    const issuer = parts.use(await Issuer.start());
    const crm = parts.use(await ProtectedServer.start(issuer.url));
    const port = await freePort();
    const config = `[vault]\npublicUrl = "http://${host}:${port}"\n
[[servers]]\nid = "crm"\nurl = "${crm.url}"\n[servers.auth]\ntype = "oauth"\n`;
    const workspace = parts.use(new Workspace(config));
    const origin = await workspace.up(`127.0.0.1:${port}`);
    return new ConsentRig(issuer, await SessionClient.open(`${origin}/mcp`), parts);
  }

  async link(): Promise<string> {
    return await this.client.linkOf("crm.sign_in");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

/** What the issuer shows on its way: who comes is asked for a name, and to agree. */
async function agreeAtIssuer(visitor: Visitor, name: string): Promise<number> {
  const { page } = visitor;
  await page.getByPlaceholder("Enter any login").fill(name);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).waitFor();
  return await visitor.press("Continue");
}

describe.each([
  ["on the site of the gateway", "127.0.0.1"],
  ["of another site", "localhost"],
])("somebody who is sent to an issuer %s", (_where, host) => {
  test("reads for whom it is, presses Continue, agrees, and has the server's tools", async () => {
    await using rig = await ConsentRig.start(host);
    await using visitor = await browser.visitor();
    const link = await rig.link();
    expect(new URL(link).hostname).toBe(host);
    expect(await visitor.open(link)).toBe(200);
    expect(await visitor.text()).toContain("The gateway will use crm on behalf of");
    expect(visitor.complaints).toEqual([]);
    expect(await visitor.press("Continue")).toBe(200);
    expect(new URL(visitor.page.url()).origin).toBe(rig.issuer.url);
    expect(await agreeAtIssuer(visitor, "ann")).toBe(200);
    expect(await visitor.text()).toContain("crm can be used now.");
    await rig.client.sees("crm.whoami");
    expect(await rig.client.call("crm.whoami")).toBe("ann");
  });
});

describe("a page of others", () => {
  const form = (link: string, check: string) => {
    const { origin, pathname, searchParams } = new URL(link);
    return `<form method="post" action="${origin}${pathname}"><input name="ticket" value="${searchParams.get("ticket")}">
<input name="check" value="${check}"><button>Win a prize</button></form>`;
  };

  test.each(["evil.example", "127.0.0.1"])(
    "at %s sends nobody on to the issuer, though it has the link and the page's own word",
    async (host) => {
      await using rig = await ConsentRig.start();
      await using visitor = await browser.visitor();
      const link = await rig.link();
      await visitor.open(link);
      const check = (await visitor.page.locator('input[name="check"]').getAttribute("value")) ?? "";
      await using site = await Site.start({ "/": form(link, check) });
      await visitor.open(site.origin(host));
      expect(await visitor.press("Win a prize")).toBe(403);
      expect(await visitor.text()).toContain("This did not work");
    },
  );

  test("shows the page in no frame", async () => {
    await using rig = await ConsentRig.start();
    await using visitor = await browser.visitor();
    await using site = await Site.start({ "/": `<h1>Prizes</h1><iframe src="${await rig.link()}"></iframe>` });
    await visitor.open(site.origin("127.0.0.1"));
    expect(await visitor.page.frameLocator("iframe").getByRole("button").count()).toBe(0);
    expect(visitor.complaints.join("\n")).toMatch(/frame-ancestors|X-Frame-Options|refused to connect/);
  });
});

test("a browser that has not begun it brings nothing back", async () => {
  await using rig = await ConsentRig.start();
  await using visitor = await browser.visitor();
  await visitor.open(await rig.link());
  await visitor.press("Continue");
  await visitor.page.context().clearCookies({ name: "isthmus_consent" });
  expect(await agreeAtIssuer(visitor, "mallory")).toBe(400);
  expect(await visitor.text()).toContain("This did not work");
  expect(await rig.client.names()).toEqual(["crm.sign_in"]);
});
