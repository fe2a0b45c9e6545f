/** Attacks on the page of a call that waits. None decides anything, and each that tries leaves a record. */
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { UserAgent } from "../../kit/user-agent.ts";
import { runProgram } from "../kit/program.ts";
import { type GateObject, gateOf, ValveRig } from "./valve-rig.ts";

const AUTH = '[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n';
const TOKENS = {
  agent: "--user ada --client agent",
  twin: "--user ada --client second --role operator",
  operator: "--user bob --role operator",
  viewer: "--user carl --role viewer",
  stranger: "--user mallory --role admin --tenant acme",
};
const UNKNOWN = "00000000-0000-4000-8000-000000000000";

let rig: ValveRig;
let number = 0;

beforeAll(async () => {
  rig = await ValveRig.start({ gate: 'hold = "50ms"\nevidence = "operator"', more: AUTH, tokens: TOKENS });
}, 60_000);
afterAll(() => rig[Symbol.asyncDispose]());

const ask = async (args: object = {}, headers: Record<string, string> = {}) =>
  gateOf(
    await rig.call(
      "plant.open",
      { number: ++number, ...args },
      { headers: { ...rig.as("agent").headers, ...headers } },
    ),
  );
const proofOf = (gate: GateObject, decision?: string, forged?: Parameters<ValveRig["proof"]>[2]) =>
  (rig.proof(gate, decision, forged) as { value: string }).value;

type Linked = Readonly<Record<string, unknown>>;
type Seen = { readonly status: number; readonly text: string; readonly cookie: string; readonly check: string };

async function seen(response: Response): Promise<Seen> {
  const text = await response.text();
  return {
    status: response.status,
    text,
    cookie: response.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "",
    check: /name="check" value="([^"]*)"/.exec(text)?.[1] ?? "",
  };
}

const at = ({ confirm_url }: Linked) => new URL(String(confirm_url));
const open = async (gate: Linked, who?: string) => seen(await fetch(at(gate), who === undefined ? {} : rig.as(who)));

async function send(
  gate: Linked,
  { cookie, check }: Pick<Seen, "cookie" | "check">,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Seen> {
  const body = new URLSearchParams({ check, ...fields });
  return seen(await fetch(at(gate), { method: "POST", headers: { cookie, ...headers }, body }));
}

async function stateOf({ confirmation_id }: GateObject): Promise<unknown> {
  const response = await fetch(new URL(`/api/approvals/${confirmation_id}`, rig.url), rig.as("operator"));
  return ((await response.json()) as { state: unknown }).state;
}

/** Resolves when the trail has it. */
async function isRecorded(gate: GateObject, why: string): Promise<void> {
  const url = new URL("/api/audit?event_type=dev.isthmus.approval.refused&limit=1000", rig.url);
  const read = async () => (await (await fetch(url, rig.as("operator"))).json()) as { events: { details: object }[] };
  await eventually(read, ({ events }) =>
    events.some(({ details }) => {
      const facts = details as Record<string, unknown>;
      return facts.approval === gate.confirmation_id && facts.why === why;
    }),
  );
}

describe("where the page is", () => {
  test.each([
    [{ "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" }],
    [{ forwarded: "host=evil.example;proto=https" }],
    [{ "x-original-host": "evil.example", "x-forwarded-prefix": "/evil" }],
    [{ origin: "http://127.0.0.1:1" }],
  ])("is told by no header: %j", async (headers) => {
    const { confirm_url, confirmation_id } = await ask({}, headers);
    expect(confirm_url).toMatch(`${rig.gateway.origin}/approvals/${confirmation_id}.`);
  });

  test("is told by no Host: the name it was asked by is not the one that it tells", async () => {
    const params = { name: "plant.open", arguments: { number: ++number } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const called = (host: string) =>
      new Promise<string>((resolve, reject) => {
        const headers = {
          host,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...rig.as("agent").headers,
        };
        const sent = request(rig.url, { method: "POST", headers }, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk;
          });
          response.on("end", () => resolve(text));
        });
        sent.on("error", reject).end(body);
      });
    expect(await called("evil.example")).not.toContain("confirm_url");
    expect(await called("localhost:1")).toContain(`"confirm_url":"${rig.gateway.origin}/approvals/`);
  });
});

