/** Ways around a gate, over the wire. None opens the valve, and each that tries to decide leaves a record. */
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../hostile/kit/observe.ts";
import { openSession, post, type RpcMessage, toolCall } from "../kit/rpc.ts";
import { type Forged, type GateObject, gateOf, ValveRig } from "./valve-rig.ts";

const CATALOGS = `
[[catalogs]]
id = "ops"
include = ["plant.*"]
rename = { "plant.open" = "start" }
`;

let rig: ValveRig;
let number = 0;
/** Arguments that no other test has. */
const fresh = () => ({ valve: `v-${++number}` });

beforeAll(async () => {
  rig = await ValveRig.start({ more: CATALOGS, gate: 'hold = "50ms"' });
});
afterAll(() => rig[Symbol.asyncDispose]());
afterEach(() => expect(rig.made()).toEqual([]));

async function events(
  type: string,
  more = "",
): Promise<readonly { details: Record<string, unknown>; result: string }[]> {
  const response = await fetch(new URL(`/api/audit?event_type=${type}&limit=1000${more}`, rig.url));
  return ((await response.json()) as { events: { details: Record<string, unknown>; result: string }[] }).events;
}

function isAbout(details: Record<string, unknown>, gate: GateObject, why: string): boolean {
  return details.approval === gate.confirmation_id && details.why === why;
}

async function raw(body: string, path = "/mcp", headers: Record<string, string> = {}): Promise<RpcMessage> {
  const response = await fetch(new URL(path, rig.url), {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body,
  });
  const text = await response.text();
  return text.startsWith("{") || text.startsWith("[")
    ? JSON.parse(text)
    : { error: { code: response.status, message: text } };
}

describe("a call waits, whichever way it takes", () => {
  type Way = (args: object) => Promise<RpcMessage>;
  const WAYS: readonly (readonly [way: string, call: Way])[] = [
    ["without a session", (args) => rig.call("plant.open", args)],
    [
      "in a session",
      async (args) =>
        (await post(rig.url, toolCall(1, "plant.open", args), await openSession(rig.url))).messages.at(-1) ?? {},
    ],
    ["in the era of 2026, over the bridge to a server of 2025", (args) => rig.modernCall("plant.open", args)],
    ["through the server's own catalog", (args) => rig.call("open", args, { path: "/plant/mcp" })],
    ["under another name in a catalog", (args) => rig.call("start", args, { path: "/ops/mcp" })],
    [
      "with its name in escapes",
      (args) =>
        raw(
          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plant.\\u006fpen","arguments":${JSON.stringify(args)}}}`,
        ),
    ],
    [
      "with a confirmation that it names itself",
      (args) =>
        rig.call("plant.open", args, { meta: { "x-mcpax-confirmation-id": "7d0d3f2e-7a51-4b7e-8a52-2f2f6f0c9a10" } }),
    ],
    [
      "with a proof in its own _meta",
      (args) => rig.call("plant.open", args, { meta: { "x-mcpax-gate": { status: "approved" }, confirmed: true } }),
    ],
    [
      "with an idempotency key",
      (args) => rig.call("plant.open", args, { headers: { "idempotency-key": `k-${number}` } }),
    ],
    [
      "from a client that could ask its user, whose word is not enough",
      (args) => rig.modernCall("plant.open", args, { capabilities: { elicitation: {} } }),
    ],
    [
      "with answers to questions that nobody asked",
      (args) =>
        rig.modernCall("plant.open", args, {
          params: { inputResponses: { "approval x": { action: "accept", content: { decision: "confirm" } } } },
        }),
    ],
    [
      "with a route of its own",
      (args) => rig.call("plant.open", args, { meta: { "x-mcpax-route": ["plant", "open"], "x-mcpax-cursor": 1 } }),
    ],
    [
      "as a task of a client that takes none",
      (args) => rig.rpc({ id: 1, method: "tools/call", params: { name: "plant.open", arguments: args, task: {} } }),
    ],
  ];

  test.each(WAYS)("%s", async (_way, call) => {
    const args = fresh();
    const gate = gateOf(await call(args));
    expect(gate).toMatchObject({ status: "confirmation_required", arguments: args });
    const asked = await events("dev.isthmus.approval.requested");
    expect(asked.filter(({ details }) => details.approval === gate.confirmation_id)).toHaveLength(1);
  });

  test("in a batch of 2025-03-26, each by itself", async () => {
    const opening = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "e2e", version: "1" } };
    const { headers } = await post(rig.url, { id: 0, method: "initialize", params: opening });
    const session = { "mcp-session-id": headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-03-26" };
    await post(rig.url, { method: "notifications/initialized" }, session);
    const [first, second] = [fresh(), fresh()];
    const batch = [toolCall(1, "plant.open", first), toolCall(2, "plant.close", second)];
    const response = await fetch(rig.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...session },
      body: JSON.stringify(batch.map((message) => ({ jsonrpc: "2.0", ...message }))),
    });
    const text = await response.text();
    expect(text.match(/"status":"confirmation_required"/g)).toHaveLength(2);
  });

  test.each(["PLANT.OPEN", "plant.open ", "plant..open", "plant/open", "open"])(
    "%j is no other way to it",
    async (name) => {
      expect((await rig.call(name, {})).error?.code).toBe(-32601);
    },
  );

  test.each([
    ["a repeated key", '{"valve":"a","valve":"b"}'],
    ["a repeated key in escapes", '{"valve":"a","\\u0076alve":"b"}'],
  ])("arguments with %s are refused", async (_what, args) => {
    const answer = await raw(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plant.open","arguments":${args}}}`,
    );
    expect(answer.error?.code).toBe(-32602);
  });

  test("a state that a client of 2026 made up is none", async () => {
    const answer = await rig.modernCall("plant.open", fresh(), { params: { requestState: "AAAA" } });
    expect(answer.error).toMatchObject({ code: -32602 });
  });
});

