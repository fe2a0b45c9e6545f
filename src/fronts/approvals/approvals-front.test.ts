import { beforeEach, describe, expect, test } from "vitest";
import { person } from "../../../tests/kit/approval-rig.ts";
import { ANONYMOUS, type Approval, type Evidence, GatewayError, LOCAL, type Principal } from "../../contract/index.ts";
import { type Answer, bob, checkIn, cookieIn, FORM, PAGES, PageRig, type Sent, UNKNOWN } from "./fixtures/page-rig.ts";

let rig: PageRig;

beforeEach(() => {
  rig = new PageRig();
});

describe("the page of an approval", () => {
  test("shows all that is decided by, as text", async () => {
    const approval = await rig.request('{"big":12345678901234567890,"x":"</pre><script>alert(1)</script>\\u202e"}', {
      principal: person("<i>ada</i>"),
      name: "op'en<b>",
    });
    const { status, body } = await rig.open(approval);
    expect(status).toBe(200);
    for (const told of [
      "plant.op&#39;en&lt;b&gt;",
      "plant &rsaquo; op&#39;en&lt;b&gt;",
      "&quot;big&quot;:12345678901234567890",
      "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}",
      "&lt;i&gt;ada&lt;/i&gt; of default",
      "the tool says that what it does cannot be taken back",
      "a proof, signed with a key",
      "1970-01-01T00:05:0",
      approval.digest,
      approval.id,
      `isthmus approve --print ${PAGES}${await rig.pathOf(approval)}`,
      `isthmus deny --print ${PAGES}${await rig.pathOf(approval)}`,
    ])
      expect(body).toContain(told);
    expect(body).not.toMatch(/<script|<i>|<b>/);
  });

  test("says in how many minutes it is over", async () => {
    const approval = await rig.request("{}");
    const shown = async () => (await rig.open(approval)).body;
    expect(await shown()).toMatch(/in about 5 minutes \(1970-01-01T00:05:0\dZ\)/);
    rig.time.advance(4 * 60_000);
    expect(await shown()).toContain("in about a minute (1970");
    rig.time.advance(45_000);
    expect(await shown()).toContain("in less than a minute (1970");
  });

  test("can be neither framed nor kept, and runs nothing", async () => {
    const { lines } = await rig.open(await rig.request("{}"));
    for (const line of [
      "Cache-Control: no-store",
      "X-Frame-Options: DENY",
      "frame-ancestors 'none'",
      "default-src 'none'",
      "form-action 'self'",
      "Referrer-Policy: same-origin",
    ])
      expect(lines).toContain(line);
    expect(lines).toMatch(/isthmus_approval=[\w-]{32}; Path=\/approvals; Max-Age=3600; HttpOnly; SameSite=Lax; Secure/);
  });

  test("takes a yes by proof from somebody who is not known otherwise", async () => {
    const approval = await rig.request("{}", { principal: person("agent", { tenant: "acme" }) });
    const page = await rig.open(approval);
    const fields = await rig.proofFields(approval);
    const answer = await rig.send(approval, page, { ...fields, proof: fields.proof.replace(/(.{60})/g, "$1\r\n ") });
    expect(answer).toMatchObject({ status: 200, body: expect.stringContaining("Approved") });
    expect(await rig.rows.get(approval.id)).toMatchObject({
      state: "approved",
      given: "external_proof",
      decidedBy: "operator:alice",
    });
    expect(rig.trail.events.at(-1)).toMatchObject({
      type: "PERMISSION_GRANTED",
      tenant: "acme",
      details: { broughtBy: "anonymous" },
    });
  });

  test.each([
    ["whose name is that of whoever asked", { sub: "operator:agent" }, [], "by somebody of the name of whoever asked"],
    ["by a key that whoever asked has", {}, ["agent"], "Whoever asked for this has that key"],
  ])("says of a proof %s that somebody else must sign", async (_whose, claims, holders, said) => {
    rig.anchors = [{ type: "operator_signature", key: rig.operator.anchor, holders, tenants: [] }];
    const approval = await rig.request("{}");
    const fields = { ...(await rig.proofFields(approval)), proof: await rig.proof(approval, { claims }) };
    const answer = await rig.send(approval, await rig.open(approval), fields);
    expect(answer).toMatchObject({ status: 403, body: expect.stringContaining(said) });
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "waiting" });
  });

  test("takes a no by proof", async () => {
    const approval = await rig.request("{}");
    const answer = await rig.send(approval, await rig.open(approval), await rig.proofFields(approval, "deny"));
    expect(answer.body).toContain("Denied");
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "denied" });
  });

  test("tells programs what they would sign", async () => {
    const approval = await rig.request('{"b":1.0,"a":1}');
    const { lines, body } = await rig.open(approval, { headers: { accept: "application/json" } });
    expect(lines).toContain("application/json");
    expect(JSON.parse(body)).toMatchObject({
      confirmation_id: approval.id,
      nonce: approval.nonce,
      arguments_text: '{"a":1,"b":1.0}',
      args_sha256: approval.digest,
    });
  });
});

