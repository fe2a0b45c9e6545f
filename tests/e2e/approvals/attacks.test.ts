/** Ways around a gate, over the wire. None opens the valve, and each leaves a record. */
import { generateKeyPairSync } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { openSession, post, type RpcMessage, toolCall } from "../kit/rpc.ts";
import { held, trailOf, turnedAway, undecided } from "./traces.ts";
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

const trail = trailOf(() => rig);

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
    const answer = await trail.attack(
      () => call(args),
      (said) => held(gateOf(said)),
    );
    expect(gateOf(answer)).toMatchObject({ status: "confirmation_required", arguments: args });
  });

  test("in a batch of 2025-03-26, each by itself", async () => {
    const opening = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "e2e", version: "1" } };
    const { headers } = await post(rig.url, { id: 0, method: "initialize", params: opening });
    const session = { "mcp-session-id": headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-03-26" };
    await post(rig.url, { method: "notifications/initialized" }, session);
    const [first, second] = [fresh(), fresh()];
    const batch = [toolCall(1, "plant.open", first), toolCall(2, "plant.close", second)];
    const send = async () => {
      const response = await fetch(rig.url, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...session },
        body: JSON.stringify(batch.map((message) => ({ jsonrpc: "2.0", ...message }))),
      });
      return await response.text();
    };
    const text = await trail.attack(send, held(undefined, "close"));
    expect(text.match(/"status":"confirmation_required"/g)).toHaveLength(2);
  });

  test.each(["PLANT.OPEN", "plant.open ", "plant..open", "plant/open", "open"])(
    "%j is no other way to it",
    async (name) => {
      const { error } = await trail.attack(() => rig.call(name, {}), turnedAway("name", name));
      expect(error?.code).toBe(-32601);
    },
  );

  test.each([
    ["a repeated key", '{"valve":"a","valve":"b"}'],
    ["a repeated key in escapes", '{"valve":"a","\\u0076alve":"b"}'],
  ])("arguments with %s are refused", async (_what, args) => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plant.open","arguments":${args}}}`;
    const blocked = { type: "TOOL_BLOCKED", why: "BAD_CALL", actor: "local", server: "plant", name: "open" };
    const answer = await trail.attack(() => raw(body), blocked);
    expect(answer.error?.code).toBe(-32602);
  });

  test("a state that a client of 2026 made up is none", async () => {
    const call = () => rig.modernCall("plant.open", fresh(), { params: { requestState: "AAAA" } });
    const answer = await trail.attack(call, turnedAway("state", "plant.open"));
    expect(answer.error).toMatchObject({ code: -32602 });
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
    const proof = rig.proof(gate, "approve", forged);
    const params = { confirmation_id: gate.confirmation_id, decision: "approve", proof };
    const answer = await trail.attack(() => rig.confirmWith(params), undecided(reason, gate), [proof.value]);
    expect(answer).toMatchObject({
      error: { code: -32010, message: "confirmation_proof_invalid", data: { reason } },
    });
  });

  test("[AX-196] without a proof, over HTTP and over MCP", async () => {
    const gate = gateOf(await rig.call("plant.open", fresh()));
    const params = { confirmation_id: gate.confirmation_id, decision: "approve" };
    const message = { id: 1, method: "mcpax/confirm", params };
    for (const bring of [
      () => rig.confirmWith(params),
      () => rig.rpc(message),
      () => rig.rpc(message, { path: "/plant/mcp" }),
      () => rig.modern("mcpax/confirm", params),
    ]) {
      const answer = await trail.attack(bring, undecided("missing_proof", gate));
      expect(answer).toMatchObject({ error: { code: -32010, data: { reason: "missing_proof" } } });
    }
  });

  test("of what there is not", async () => {
    const gate = gateOf(await rig.call("plant.open", fresh()));
    const bring = () => rig.confirm({ ...gate, confirmation_id: "7d0d3f2e-7a51-4b7e-8a52-2f2f6f0c9a10" });
    const answer = await trail.attack(bring, undecided("unknown"));
    expect(answer).toMatchObject({ error: { code: -32010, message: "confirmation_unknown" } });
  });

  test("by the caller as an operator of the gateway", async () => {
    const gate = gateOf(await rig.call("plant.open", fresh()));
    const { confirmation_id } = gate;
    const url = new URL(`/api/approvals/${confirmation_id}/approve`, rig.url);
    const approve = () => fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
    expect((await trail.attack(approve, undecided("own_principal", gate))).status).toBe(403);
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
    const proof = rig.proof(gate);
    const bring = () => raw(body(gate, JSON.stringify(proof)), "/mcpax/confirm");
    const answer = await trail.attack(bring, turnedAway("confirm"), [proof.value]);
    expect(answer.error).toBeDefined();
    expect((await rig.waiting()).map((one) => one.confirmation_id)).toContain(gate.confirmation_id);
  });

  test("that comes by another method, or as another type", async () => {
    const url = new URL("/mcpax/confirm", rig.url);
    const send = (why: string, init?: RequestInit) => trail.attack(() => fetch(url, init), turnedAway(why));
    expect((await send("confirm")).status).toBe(405);
    expect((await send("confirm", { method: "POST", body: "{}" })).status).toBe(415);
    const foreign = await send("origin", { method: "POST", headers: { origin: "https://evil.example" }, body: "{}" });
    expect(foreign.status).toBe(403);
  });

  test("that is brought twice", async () => {
    await using own = await ValveRig.start({ gate: 'hold = "50ms"' });
    const gate = gateOf(await own.call("plant.open", {}));
    const proof = own.proof(gate);
    const params = { confirmation_id: gate.confirmation_id, decision: "approve", proof };
    const again = async (why: string) => {
      const replay = () => own.confirmWith(params);
      const answer = await trailOf(() => own).attack(replay, undecided(why, gate), [proof.value]);
      expect(answer).toMatchObject({ error: { data: { reason: why } } });
    };
    expect(await own.confirmWith(params)).toMatchObject({ result: { status: "approved" } });
    await again("already_approved");
    await own.call("plant.open", {});
    await again("already_consumed");
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
    const answer = await trailOf(() => own).attack(() => own.confirm(gate), undecided("expired", gate));
    expect(answer).toMatchObject({ error: { code: -32010, message: "confirmation_expired" } });
    expect(own.made()).toEqual([]);
  });
});
