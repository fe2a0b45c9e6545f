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
    const form = new URLSearchParams({ ticket: fieldIn(page, "ticket"), check: fieldIn(page, "check") }).toString();
    const path = link.replace(/\?.*/, "");
    const sent = await ask(request("POST", path, { cookie: `other=1; ${cookieIn(page)}` }, form));
    expect(sent.status).toBe(303);
    expect(sent.lines).toMatch(/^Location: https:\/\/issuer\.example\/authorize\?/);
  });

  test.each([
    ["no cookie", (form: string) => ["", form]],
    ["another browser's cookie", (form: string) => [`isthmus_consent=${"x".repeat(32)}`, form]],
    ["no check", (form: string, cookie: string) => [cookie, form.replace(/&check=.*/, "")]],
  ])("takes no form with %s", async (_what, change) => {
    const page = await ask(request("GET", link));
    const form = `ticket=${fieldIn(page, "ticket")}&check=${fieldIn(page, "check")}`;
    const [cookie = "", body = ""] = change(form, cookieIn(page));
    expect((await ask(request("POST", link.replace(/\?.*/, ""), { cookie }, body))).status).toBe(403);
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