describe("whoever has the link and nothing else", () => {
  test("sees what is asked, and decides nothing", async () => {
    const gate = await ask({ text: "<img src=x onerror=alert(1)>" });
    const page = await open(gate);
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining("&lt;img src=x onerror=alert(1)&gt;") });
    expect(page.text).not.toContain("<img");
    expect((await send(gate, page, { decision: "approve" })).status).toBe(403);
    await isRecorded(gate, "not_an_operator");
    expect(await stateOf(gate)).toBe("waiting");
  });

  test("decides with a proof, and with no other key", async () => {
    const gate = await ask();
    const page = await open(gate);
    const fields = { decision: "approve", type: "operator_signature" };
    const forged = proofOf(gate, "approve", { key: generateKeyPairSync("ed25519").privateKey });
    expect((await send(gate, page, { ...fields, proof: forged })).status).toBe(403);
    await isRecorded(gate, "unknown_trust_anchor");
    const inCallersName = proofOf(gate, "approve", { claims: { sub: "ada" } });
    expect((await send(gate, page, { ...fields, proof: inCallersName })).status).toBe(403);
    await isRecorded(gate, "own_principal");
    expect((await send(gate, page, { ...fields, proof: proofOf(gate) })).status).toBe(200);
    expect(await stateOf(gate)).toBe("approved");
  });

  test("gets nothing for a proof of another call, another decision or another gateway", async () => {
    const [gate, other] = [await ask(), await ask()];
    const page = await open(gate);
    const tries = {
      wrong_confirmation: proofOf(other),
      wrong_decision: proofOf(gate, "deny"),
      wrong_audience: proofOf(gate, "approve", { claims: { aud: `urn:uuid:${UNKNOWN}` } }),
    };
    for (const [why, proof] of Object.entries(tries)) {
      const fields = { decision: "approve", type: "operator_signature", proof };
      expect((await send(gate, page, fields)).status).toBe(403);
      await isRecorded(gate, why);
    }
    expect(await stateOf(gate)).toBe("waiting");
  });
});

describe("whoever has the id from the audit trail", () => {
  test.each(["viewer", "operator", undefined])("is shown nothing by it as %s", async (who) => {
    const gate = await ask({ password: "hunter2" });
    const page = await open({ confirm_url: `${rig.gateway.origin}/approvals/${gate.confirmation_id}` }, who);
    expect(page.status).toBe(404);
    expect(page.text).not.toContain("hunter2");
  });
});

describe("somebody who is known", () => {
  test.each([
    ["the caller", "agent", "not_an_operator"],
    ["the caller's user, though an operator", "twin", "own_principal"],
    ["somebody who may only look", "viewer", "not_an_operator"],
  ])("does not decide as %s", async (_who, who, why) => {
    const gate = await ask();
    const page = await open(gate, who);
    expect(page.text).not.toMatch(/Decide as yourself<\/h2>.*value="approve"/);
    expect((await send(gate, page, { decision: "approve" }, rig.as(who).headers)).status).toBe(403);
    await isRecorded(gate, why);
    expect(await stateOf(gate)).toBe("waiting");
  });

  test("decides as an operator", async () => {
    const gate = await ask();
    const page = await open(gate, "operator");
    expect(page.text).toContain("Decide as yourself");
    expect((await send(gate, page, { decision: "approve" }, rig.as("operator").headers)).status).toBe(200);
    expect(await stateOf(gate)).toBe("approved");
  });

  test("learns nothing of other tenants' calls, not even that there are any", async () => {
    const gate = await ask();
    const own = await open(gate);
    const unknown = await open({ confirm_url: `${rig.gateway.origin}/approvals/${UNKNOWN}` }, "stranger");
    expect(await open(gate, "stranger")).toEqual(unknown);
    const fields = { decision: "approve", type: "operator_signature", proof: proofOf(gate) };
    const tried = await send(gate, own, fields, rig.as("stranger").headers);
    expect(tried).toMatchObject({ status: unknown.status, text: unknown.text });
    expect(await stateOf(gate)).toBe("waiting");
  });

  test("is turned away with a token that is none, and with one in the address", async () => {
    const gate = await ask();
    const authorization = { authorization: "Bearer nothing" };
    expect((await fetch(at(gate), { headers: authorization })).status).toBe(401);
    const inAddress = await fetch(new URL(`${at(gate)}?access_token=${rig.tokens.operator}`));
    expect(inAddress.status).toBe(401);
    const trail = await fetch(new URL("/api/audit?limit=1000", rig.url), rig.as("operator"));
    expect(await trail.text()).not.toContain(String(gate.confirm_url).slice(-43));
  });
});

