import { beforeEach, describe, expect, test } from "vitest";
import { ed25519 } from "../../../tests/kit/approval-rig.ts";
import { type Answer, bob, checkIn, cookieIn, PageRig } from "./fixtures/page-rig.ts";

let rig: PageRig;

beforeEach(() => {
  rig = new PageRig();
});

describe("a form from elsewhere", () => {
  test.each<[string, (page: Answer, other: Answer) => { headers?: Record<string, string>; check?: string }]>([
    ["without our cookie", () => ({ headers: { cookie: "" } })],
    ["with another browser's cookie", () => ({ headers: { cookie: `isthmus_approval=${"x".repeat(32)}` } })],
    ["without the page's own word", () => ({ check: "" })],
    ["with the word of another approval's page", (_page, other) => ({ check: checkIn(other) })],
    ["of another site, as its browser says", () => ({ headers: { "sec-fetch-site": "cross-site" } })],
    ["of a neighbour on another port", () => ({ headers: { "sec-fetch-site": "same-site" } })],
    ...[
      "https://app.example",
      "https://gateway.example:8443",
      "http://gateway.example",
      "https://gateway.example.evil.example",
      "https://gateway.example@evil.example",
      "null",
      "",
    ].map((origin): [string, () => { headers: Record<string, string> }] => [
      `of a page of ${JSON.stringify(origin)}, which may speak MCP`,
      () => ({ headers: { host: "127.0.0.1", origin } }),
    ]),
  ])("%s decides nothing, whoever's browser it is, and is on record", async (_what, change) => {
    const approval = await rig.request("{}", { evidence: "operator" });
    const other = await rig.request('{"other":1}', { evidence: "operator" });
    const page = await rig.open(approval, { principal: bob });
    const foreign = await rig.open(other, { principal: bob, headers: { cookie: cookieIn(page) } });
    const { headers = {}, check = checkIn(page) } = change(page, foreign);
    const answer = await rig.send(approval, page, { decision: "approve", check }, { principal: bob, headers });
    expect(answer.status).toBe(403);
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "waiting" });
    expect(rig.refusals()).toMatchObject([
      { details: { approval: approval.id, why: expect.stringContaining("foreign") } },
    ]);
  });

  test.each([
    { origin: "https://gateway.example" },
    { origin: "HTTPS://Gateway.Example" },
    { host: "127.0.0.1", origin: "https://gateway.example" },
    { host: "127.0.0.1", origin: "http://127.0.0.1" },
    { host: "127.0.0.1", origin: "https://127.0.0.1" },
    { host: "127.0.0.1", origin: "https://gateway.example", "sec-fetch-site": "same-origin" },
  ])("is none that our own page sends, by whatever name it was reached: %j", async (headers) => {
    const approval = await rig.request("{}", { evidence: "operator" });
    const page = await rig.open(approval, { principal: bob });
    expect((await rig.send(approval, page, { decision: "deny" }, { principal: bob, headers })).status).toBe(200);
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "denied" });
  });

  test.each([
    [{ host: "evil.example" }, 403],
    [{ host: "evil.example", "x-forwarded-host": "gateway.example" }, 403],
    [{ origin: "https://evil.example" }, 403],
    [{ "content-type": "text/plain" }, 415],
    [{ "content-type": "application/json" }, 415],
  ])("with %j is not read", async (headers, status) => {
    const approval = await rig.request("{}");
    const answer = await rig.send(approval, await rig.open(approval), await rig.proofFields(approval), { headers });
    expect(answer.status).toBe(status);
    expect(rig.turnedAway).toEqual([status === 403 ? "host" : "approval page"]);
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "waiting" });
  });

  test("with a proof of somebody else's key counts for nothing, and is on record", async () => {
    const approval = await rig.request("{}");
    const proof = await rig.proof(approval, { signer: ed25519() });
    const answer = await rig.send(approval, await rig.open(approval), { ...(await rig.proofFields(approval)), proof });
    expect(answer).toMatchObject({ status: 403, body: expect.stringContaining("unknown trust anchor") });
    expect(rig.refusals()).toMatchObject([{ details: { why: "unknown_trust_anchor" } }]);
  });
});
