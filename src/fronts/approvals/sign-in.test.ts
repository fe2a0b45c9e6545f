import { beforeEach, describe, expect, test } from "vitest";
import { person } from "../../../tests/kit/approval-rig.ts";
import { type Approval, LOCAL } from "../../contract/index.ts";
import { type Answer, bob, checkIn, cookieIn, FORM, PAGES, PageRig } from "./fixtures/page-rig.ts";

let rig: PageRig;
let approval: Approval;
let shown: Answer;

beforeEach(async () => {
  rig = new PageRig();
  rig.tokens.set("bobs", bob);
  approval = await rig.request('{"valve":"v-3"}', { evidence: "operator" });
  shown = await rig.open(approval);
});

const signIn = (token: string) => rig.send(approval, shown, { sign: "in", token });

/** The cookies of a browser that has signed in. */
const both = (signed: Answer) => [cookieIn(shown), cookieIn(signed)].join("; ");

const decide = (cookie: string, fields: Record<string, string> = { decision: "approve" }) =>
  rig.send(approval, shown, fields, { headers: { cookie } });

const state = async () => (await rig.rows.get(approval.id))?.state;

describe("an operator who signs in", () => {
  test("is led back to the page, and decides there as who they are", async () => {
    const signed = await signIn(" bobs\n");
    expect(signed.status).toBe(303);
    expect(signed.lines).toContain(`Location: ${await rig.pathOf(approval)}\r\n`);
    const page = await rig.open(approval, { headers: { cookie: both(signed) } });
    expect(page.body).toContain("You are signed in as bob of default.");
    expect(page.body).toContain("Decide as yourself");
    expect((await decide(both(signed))).body).toContain("Approved");
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "approved", decidedBy: "bob", given: "operator" });
  });

  test("is known by a cookie for a quarter of an hour that no script and no other site gets, and that is not the token", async () => {
    const { lines } = await signIn("bobs");
    expect(lines).toMatch(
      /Set-Cookie: isthmus_operator=[\w.-]+; Path=\/approvals\/; Max-Age=900; HttpOnly; SameSite=Strict; Secure\r\n/,
    );
    expect(lines).not.toContain("bobs");
  });

  test("is nobody any more when the time is over", async () => {
    const cookie = both(await signIn("bobs"));
    const later = await rig.request('{"later":1}', { evidence: "operator" });
    rig.time.advance(15 * 60_000);
    expect((await rig.open(later, { headers: { cookie } })).body).not.toContain("You are signed in");
  });

  test("is nobody any more when the token is revoked", async () => {
    const cookie = both(await signIn("bobs"));
    rig.tokens.delete("bobs");
    expect((await decide(cookie)).status).toBe(403);
    expect(await state()).toBe("waiting");
  });

  test("is nobody in another browser", async () => {
    const signed = await signIn("bobs");
    const other = await rig.open(approval);
    const cookie = `${cookieIn(other)}; ${cookieIn(signed)}`;
    expect((await rig.send(approval, other, { decision: "approve" }, { headers: { cookie } })).status).toBe(403);
    expect(await state()).toBe("waiting");
  });

  test("is nobody after signing out", async () => {
    const left = await decide(both(await signIn("bobs")), { sign: "out" });
    expect(left.lines).toContain("isthmus_operator=; Path=/approvals/; Max-Age=0");
  });
});