describe("a form", () => {
  test.each([
    ["without the browser's cookie", { cookie: "" }, {}],
    ["with another browser's cookie", { cookie: `isthmus_approval=${"A".repeat(32)}` }, {}],
    ["without the page's word", { check: "" }, {}],
    ["from another site", {}, { "sec-fetch-site": "cross-site" }],
    ["from a page of another origin", {}, { origin: "https://evil.example" }],
  ])("%s decides nothing in an operator's browser", async (_what, change, headers) => {
    const gate = await ask();
    const page = { ...(await open(gate, "operator")), ...change };
    const sent = { ...rig.as("operator").headers, ...headers };
    expect((await send(gate, page, { decision: "approve" }, sent)).status).toBe(403);
    if (!("origin" in headers)) await isRecorded(gate, "sec-fetch-site" in headers ? "foreign_site" : "foreign_form");
    expect(await stateOf(gate)).toBe("waiting");
  });

  test("counts once, though two tabs send it at the same time and one again", async () => {
    const gate = await ask();
    const page = await open(gate);
    const fields = { decision: "approve", type: "operator_signature", proof: proofOf(gate) };
    const both = await Promise.all([1, 2].map(() => send(gate, page, fields)));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect((await send(gate, page, fields)).status).toBe(404);
    const before = rig.made().length;
    await rig.call("plant.open", { number }, rig.as("agent"));
    expect(rig.made()).toHaveLength(before + 1);
    expect((await send(gate, page, fields)).status).toBe(404);
    await isRecorded(gate, "already_consumed");
    await rig.call("plant.open", { number }, rig.as("agent"));
    expect(rig.made()).toHaveLength(before + 1);
  });
});

test("a decision comes too late when the call has expired", async () => {
  const gate = 'hold = "50ms"\nexpiry = "1s"';
  await using other = await ValveRig.start({ gate });
  const asked = gateOf(await other.call("plant.open", {}));
  const browser = new UserAgent();
  const page = await browser.open(String(asked.confirm_url));
  expect(page.status).toBe(200);
  await eventually(
    async () => (await fetch(String(asked.confirm_url))).status,
    (status) => status === 404,
  );
  const { value: proof } = other.proof(asked) as { value: string };
  expect((await browser.submit(page, { decision: "approve", proof })).status).toBe(404);
  expect(gateOf(await other.call("plant.open", {})).confirmation_id).not.toBe(asked.confirmation_id);
  expect(other.made()).toEqual([]);
});

test("guesses are limited, and tell nothing", async () => {
  const gateway = '[gateway.edge]\naddress = { capacity = 30, refill = "1/h" }';
  await using other = await ValveRig.start({ gateway });
  const guess = async () => {
    const response = await fetch(new URL(`/approvals/${crypto.randomUUID()}.${"A".repeat(43)}`, other.url));
    return { status: response.status, text: await response.text() };
  };
  const answers = await Promise.all(Array.from({ length: 60 }, guess));
  const kinds = new Set(answers.map(({ status, text }) => `${status} ${text}`));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404, 429]));
  expect(kinds.size).toBe(2);
});

describe("a link", () => {
  test("of somebody who shows other arguments than are signed is not signed", async () => {
    const gate = await ask();
    const shown = await fetch(at(gate), { headers: { accept: "application/json" } });
    const real = (await shown.json()) as Record<string, unknown>;
    let authorization: string | undefined = "none came";
    const evil = createServer((incoming, response) => {
      authorization = incoming.headers.authorization;
      response.end(JSON.stringify({ ...real, arguments_text: '{"harmless":true}' }));
    });
    await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
    const { port } = evil.address() as { port: number };
    const key = `${rig.folder}/signer.key`;
    writeFileSync(key, rig.keyText, { mode: 0o600 });
    const link = `http://127.0.0.1:${port}${at(gate).pathname}`;
    const env = { ISTHMUS_TOKEN: rig.tokens.operator ?? "" };
    const signed = await runProgram(["approve", "--print", link, "--key", key], { env });
    evil.close();
    expect(signed).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("do not trust this link") });
    expect(authorization).toBeUndefined();
    const direct = await runProgram(["approve", link, "--key", key], { env });
    expect(direct).toMatchObject({ code: 2, stderr: expect.stringContaining("--print") });
  });
});
