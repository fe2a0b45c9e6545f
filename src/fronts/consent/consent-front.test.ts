import { beforeEach, describe, expect, test, vi } from "vitest";
import { silentLog } from "../../../tests/kit/fake-host.ts";
import { type HttpRequest, type HttpResponse, LOCAL } from "../../contract/index.ts";
import { holder, OAuthRig, refusal } from "../../mechanisms/vault/upstream-oauth/fixtures/oauth-rig.ts";
import { type ConsentFront, createConsentFront } from "./consent-front.ts";

type Answer = { readonly status: number; readonly lines: string; readonly body: string };

let rig: OAuthRig;
let front: ConsentFront;
let link: string;

beforeEach(async () => {
  rig = new OAuthRig();
  const { desk } = rig;
  front = createConsentFront({
    desk,
    log: silentLog,
    gate: ({ headers }) => (headers.host === "evil" ? "host" : undefined),
  });
  link = await linkFor("<img src=x>");
});

async function linkFor(user: string, client = "client"): Promise<string> {
  const { details } = await refusal(rig.create(), holder(user, "s1", client));
  const { pathname, search } = new URL(String(details.url));
  return pathname + search;
}

function request(method: string, url: string, headers: Record<string, string> = {}, body = ""): HttpRequest {
  return {
    method,
    url,
    headers: { host: "gateway.example", ...headers },
    principal: LOCAL,
    clientAddress: undefined,
    body: (maxBytes, taker) => (body.length > maxBytes ? taker.onTooLarge() : taker.onBody(body)),
    discard: () => undefined,
  };
}

async function ask(asked: HttpRequest): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const nothing = vi.fn();
  const response: HttpResponse = {
    answer: (status, lines, body) => resolve({ status, lines, body }),
    answerParts: nothing,
    open: nothing,
    write: () => true,
    end: nothing,
    cut: nothing,
    onDrain: undefined,
    onClose: undefined,
    isOver: false,
  };
  front(asked, response);
  return await promise;
}

