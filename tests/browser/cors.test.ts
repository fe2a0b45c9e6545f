/** Web applications of other origins as MCP clients: those that the operator has listed, and those that nobody has. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { helloServer, type RunningGateway, startGateway } from "../e2e/kit/gateway.ts";
import { runProgram } from "../e2e/kit/program.ts";
import { bundleSdkPage } from "./clients/sdk-bundle.ts";
import { TestBrowser, type Visitor } from "./kit/browser.ts";
import { Site } from "./kit/site.ts";

const KINDS = ["v1", "v2-2025", "v2-2026"] as const;

type Used = { sessionId?: string; tools: string[]; steps: number[]; text: string };

let browser: TestBrowser;
let site: Site;
let gateway: RunningGateway;

beforeAll(async () => {
  browser = await TestBrowser.start();
  const page = '<!doctype html><link rel="icon" href="data:,"><script src="/app.js"></script>';
  site = await Site.start({ "/": page, "/app.js": await bundleSdkPage() });
  gateway = await startGateway({ config: `${listing()}${helloServer()}` });
});
afterAll(async () => {
  for (const part of [browser, site, gateway]) await part[Symbol.asyncDispose]();
});

/** `app.example` is listed; `evil.example` and names of this machine are not. */
function listing(more = ""): string {
  return `[gateway]\nallowedOrigins = ["${site.origin("app.example")}"]\n${more}\n`;
}

async function pageAt(host: string): Promise<Visitor> {
  const visitor = await browser.visitor();
  await visitor.open(site.origin(host));
  return visitor;
}

const useGateway = (visitor: Visitor, kind: string, url: string, token?: string) =>
  visitor.page.evaluate(`useGateway(${JSON.stringify({ kind, url, token })})`) as Promise<Used>;

/** What a page learns of one request: its status and some headers, or that it may not know. */
const fetched = (visitor: Visitor, url: string, init: object = {}) =>
  visitor.page.evaluate(`fetch(${JSON.stringify(url)}, ${JSON.stringify(init)}).then(
    async (response) => ({ status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() }),
    () => "network error")`) as Promise<
    "network error" | { status: number; headers: Record<string, string>; text: string }
  >;

describe.each(KINDS)("the SDK's client %s in a page", (kind) => {
  test("of a listed origin connects, lists, calls with progress, and leaves", async () => {
    await using visitor = await pageAt("app.example");
    const used = await useGateway(visitor, kind, gateway.url);
    expect(used).toMatchObject({ tools: ["hello.greet", "hello.add", "hello.count"], text: "Counted to 3." });
    expect(used.steps).toEqual([1, 2, 3]);
    if (kind === "v2-2026") expect(used.sessionId).toBeUndefined();
    else expect(used.sessionId).toMatch(/.{16,}/);
    expect(visitor.complaints).toEqual([]);
  });

  test.each(["evil.example", "127.0.0.1"])("of %s, which is not listed, gets nothing", async (host) => {
    await using visitor = await pageAt(host);
    await expect(useGateway(visitor, kind, gateway.url)).rejects.toThrow(/fetch|negotiation failed/);
    expect(visitor.complaints.join("\n")).toContain("CORS");
  });
});

describe("where callers must be known", () => {
  test("a page reads why it was turned away and where to get a token, and connects with one", async () => {
    const issuer = '[[auth.issuers]]\nurl = "https://login.example.com"\n';
    const auth = `[auth]\ntokens = true\nresource = "https://gw.example.com"\nsamePeople = ["tokens"]\n${issuer}[access]\ndefaultPolicy = "opt-out"\n`;
    const state = `${gateway.program.folder}/state`;
    const config = `${listing(`state = ${JSON.stringify(state)}`)}${auth}${helloServer()}`;
    const { stdout } = await runProgram(["token", "create", "--user", "ada"], { config });
    await using known = await startGateway({ config });
    await using visitor = await pageAt("app.example");
    const refused = await fetched(visitor, known.url, {
      method: "POST",
      body: "{}",
      headers: { "mcp-protocol-version": "2025-11-25" },
    });
    expect(refused).toMatchObject({ status: 401, headers: { "www-authenticate": expect.stringContaining("Bearer") } });
    const metadata = await fetched(visitor, `${known.origin}/.well-known/oauth-protected-resource/mcp`);
    expect(metadata).toMatchObject({ status: 200, text: expect.stringContaining("https://gw.example.com/mcp") });
    const used = await useGateway(visitor, "v1", known.url, stdout.trim());
    expect(used).toMatchObject({ text: "Counted to 3." });
  });
});

describe("a page of a listed origin", () => {
  test.each(["/api/servers", "/openapi.json", "/metrics", "/approvals/x", "/oauth/client.json"])(
    "cannot read %s: what is done to the gateway is not a client's",
    async (path) => {
      await using visitor = await pageAt("app.example");
      expect(await fetched(visitor, `${gateway.origin}${path}`)).toBe("network error");
    },
  );

  test("reads errors as errors", async () => {
    await using visitor = await pageAt("app.example");
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const broken = await fetched(visitor, gateway.url, { method: "POST", headers, body: "{" });
    expect(broken).toMatchObject({ status: 400, text: expect.stringContaining('"jsonrpc":"2.0"') });
    expect(
      await fetched(visitor, `${gateway.origin}/nothing/mcp`, { method: "POST", headers, body: "{}" }),
    ).toMatchObject({ status: 404 });
    expect(await fetched(visitor, gateway.url, { method: "PUT", headers })).toBe("network error");
  });
});