describe("nobody gets in", () => {
  test.each([
    ["with a token that is not known", { sign: "in", token: "evil" }, 403],
    ["without a token", { sign: "in", token: "" }, 403],
    ["with a form of another page", { sign: "in", token: "bobs", check: "x" }, 403],
  ])("%s", async (_what, fields, status) => {
    const answer = await rig.send(approval, shown, fields);
    expect(answer.status).toBe(status);
    expect(answer.lines).not.toContain("isthmus_operator");
  });

  test("with a token that is not known, and finds the form again below what was wrong", async () => {
    const answer = await signIn("evil");
    const wrong =
      '<p class="wrong" role="alert">The gateway does not know this token, or not any more.</p><form method="post">';
    expect(answer.body).toContain(wrong);
    expect(answer.body).toContain("valve");
    const headers = { cookie: cookieIn(answer) };
    expect((await rig.send(approval, answer, { sign: "in", token: "bobs" }, { headers })).status).toBe(303);
    expect(shown.body).not.toContain("alert");
  });

  test("with a token that is not known, as a program that wants JSON", async () => {
    const headers = { accept: "application/json" };
    const answer = await rig.send(approval, shown, { sign: "in", token: "evil" }, { headers });
    expect(answer).toMatchObject({ status: 403, body: expect.stringContaining('role="alert"') });
  });

  test("from another site, though the form is right", async () => {
    const headers = { "sec-fetch-site": "cross-site" };
    const answer = await rig.send(approval, shown, { sign: "in", token: "bobs" }, { headers });
    expect([answer.status, rig.shown]).toEqual([403, []]);
  });

  test("at a page that is not there, where no token is even looked at", async () => {
    await rig.approvals.withdraw(approval);
    expect((await signIn("bobs")).status).toBe(404);
    expect(rig.shown).toEqual([]);
  });

  test.each([
    ["altered", (cookie: string) => `${cookie.slice(0, -2)}AA`],
    ["made up", () => `isthmus_operator=k00000000.${"A".repeat(80)}`],
    ["the token itself", () => "isthmus_operator=bobs"],
  ])("by a cookie that is %s", async (_what, forge) => {
    const cookie = forge(cookieIn(await signIn("bobs")));
    expect((await decide(`${cookieIn(shown)}; ${cookie}`)).status).toBe(403);
    expect(await state()).toBe("waiting");
  });
});