describe("an operator whom the gateway knows", () => {
  const word = (approval: Approval, page: Answer, principal: Principal, decision = "approve") =>
    rig.send(approval, page, { decision }, { principal });

  test("decides by their word where that is enough", async () => {
    const approval = await rig.request("{}", { evidence: "operator" });
    const page = await rig.open(approval, { principal: bob });
    expect(page.body).toContain("Decide as yourself");
    expect((await word(approval, page, bob)).body).toContain("Approved");
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "approved", given: "operator", decidedBy: "bob" });
  });

  test.each<[string, Principal, Evidence, string]>([
    ["whoever asked", person("agent", { role: "operator" }), "operator", "own principal"],
    ["the same user elsewhere", person("other", { user: "agent", role: "admin" }), "operator", "own principal"],
    ["somebody who may only look", person("carl", { role: "viewer" }), "operator", "not an operator"],
    ["nobody in particular", ANONYMOUS, "operator", "not an operator"],
    ["an operator where a proof is needed", bob, "external_proof", "evidence too weak"],
  ])("is not %s: no button, and no yes without it", async (_who, principal, evidence, why) => {
    const approval = await rig.request("{}", { evidence });
    const page = await rig.open(approval, { principal });
    const [form = ""] = /Decide as yourself[\s\S]*?<\/form>/.exec(page.body) ?? [];
    expect(form).not.toContain("Approve");
    const answer = await word(approval, page, principal);
    expect(answer).toMatchObject({ status: 403, body: expect.stringContaining(why) });
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "waiting" });
    expect(rig.refusals()).toMatchObject([{ details: { approval: approval.id, why: why.replaceAll(" ", "_") } }]);
  });

  test("may deny what they asked for themselves", async () => {
    const approval = await rig.request("{}");
    const self = person("agent", { role: "operator" });
    const page = await rig.open(approval, { principal: self });
    expect((await word(approval, page, self, "deny")).body).toContain("Denied");
  });

  test("is not whoever is on this machine: all agents there are, who would deny each other's calls", async () => {
    const approval = await rig.request("{}", { principal: LOCAL });
    const page = await rig.open(approval, { principal: LOCAL });
    expect(page.body).not.toContain("Decide as yourself");
    const answer = await word(approval, page, LOCAL, "deny");
    expect(answer).toMatchObject({ status: 403, body: expect.stringContaining("not proved") });
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "waiting" });
  });
});

describe("the id of an approval, as the audit trail has it", () => {
  const ids: readonly (readonly [string, (path: string, id: string) => string])[] = [
    ["alone", (_path, id) => `/approvals/${id}`],
    ["with a guess", (_path, id) => `/approvals/${id}.${"A".repeat(43)}`],
    ["with another's secret", (path, id) => path.replace(/[^/.]+(?=\.)/, id)],
  ];

  test.each(ids)("opens nothing %s, whoever comes with it", async (_how, pathWith) => {
    const approval = await rig.request('{"password":"hunter2"}', { evidence: "operator" });
    const other = await rig.request('{"other":1}', { evidence: "operator" });
    const path = pathWith(await rig.pathOf(other), approval.id);
    for (const principal of [ANONYMOUS, person("carl", { role: "viewer" }), bob]) {
      const unknown = await rig.ask(UNKNOWN, { principal });
      expect(await rig.ask(path, { principal })).toEqual(unknown);
      expect(await rig.ask(path, { principal, headers: { accept: "application/json" } })).toMatchObject({
        status: 404,
      });
      const page = await rig.open(approval, { principal });
      const headers = { ...FORM, cookie: cookieIn(page) };
      const body = new URLSearchParams({ check: checkIn(page), decision: "deny" }).toString();
      expect(await rig.ask(path, { method: "POST", principal, headers, body })).toMatchObject({ status: 403 });
    }
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "waiting" });
    expect(JSON.stringify(rig.trail.events)).toContain(approval.id);
    expect(JSON.stringify(rig.trail.events)).not.toContain((await rig.pathOf(approval)).slice(-43));
  });
});