describe("a yes for one call is none for another", () => {
  test.each([
    ["a number in another spelling", '{"percent":75.0}'],
    ["a number with an exponent", '{"percent":7.5e1}'],
    ["a number as text", '{"percent":"75"}'],
    ["one more member", '{"percent":75,"force":true}'],
  ])("with %s", async (_what, other) => {
    await using own = await ValveRig.start({ gate: 'hold = "50ms"' });
    const gate = gateOf(await own.call("plant.open", { percent: 75 }));
    await own.confirm(gate);
    const response = await fetch(own.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plant.open","arguments":${other}}}`,
    });
    const text = await response.text();
    expect(text).toContain("confirmation_required");
    expect(text).not.toContain(gate.confirmation_id);
    expect(own.made()).toEqual([]);
  });

  test("of another tool with the same arguments", async () => {
    const args = fresh();
    await rig.confirm(gateOf(await rig.call("plant.open", args)));
    gateOf(await rig.call("plant.close", args));
  });
});

describe("a confirmation is refused", () => {
  const other = generateKeyPairSync("ed25519").privateKey;
  const past = Math.floor(Date.now() / 1000) - 600;
  const FORGED: readonly (readonly [what: string, reason: string, forged: Forged])[] = [
    ["by a key that nobody trusts", "unknown_trust_anchor", { key: other }],
    ["of a type that nobody is trusted with", "unknown_trust_anchor", { type: "policy_nonce" }],
    ["for another gateway", "wrong_audience", { claims: { aud: "urn:uuid:0" } }],
    ["for other arguments", "wrong_arguments", { claims: { args_sha256: "AAAA" } }],
    ["for another tool", "wrong_tool", { claims: { tool: "plant.look" } }],
    ["for another confirmation", "wrong_confirmation", { claims: { confirmation_id: "x" } }],
    ["with another nonce", "wrong_nonce", { claims: { nonce: "x" } }],
    ["with another decision", "wrong_decision", { claims: { decision: "deny" } }],
    ["that has expired", "proof_expired", { claims: { iat: past, exp: past + 300 } }],
    ["that is not yet valid", "not_yet_valid", { claims: { iat: past + 1200, exp: past + 1500 } }],
    ["of the caller itself", "own_principal", { claims: { sub: "local" } }],
    ["with alg none", "algorithm_not_allowed", { header: { alg: "none" } }],
    ["with alg HS256", "algorithm_not_allowed", { header: { alg: "HS256" } }],
  ];

  test.each(FORGED)("[AX-200] with a proof %s", async (_what, reason, forged) => {
    const gate = gateOf(await rig.call("plant.open", fresh()));
    expect(await rig.confirm(gate, "approve", forged)).toMatchObject({
      error: { code: -32010, message: "confirmation_proof_invalid", data: { reason } },
    });
    await eventually(
      () => events("dev.isthmus.approval.refused"),
      (found) => found.some(({ details, result }) => result === "DENIED" && isAbout(details, gate, reason)),
    );
  });

  test("[AX-196] without a proof, over HTTP and over MCP", async () => {
    const { confirmation_id } = gateOf(await rig.call("plant.open", fresh()));
    const params = { confirmation_id, decision: "approve" };
    const missing = { error: { code: -32010, data: { reason: "missing_proof" } } };
    expect(await rig.confirmWith(params)).toMatchObject(missing);
    expect(await rig.rpc({ id: 1, method: "mcpax/confirm", params })).toMatchObject(missing);
    expect(await rig.rpc({ id: 1, method: "mcpax/confirm", params }, { path: "/plant/mcp" })).toMatchObject(missing);
    expect(await rig.modern("mcpax/confirm", params)).toMatchObject(missing);
  });

  test("of what there is not", async () => {
    const gate = gateOf(await rig.call("plant.open", fresh()));
    const answer = await rig.confirm({ ...gate, confirmation_id: "7d0d3f2e-7a51-4b7e-8a52-2f2f6f0c9a10" });
    expect(answer).toMatchObject({ error: { code: -32010, message: "confirmation_unknown" } });
  });

  test("by the caller as an operator of the gateway", async () => {
    const { confirmation_id } = gateOf(await rig.call("plant.open", fresh()));
    const url = new URL(`/api/approvals/${confirmation_id}/approve`, rig.url);
    const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
    expect(response.status).toBe(403);
    expect((await rig.waiting()).map((one) => one.confirmation_id)).toContain(confirmation_id);
  });

  test.each([
    [
      "repeats a key",
      (gate: GateObject, proof: string) =>
        `{"jsonrpc":"2.0","id":1,"method":"mcpax/confirm","params":{"confirmation_id":"${gate.confirmation_id}","decision":"deny","decision":"approve","proof":${proof}}}`,
    ],
    [
      "repeats a key in the proof",
      (gate: GateObject, proof: string) =>
        `{"jsonrpc":"2.0","id":1,"method":"mcpax/confirm","params":{"confirmation_id":"${gate.confirmation_id}","decision":"approve","proof":{"type":"x",${proof.slice(1)}}}`,
    ],
    [
      "is a notification",
      (gate: GateObject, proof: string) =>
        `{"jsonrpc":"2.0","method":"mcpax/confirm","params":{"confirmation_id":"${gate.confirmation_id}","decision":"approve","proof":${proof}}}`,
    ],
    [
      "is a batch",
      (gate: GateObject, proof: string) =>
        `[{"jsonrpc":"2.0","id":1,"method":"mcpax/confirm","params":{"confirmation_id":"${gate.confirmation_id}","decision":"approve","proof":${proof}}}]`,
    ],
    [
      "is another method",
      (gate: GateObject, proof: string) =>
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"confirmation_id":"${gate.confirmation_id}","decision":"approve","proof":${proof}}}`,
    ],
    [
      "has a decision of another kind",
      (gate: GateObject, proof: string) =>
        `{"jsonrpc":"2.0","id":1,"method":"mcpax/confirm","params":{"confirmation_id":"${gate.confirmation_id}","decision":true,"proof":${proof}}}`,
    ],
    ["has no params", () => '{"jsonrpc":"2.0","id":1,"method":"mcpax/confirm"}'],
    ["is no JSON", () => "{"],
  ])("that %s", async (_what, body) => {
    const gate = gateOf(await rig.call("plant.open", fresh()));
    const answer = await raw(body(gate, JSON.stringify(rig.proof(gate))), "/mcpax/confirm");
    expect(answer.error).toBeDefined();
    expect((await rig.waiting()).map((one) => one.confirmation_id)).toContain(gate.confirmation_id);
  });

  test("that comes by another method, or as another type", async () => {
    const url = new URL("/mcpax/confirm", rig.url);
    expect((await fetch(url)).status).toBe(405);
    expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(415);
    const foreign = await fetch(url, { method: "POST", headers: { origin: "https://evil.example" }, body: "{}" });
    expect(foreign.status).toBe(403);
  });

  test("that is brought twice", async () => {
    await using own = await ValveRig.start({ gate: 'hold = "50ms"' });
    const gate = gateOf(await own.call("plant.open", {}));
    const params = { confirmation_id: gate.confirmation_id, decision: "approve", proof: own.proof(gate) };
    expect(await own.confirmWith(params)).toMatchObject({ result: { status: "approved" } });
    expect(await own.confirmWith(params)).toMatchObject({ error: { data: { reason: "already_approved" } } });
    await own.call("plant.open", {});
    expect(await own.confirmWith(params)).toMatchObject({ error: { data: { reason: "already_consumed" } } });
    gateOf(await own.call("plant.open", {}));
    expect(own.made()).toHaveLength(1);
  });

  test("[AX-195] that comes after its time", async () => {
    await using own = await ValveRig.start({ gate: 'hold = "50ms"\nexpiry = "300ms"' });
    const gate = gateOf(await own.call("plant.open", {}));
    const over = Date.parse(String(gate.expires_at)) + 1_000;
    await eventually(
      () => Date.now(),
      (now) => now > over,
    );
    expect(await own.confirm(gate)).toMatchObject({ error: { code: -32010, message: "confirmation_expired" } });
    expect(own.made()).toEqual([]);
  });
});

describe("of what races, one wins", () => {
  test("two that approve: the call is made once", async () => {
    await using own = await ValveRig.start({ gate: 'hold = "20s"' });
    const calls = [own.call("plant.open", {}), own.call("plant.open", {})];
    const [gate] = await eventually(
      () => own.waiting(),
      (found) => found.length > 0,
    );
    if (!gate) throw new Error("nothing waits");
    const answers = await Promise.all([own.confirm(gate), own.confirm(gate), own.confirm(gate, "deny")]);
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(1);
    await Promise.all(calls);
    expect(own.made().length).toBeLessThanOrEqual(1);
  });

  test("many repeats of what was approved: one is made", async () => {
    await using own = await ValveRig.start({ gate: 'hold = "50ms"' });
    await own.confirm(gateOf(await own.call("plant.open", {})));
    await Promise.all(Array.from({ length: 10 }, () => own.call("plant.open", {})));
    expect(own.made()).toHaveLength(1);
  });

  test("repeats under one idempotency key: one is made, and each gets its answer", async () => {
    await using own = await ValveRig.start({ gate: 'hold = "50ms"' });
    const headers = { "idempotency-key": "k" };
    const gate = gateOf(await own.call("plant.open", {}, { headers }));
    await own.confirm(gate);
    const first = await own.call("plant.open", {}, { headers });
    const second = await own.call("plant.open", {}, { headers });
    expect([first, second].map(({ result }) => result?.content)).toEqual([
      [{ type: "text", text: "did open" }],
      [{ type: "text", text: "did open" }],
    ]);
    expect(own.made()).toHaveLength(1);
  });
});

describe("what was approved is worth nothing", () => {
  test("when the gate has changed since", async () => {
    await using own = await ValveRig.start({ gate: 'hold = "50ms"' });
    const gate = gateOf(await own.call("plant.open", {}));
    await own.confirm(gate);
    const config = own.config().replace('hold = "50ms"', 'hold = "50ms"\nmode = "strict"');
    writeFileSync(join(own.gateway.program.folder, "isthmus.toml"), config);
    await eventually(
      () => own.call("plant.mark", {}),
      ({ result }) => result?.isError === true,
    );
    expect(gateOf(await own.call("plant.open", {})).confirmation_id).not.toBe(gate.confirmation_id);
    expect(own.made().filter((line) => line.includes('"open"'))).toEqual([]);
  });
});

describe("in strict mode", () => {
  test("[AX-185] tools that say nothing wait as well, and so do methods that nobody knows", async () => {
    await using own = await ValveRig.start({ gate: 'mode = "strict"\nhold = "50ms"' });
    expect(gateOf(await own.call("plant.mark", {})).reason).toBe("undeclared");
    const forced = await own.rpc({ id: 1, method: "valve/force", params: {} });
    expect(forced.error?.message).toContain("confirmation_required");
    expect((await own.call("plant.look", {})).result).toMatchObject({ content: [{ text: "did look" }] });
    expect(own.made().filter((line) => !line.includes('"look"'))).toEqual([]);
  });
});

test.each([
  ["of one piece", { server: 'prefix = ""' }, "open"],
  ["without dots", { gateway: 'naming = "underscore"' }, "plant__open"],
])("names %s lead to the same gate", async (_what, options, name) => {
  await using own = await ValveRig.start({ gate: 'hold = "50ms"', ...options });
  expect(gateOf(await own.call(name, {})).tool).toBe(name);
  expect(own.made()).toEqual([]);
});

test("in open mode tools are flagged, and nothing waits", async () => {
  await using own = await ValveRig.start({ gate: 'mode = "open"' });
  expect((await own.call("plant.open", {})).result).toMatchObject({ content: [{ text: "did open" }] });
  const { result } = await own.rpc({ id: 1, method: "tools/list" });
  expect(JSON.stringify(result)).toContain('"x-mcpax-safety":"irreversible_mutable"');
  expect(JSON.stringify(result)).not.toContain("x-mcpax-gated");
});