describe("the page of all calls that wait", () => {
  const INDEX = "/approvals/waiting";
  const enter = async (token: string, headers: Record<string, string> = {}) => {
    const page = await rig.ask(INDEX);
    const body = new URLSearchParams({ check: checkIn(page), sign: "in", token }).toString();
    const signed = await rig.ask(INDEX, {
      method: "POST",
      body,
      headers: { ...FORM, cookie: cookieIn(page), ...headers },
    });
    return { page, signed, cookie: `${cookieIn(page)}; ${cookieIn(signed)}` };
  };

  test("names none to whoever is not known, or has no role", async () => {
    rig.tokens.set("carls", person("carl"));
    const { page, signed, cookie } = await enter("carls");
    expect([page.status, page.body]).toEqual([200, expect.stringContaining("Token of an operator")]);
    expect(page.body).not.toContain(approval.tool);
    expect(signed).toMatchObject({ status: 303, lines: expect.stringContaining(`Location: ${INDEX}\r\n`) });
    const { body } = await rig.ask(INDEX, { headers: { cookie } });
    expect(body).toContain("not as an operator");
    expect(body).not.toContain(approval.tool);
  });

  test("names those of their own tenant to an operator, each with its page", async () => {
    const path = await rig.pathOf(approval);
    const { cookie } = await enter("bobs");
    const { body } = await rig.ask(INDEX, { headers: { cookie } });
    expect(body).toContain(`<a href="${PAGES}${path}">${approval.tool}</a>`);
    rig.tokens.set("doras", person("dora", { role: "admin", tenant: "other" }));
    const others = await rig.ask(INDEX, { headers: { cookie: (await enter("doras")).cookie } });
    expect(others.body).toContain("Nothing waits for a yes.");
    expect((await rig.ask(INDEX, { principal: bob })).body).toContain(path);
  });

  test("tells calls of one tool apart: by how their arguments begin, where whatever hides is seen, and when they end", async () => {
    const [long, zed] = [`{"path":"${"x".repeat(200)}"}`, { principal: person("zed") }];
    await rig.request('{"path":"/tmp/one\\u202e</code><script>"}', zed);
    rig.time.advance(60_000);
    await rig.request(Buffer.from('{"path":"/tmp/zwölf"}').toString("latin1"), zed);
    await rig.request(long, zed);
    await rig.request(`{"path":"${"y".repeat(9_000)}"}`, zed);
    const { body } = await rig.ask(INDEX, { principal: bob });
    expect(body).toMatch(/in about 4 minutes\s*<br><code>\{&quot;path&quot;:&quot;\/tmp\/one\\u\{202e\}&lt;\/code&gt;/);
    expect(body).toMatch(/in about 5 minutes\s*<br><code>\{&quot;path&quot;:&quot;\/tmp\/zwÃ¶lf&quot;\}<\/code>/);
    // The body is one character per byte.
    const more = Buffer.from("…").toString("latin1");
    expect(body).toContain(`<code>{&quot;path&quot;:&quot;${"x".repeat(71)}${more}</code>`);
    expect(body).toMatch(new RegExp(`y{9,71}${more}</code>`));
    expect(body).not.toMatch(/<script|x{72}|y{72}/);
    const stranger = await rig.ask(INDEX);
    expect(stranger.body).not.toMatch(/tmp|in about/);
  });

  test("names none to whoever can merely connect", async () => {
    expect((await rig.ask(INDEX, { principal: LOCAL })).body).not.toContain(approval.tool);
  });

  test.each([
    ["a token that is not known", "evil", {}],
    ["a form of another site", "bobs", { "sec-fetch-site": "cross-site" }],
    ["the form of another browser", "bobs", { cookie: `isthmus_approval=${"x".repeat(32)}` }],
  ])("lets nobody in by %s, and that is on record", async (_what, token, headers) => {
    const { signed } = await enter(token, headers);
    expect(signed.status).toBe(403);
    expect(signed.lines).not.toContain("isthmus_operator");
    expect(rig.turnedAway).toHaveLength(1);
  });

  test("decides nothing", async () => {
    const { page, cookie } = await enter("bobs");
    const body = new URLSearchParams({ check: checkIn(page), decision: "approve" }).toString();
    expect((await rig.ask(INDEX, { method: "POST", body, headers: { ...FORM, cookie } })).status).toBe(404);
    expect(await state()).toBe("waiting");
  });
});

describe("the page says what is missing", () => {
  const bodyFor = async (token: string) => {
    const headers = { cookie: both(await signIn(token)) };
    return (await rig.open(approval, { headers })).body;
  };

  test("to whoever is not known, with what is typed there to see a token", async () => {
    const [own, others] = ["npm run -s isthmus -- operator token", "isthmus token create"];
    expect(shown.body).toContain(`<code>${own}</code> prints yours`);
    expect(shown.body).toContain(`<code>${others}</code> makes one`);
    rig.tokenCommands = { own };
    expect((await rig.open(approval)).body).not.toContain(others);
    rig.tokenCommands = {};
    expect((await rig.open(approval)).body).not.toMatch(/prints yours|<\/code> makes one/);
  });

  test("to whoever is no operator", async () => {
    rig.tokens.set("carls", person("carl"));
    expect(await bodyFor("carls")).toContain("not as an operator");
  });

  test("to whoever asks for the call themselves", async () => {
    rig.tokens.set("agents", person("agent", { role: "operator" }));
    expect(await bodyFor("agents")).toContain("Nobody approves what they ask for themselves");
    expect((await decide(both(await signIn("agents")))).status).toBe(403);
  });

  test.each(["bobs", undefined])("where only a proof counts, to whoever has the token %s", async (token) => {
    approval = await rig.request('{"valve":"v-4"}', { evidence: "external_proof" });
    shown = await rig.open(approval);
    const body = token === undefined ? shown.body : await bodyFor(token);
    expect(body).toContain('evidence = "operator"');
  });
});

test("whoever can merely connect is no operator, whatever their role", async () => {
  const foreign = await rig.request("{}", { principal: person("token-holder"), evidence: "operator" });
  const page = await rig.open(foreign, { principal: LOCAL });
  const answer = await rig.send(foreign, page, { decision: "approve" }, { principal: LOCAL });
  expect([answer.status, answer.body]).toEqual([403, expect.stringContaining("not proved")]);
});