const cookieIn = ({ lines }: Answer) => /Set-Cookie: ([^;]+)/.exec(lines)?.[1] ?? "";
const fieldIn = ({ body }: Answer, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(body)?.[1] ?? "";

/** The form of a page, as its browser sends it. */
function send(page: Answer, headers = { cookie: cookieIn(page) }): Promise<Answer> {
  const fields = Object.fromEntries(["ticket", "place", "check"].map((name) => [name, fieldIn(page, name)]));
  return ask(request("POST", link.replace(/\?.*/, ""), headers, new URLSearchParams(fields).toString()));
}

describe("createConsentFront", () => {
  test("shows a page that nothing can be hidden in, and nobody can frame", async () => {
    const page = await ask(request("GET", link));
    expect(page.status).toBe(200);
    expect(page.body).toContain("&lt;img src=x&gt;");
    expect(page.body).not.toContain("<img");
    expect(page.lines).toContain("frame-ancestors 'none'");
    expect(page.lines).toContain("Cache-Control: no-store");
    expect(page.lines).toMatch(
      /Set-Cookie: isthmus_consent=[\w-]{32}; Path=\/oauth; Max-Age=600; HttpOnly; SameSite=Lax; Secure/,
    );
  });

  test("says all that tells whom it is for, and what in it cannot be seen", async () => {
    const zeroWidth = "ro\u{200b}ot";
    link = await linkFor(zeroWidth, "agent\u{202e}x");
    const { body } = await ask(request("GET", link));
    expect(body).toContain("<dt>User</dt><dd>ro\\u{200b}ot</dd>");
    expect(body).toContain("<dt>Client</dt><dd>agent\\u{202e}x</dd>");
    expect(body).toContain("<dt>Tenant</dt><dd>acme</dd>");
    expect(body).not.toContain(zeroWidth);
  });

  test("goes on to the issuer with the form of its own page, in the same browser", async () => {
    const page = await ask(request("GET", link));
    const sent = await send(page, { cookie: `other=1; ${cookieIn(page)}` });
    expect(sent.status).toBe(303);
    expect(sent.lines).toMatch(/^Location: https:\/\/issuer\.example\/authorize\?/);
  });

  test("names where one signs in, and is shown again when the server has named another place meanwhile", async () => {
    rig.create({ issuer: "https://issuer.example" });
    const page = await ask(request("GET", link));
    expect(page.body).toContain("You will sign in at <b>issuer.example</b>");
    const metadata = rig.issuer.documents["https://issuer.example/.well-known/oauth-authorization-server"] ?? {};
    Object.assign(metadata, { authorization_endpoint: "https://login.example/authorize" });
    const again = await send(page);
    expect(again).toMatchObject({ status: 200, body: expect.stringContaining("sign in at <b>login.example</b>") });
    expect((await send({ ...again, lines: page.lines })).lines).toMatch(/^Location: https:\/\/login\.example\//);
  });

  test("turns away whoever comes with a link of somebody who may not use the gateway any more, at each step", async () => {
    const page = await ask(request("GET", link));
    const { lines } = await send(page);
    const state = new URL(/Location: (\S+)/.exec(lines)?.[1] ?? "").searchParams.get("state") ?? "";
    rig.mayConsent = async () => false;
    rig.issuer.asked.length = 0;
    const expired = { status: 403, body: expect.stringContaining("This link is not good any more.") };
    expect(await ask(request("GET", link))).toMatchObject(expired);
    expect(await send(page)).toMatchObject(expired);
    const query = new URLSearchParams({ state, code: "c", iss: "https://issuer.example" });
    const back = request("GET", `/oauth/callback?${query}`, { cookie: cookieIn(page) });
    expect(await ask(back)).toMatchObject({ status: 400, body: expect.stringContaining("any more") });
    expect(rig.issuer.asked).toEqual([]);
    rig.mayConsent = () => Promise.reject(new Error("the store is away"));
    expect((await ask(request("GET", link))).status).toBe(500);
    expect((await send(page)).status).toBe(500);
  });

  test("is not shown where the issuer cannot be asked, and says why", async () => {
    rig.issuer.statuses["https://issuer.example/.well-known/oauth-authorization-server"] = 503;
    expect(await ask(request("GET", link))).toMatchObject({ status: 400, body: expect.stringContaining("HTTP 503") });
  });

  test.each([
    ["no cookie", (form: string) => ["", form]],
    ["another browser's cookie", (form: string) => [`isthmus_consent=${"x".repeat(32)}`, form]],
    ["no check", (form: string, cookie: string) => [cookie, form.replace(/&check=.*/, "")]],
  ])("takes no form with %s", async (_what, change) => {
    const page = await ask(request("GET", link));
    rig.issuer.asked.length = 0;
    const form = `ticket=${fieldIn(page, "ticket")}&check=${fieldIn(page, "check")}`;
    const [cookie = "", body = ""] = change(form, cookieIn(page));
    expect((await ask(request("POST", link.replace(/\?.*/, ""), { cookie }, body))).status).toBe(403);
    expect(rig.issuer.asked).toEqual([]);
  });

  test.each(["cross-site", "same-site", "none"])("takes no form that its browser calls %s", async (site) => {
    const page = await ask(request("GET", link));
    rig.issuer.asked.length = 0;
    const form = `ticket=${fieldIn(page, "ticket")}&check=${fieldIn(page, "check")}`;
    const headers = { cookie: cookieIn(page), "sec-fetch-site": site };
    expect((await ask(request("POST", link.replace(/\?.*/, ""), headers, form))).status).toBe(403);
    expect(rig.issuer.asked).toEqual([]);
  });

  test.each([
    ["GET", "/oauth/start/crm", 403],
    ["GET", "/oauth/start/%zz", 404],
    ["GET", "/oauth/start/", 404],
    ["GET", "/oauth/else", 404],
    ["GET", "/oauth/callback?state=x&code=y", 400],
    ["PUT", "/oauth/callback", 405],
    ["POST", "/oauth/callback", 405],
  ])("answers %s %s with %s", async (method, url, status) => {
    expect((await ask(request(method, url))).status).toBe(status);
  });

  test("keeps foreign hosts and large forms out", async () => {
    expect((await ask(request("GET", link, { host: "evil" }))).status).toBe(403);
    expect((await ask(request("POST", "/oauth/start/crm", {}, "x".repeat(20_000)))).status).toBe(413);
  });

  test("says what the gateway is as a client", async () => {
    const { lines, body } = await ask(request("GET", "/oauth/client.json"));
    expect(lines).toContain("application/json");
    expect(JSON.parse(body)).toMatchObject({
      client_id: "https://gateway.example/oauth/client.json",
      redirect_uris: ["https://gateway.example/oauth/callback"],
      token_endpoint_auth_method: "none",
      application_type: "web",
    });
  });
});