describe("a link that leads to nothing", () => {
  const over: readonly (readonly [string, (approval: Approval) => Promise<unknown>])[] = [
    ["expired", async () => rig.time.advance(300_000)],
    ["withdrawn", (approval) => rig.approvals.withdraw(approval)],
    ["denied", (approval) => rig.decider.decideAs(bob, approval.id, "deny")],
  ];

  test.each(over)(
    "is told from no other once it is %s, when it is opened and when it is decided",
    async (_how, end) => {
      const approval = await rig.request("{}");
      const page = await rig.open(approval);
      const fields = await rig.proofFields(approval);
      await end(approval);
      const unknown = await rig.ask(UNKNOWN);
      expect(await rig.open(approval)).toEqual(unknown);
      expect(await rig.send(approval, page, fields)).toEqual(unknown);
      expect(unknown.status).toBe(404);
      expect(rig.refusals()).toHaveLength(1);
    },
  );

  test.each(["x", "", "../approvals", "%00", "1".repeat(5000), "00000000-0000-4000-8000-00000000000'", ".", "x.y"])(
    "is the same for %j",
    async (id) => {
      const unknown = await rig.ask(UNKNOWN);
      expect(await rig.ask(`/approvals/${id}`)).toEqual(unknown);
    },
  );

  test("tells somebody unknown nothing, and what they try fills no trail", async () => {
    const approval = await rig.request("{}");
    const page = await rig.open(approval);
    const fields = await rig.proofFields(approval);
    const before = rig.trail.events.length;
    rig.rows.get = async () => undefined;
    expect((await rig.send(approval, page, fields)).status).toBe(404);
    expect((await rig.send(approval, page, { ...fields, check: "" })).status).toBe(403);
    expect(rig.trail.events).toHaveLength(before);
    expect(rig.turnedAway).toEqual(["approval page", "foreign_form"]);
  });

  test("is the same for whoever is of another tenant, also with a proof", async () => {
    const approval = await rig.request("{}");
    const stranger = person("mallory", { tenant: "acme", role: "admin" });
    const page = await rig.open(approval);
    const unknown = await rig.ask(UNKNOWN, { principal: stranger });
    expect(await rig.open(approval, { principal: stranger })).toEqual(unknown);
    expect(await rig.send(approval, page, await rig.proofFields(approval), { principal: stranger })).toEqual(unknown);
    expect(await rig.send(approval, page, { decision: "deny" }, { principal: stranger })).toEqual(unknown);
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "waiting" });
  });

  test("is the same for the second of two tabs, and for a form that is sent again", async () => {
    const approval = await rig.request("{}");
    const first = await rig.open(approval);
    const second = await rig.open(approval, { headers: { cookie: cookieIn(first) } });
    const fields = await rig.proofFields(approval);
    expect((await rig.send(approval, second, fields)).status).toBe(200);
    expect((await rig.send(approval, first, fields)).status).toBe(404);
    expect((await rig.send(approval, second, fields)).status).toBe(404);
    expect(rig.refusals().map(({ details }) => details?.why)).toEqual(["already_approved", "already_approved"]);
  });
});

describe("whoever has nothing more to do on a page", () => {
  const HERE = { headers: { host: "127.0.0.1" } };

  test.each<[string, Principal, string | undefined, Sent]>([
    ["an operator to what still waits", bob, "/approvals/waiting", {}],
    ["anybody else to the start page", ANONYMOUS, "/", HERE],
    ["somebody who may only look to the start page", person("carl", { role: "viewer" }), "/", HERE],
    ["nobody to a start page that is not served by the name of the pages", ANONYMOUS, undefined, {}],
  ])("is led on: %s", async (_where, principal, link, sent) => {
    const linkIn = ({ body }: Answer) => /<a href="([^"]*)"/.exec(body)?.[1];
    const approval = await rig.request("{}");
    const page = await rig.open(approval);
    const headers = { ...sent.headers, cookie: cookieIn(page) };
    const done = await rig.send(approval, page, await rig.proofFields(approval), { principal, headers });
    expect([done.status, linkIn(done)]).toEqual([200, link]);
    const nothing = await rig.ask(UNKNOWN, { ...sent, principal });
    expect([nothing.status, linkIn(nothing)]).toEqual([404, link]);
  });
});

test.each([
  ["PUT", {}, 405],
  ["DELETE", {}, 405],
  ["POST", FORM, 413],
])("%s is not taken for more than it is", async (method, headers, status) => {
  const approval = await rig.request("{}");
  const answer = await rig.open(approval, { method, headers, body: "x".repeat(20_000) });
  expect(answer.status).toBe(status);
});

test("a form that says neither yes nor no decides nothing", async () => {
  const approval = await rig.request("{}");
  expect((await rig.send(approval, await rig.open(approval), { decision: "maybe" })).status).toBe(400);
});

test("while the store is away nothing is shown, and people are told to try again", async () => {
  const approval = await rig.request("{}");
  rig.rows.get = () => Promise.reject(new GatewayError("STATE_UNAVAILABLE"));
  expect((await rig.open(approval)).status).toBe(503);
});
