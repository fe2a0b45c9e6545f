/** A gateway before another one: what the one behind wants approved stays so, whatever the one before it is told. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type ClientKind, connectClient } from "../../eras/sdk-clients.ts";
import { eventually } from "../../kit/eventually.ts";
import { UserAgent } from "../../kit/user-agent.ts";
import { type RunningGateway, startGateway } from "../kit/gateway.ts";
import { runProgram } from "../kit/program.ts";
import { openSession, post, type RpcMessage, toolCall } from "../kit/rpc.ts";
import { type GateObject, gateOf, ValveRig } from "./valve-rig.ts";

const TOOL = "edge.plant_open";
const PASSED_ON = ["status", "confirmation_id", "tool", "arguments", "capability", "route", "gate_aggregator_id"];

/** The gateway that clients see. */
class Root implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "isthmus-root-"));
  readonly key: KeyObject;
  readonly #anchor: string;
  readonly tokens: Record<string, string> = {};
  gateway!: RunningGateway;

  private constructor() {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    this.key = privateKey;
    this.#anchor = JSON.stringify(publicKey.export({ format: "pem", type: "spki" }).toString());
  }

  /** `tokens`: who has one, and the words it is made with. */
  static async before(
    child: ValveRig,
    gate: string,
    more = "",
    tokens: Readonly<Record<string, string>> = {},
  ): Promise<Root> {
    const root = new Root();
    const state = JSON.stringify(join(root.folder, "state"));
    const anchor = `[[gate.anchors]]\nkey = ${root.#anchor}\n`;
    const server = `[[servers]]\nid = "edge"\nurl = "${child.url}"\n`;
    const config = `[gateway]\nstate = ${state}\n[gate]\n${gate}\n${anchor}${server}${more}`;
    for (const [who, words] of Object.entries(tokens)) {
      const { stdout, stderr } = await runProgram(["token", "create", ...words.split(" ")], { config });
      if (stdout === "") throw new Error(stderr);
      root.tokens[who] = stdout.trim();
    }
    root.gateway = await startGateway({ config });
    return root;
  }

  async call(
    args: object,
    more: { name?: string; path?: string; headers?: Record<string, string>; meta?: object } = {},
  ) {
    const { name = TOOL, path = "/mcp", headers = {}, meta } = more;
    const { messages } = await post(new URL(path, this.gateway.url).href, toolCall(1, name, args, meta), headers);
    return messages.at(-1) ?? {};
  }

  /** The header of somebody who has a token. */
  as(who: string): { headers: Record<string, string> } {
    return { headers: { authorization: `Bearer ${this.tokens[who]}` } };
  }

  async confirm(child: ValveRig, gate: GateObject): Promise<RpcMessage | undefined> {
    const proof = child.proof(gate, "approve", { key: this.key });
    const params = { confirmation_id: gate.confirmation_id, decision: "approve", proof };
    const url = new URL("/mcpax/confirm", this.gateway.url).href;
    return (await post(url, { id: 1, method: "mcpax/confirm", params })).messages[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

let child: ValveRig;
let number = 0;
const fresh = () => ({ valve: `v-${++number}` });

beforeAll(async () => {
  child = await ValveRig.start({ gate: 'hold = "100ms"' });
});
afterAll(() => child[Symbol.asyncDispose]());

const picked = (gate: GateObject) => Object.fromEntries(PASSED_ON.map((name) => [name, gate[name]]));

describe("a gateway that gates nothing itself", () => {
  let root: Root;
  let before = 0;
  beforeAll(async () => {
    root = await Root.before(child, 'mode = "open"\nhold = "100ms"');
  });
  afterAll(() => root[Symbol.asyncDispose]());
  afterEach(() => {
    before = child.made().length;
  });

  test("[AX-202] passes on unchanged what the one behind it wants confirmed", async () => {
    const args = { ...fresh(), percent: 75 };
    const seen = await root.call(args);
    const direct = await child.call("plant.open", args);
    const [passed, own] = [gateOf(seen), gateOf(direct)];
    const both = { tool: own.tool, arguments: args, args_sha256: own.args_sha256, capability: own.capability };
    expect(passed).toMatchObject({ ...both, gate_aggregator_id: own.gate_aggregator_id });
    expect(Object.keys(passed)).toEqual(Object.keys(own));
    expect(seen.result).toMatchObject({ isError: true });
    expect(JSON.stringify(seen.result?.content)).toContain(passed.confirmation_id);
    // The one behind does not take a client of its own for the one that calls through us.
    expect(passed.confirmation_id).not.toBe(own.confirmation_id);
    expect(child.made()).toHaveLength(before);
  });

  test("[AX-202] lets the call through when it was confirmed there, once", async () => {
    const args = fresh();
    const gate = gateOf(await root.call(args));
    expect(await child.confirm(gate)).toMatchObject({ result: { status: "approved" } });
    expect((await root.call(args)).result).toMatchObject({ content: [{ text: "did open" }] });
    expect(child.made()).toHaveLength(before + 1);
    expect(gateOf(await root.call(args)).confirmation_id).not.toBe(gate.confirmation_id);
  });

  test("[AX-203] leaves the flags of the one behind it on its tools", async () => {
    const { messages } = await post(root.gateway.url, { id: 1, method: "tools/list" });
    const tools = messages[0]?.result?.tools as { name: string; _meta?: object }[];
    expect(tools.find(({ name }) => name === TOOL)?._meta).toMatchObject({
      "x-mcpax-safety": "irreversible_mutable",
      "x-mcpax-gated": true,
    });
  });

  test.each<[string, Parameters<Root["call"]>[1]]>([
    ["a confirmation that it names itself", { meta: { "x-mcpax-confirmation-id": crypto.randomUUID() } }],
    ["a gate that it says is open", { meta: { "x-mcpax-gate": { status: "approved" }, "x-mcpax-gated": false } }],
    ["the server's own catalog", { name: "plant.open", path: "/edge/mcp" }],
    ["words of a process of the gateway", { headers: { "isthmus-hop": "1 x", "isthmus-hop-home": "edge" } }],
  ])("[AX-203] is no way around it for a client with %s", async (_what, more) => {
    const gate = gateOf(await root.call(fresh(), more));
    expect(gate).toMatchObject({ status: "confirmation_required", tool: "plant.open" });
    expect(child.made()).toHaveLength(before);
  });

  test("[AX-203] cannot confirm it: neither its own key nor its own word counts there", async () => {
    const gate = gateOf(await root.call(fresh()));
    expect(await root.confirm(child, gate)).toMatchObject({ error: { message: "confirmation_unknown" } });
    expect(await child.confirm(gate, "approve", { key: root.key })).toMatchObject({
      error: { data: { reason: "unknown_trust_anchor" } },
    });
    expect(child.made()).toHaveLength(before);
  });

  test("[AX-205] does not keep it as the answer of a call that is made once", async () => {
    const args = fresh();
    const headers = { "idempotency-key": `once-${number}` };
    const gate = gateOf(await root.call(args, { headers }));
    expect(gateOf(await root.call(args, { headers })).confirmation_id).toBe(gate.confirmation_id);
    await child.confirm(gate);
    expect((await root.call(args, { headers })).result).toMatchObject({ content: [{ text: "did open" }] });
    expect((await root.call(args, { headers })).result).toMatchObject({ content: [{ text: "did open" }] });
    expect(child.made()).toHaveLength(before + 1);
  });

  test.each<ClientKind>(["v1", "v2-2025", "v2-2026"])(
    "[AX-202] asks the user of the SDK's client %s to open the page of the one behind it",
    async (kind) => {
      await using patient = await ValveRig.start({ gate: 'hold = "20s"' });
      await using first = await Root.before(patient, 'mode = "open"');
      const client = await connectClient(kind, first.gateway.url);
      const answered = client.callTool(TOOL, fresh());
      const [gate] = await eventually(
        () => patient.waiting(),
        (found) => found.length > 0,
      );
      if (!gate) throw new Error("nothing waits");
      await eventually(
        () => client.asked.length,
        (asked) => asked > 0,
      );
      expect(client.asked[0]?.params).toMatchObject({ mode: "url", url: gate.confirm_url });
      expect(patient.made()).toEqual([]);
      const browser = new UserAgent();
      const { value: proof } = patient.proof(gate) as { value: string };
      await browser.submit(await browser.open(String(gate.confirm_url)), { decision: "approve", proof });
      expect(await answered).toMatchObject({ content: [{ text: "did open" }] });
      expect(client.asked).toHaveLength(1);
      await client.close();
    },
  );
});

describe("no setting of a gateway removes what the one behind it wants", () => {
  const ALIAS = '[[catalogs]]\nid = "ops"\ninclude = ["edge.*"]\nrename = { "edge.plant_open" = "start" }\n';
  const TRUSTING = '[access]\ndefaultPolicy = "opt-out"\n';

  test.each<[string, string, string, Parameters<Root["call"]>[1]?]>([
    ["that opens its own gates", 'mode = "open"', ""],
    ["that takes anybody's word", 'evidence = "session_user"\nmode = "open"', ""],
    ["that lets everybody do everything", 'mode = "open"', TRUSTING],
    ["under another name", 'mode = "open"', ALIAS, { name: "start", path: "/ops/mcp" }],
    ["that asks nobody to open a page", 'mode = "open"\nask = "never"', ""],
  ])("[AX-205] one %s", async (_what, gate, more, how) => {
    await using root = await Root.before(child, gate, more);
    const before = child.made().length;
    const passed = gateOf(await root.call(fresh(), how));
    const [waiting] = await child.waiting();
    expect(waiting && picked({ ...waiting, status: "confirmation_required" })).toEqual(picked(passed));
    expect(child.made()).toHaveLength(before);
  });
});

describe("two gateways that both gate", () => {
  test("[AX-206] must both be told yes, each by whom it trusts", async () => {
    await using root = await Root.before(child, 'hold = "100ms"');
    const before = child.made().length;
    const args = fresh();
    const own = gateOf(await root.call(args));
    expect(own.tool).toBe(TOOL);
    expect(await child.waiting()).not.toContainEqual(expect.objectContaining({ arguments: args }));
    expect(await child.confirm(own)).toMatchObject({ error: { message: "confirmation_unknown" } });
    expect(await root.confirm(child, own)).toMatchObject({ result: { status: "approved" } });
    const below = gateOf(await root.call(args));
    expect(below.gate_aggregator_id).not.toBe(own.gate_aggregator_id);
    expect(child.made()).toHaveLength(before);
    expect(await child.confirm(below)).toMatchObject({ result: { status: "approved" } });
    const again = gateOf(await root.call(args));
    expect(again.gate_aggregator_id).toBe(own.gate_aggregator_id);
    await root.confirm(child, again);
    expect((await root.call(args)).result).toMatchObject({ content: [{ text: "did open" }] });
    expect(child.made()).toHaveLength(before + 1);
  });

  test("[AX-206] make it as hard as the harder of them: a user's word for the one is none for the other", async () => {
    await using root = await Root.before(child, 'evidence = "session_user"\nhold = "5s"');
    const before = child.made().length;
    const session = await openSession(root.gateway.url, { elicitation: {} });
    const response = await fetch(root.gateway.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...session },
      body: JSON.stringify({ jsonrpc: "2.0", ...toolCall(1, TOOL, fresh()) }),
    });
    let seen = "";
    let hasAnswered = false;
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      seen += chunk;
      const asked = /"id":("[^"]+"|\d+),"method":"elicitation\/create"/.exec(seen);
      if (!asked?.[1] || hasAnswered) continue;
      hasAnswered = true;
      const result = { action: "accept", content: { decision: "confirm" } };
      await post(root.gateway.url, { id: JSON.parse(asked[1]) as string, result }, session);
    }
    expect(hasAnswered).toBe(true);
    const last = seen.split("\n").findLast((line) => line.startsWith("data:")) ?? "";
    expect(gateOf(JSON.parse(last.slice(5)) as RpcMessage)).toMatchObject({ tool: "plant.open" });
    expect(child.made()).toHaveLength(before);
  });

  test("[AX-206] need one yes more than the lower one where only the upper one gates", async () => {
    await using open = await ValveRig.start({ gate: 'mode = "open"' });
    await using root = await Root.before(open, 'hold = "100ms"');
    const args = fresh();
    const gate = gateOf(await root.call(args));
    expect(open.made()).toEqual([]);
    await root.confirm(open, gate);
    expect((await root.call(args)).result).toMatchObject({ content: [{ text: "did open" }] });
    expect(open.made()).toHaveLength(1);
  });
});

describe("callers of one gateway, to the one behind it", () => {
  const TOKENS = { ann: "--user ann", bob: "--user bob" };
  let root: Root;
  beforeAll(async () => {
    root = await Root.before(
      child,
      'mode = "open"',
      '[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n',
      TOKENS,
    );
  });
  afterAll(() => root[Symbol.asyncDispose]());

  test("are callers of their own: nobody uses or joins what another one waits for", async () => {
    const before = child.made().length;
    const args = fresh();
    const asked = gateOf(await root.call(args, root.as("ann")));
    expect(gateOf(await root.call(args, root.as("bob"))).confirmation_id).not.toBe(asked.confirmation_id);
    expect(await child.confirm(asked)).toMatchObject({ result: { status: "approved" } });
    expect(gateOf(await root.call(args, root.as("bob"))).confirmation_id).not.toBe(asked.confirmation_id);
    expect(gateOf(await child.call("plant.open", args)).confirmation_id).not.toBe(asked.confirmation_id);
    expect(child.made()).toHaveLength(before);
    expect((await root.call(args, root.as("ann"))).result).toMatchObject({ content: [{ text: "did open" }] });
    expect(child.made()).toHaveLength(before + 1);
  });

  test("are not told apart by what they say of themselves", async () => {
    const args = fresh();
    const asked = gateOf(await root.call(args, { ...root.as("ann"), meta: { "dev.isthmus/requester": "x" } }));
    await child.confirm(asked);
    const forged = { ...root.as("bob"), meta: { "dev.isthmus/requester": "x" } };
    expect(gateOf(await root.call(args, forged)).confirmation_id).not.toBe(asked.confirmation_id);
  });

  test("are named to gateways alone, and by nothing that tells who they are", async () => {
    const args = fresh();
    const asked = gateOf(await root.call(args, root.as("ann")));
    await child.confirm(asked);
    await root.call(args, root.as("ann"));
    expect(child.made().at(-1)).not.toContain("requester");
    expect(JSON.stringify(await child.waiting("consumed"))).not.toMatch(/ann|requester":"[\w-]{43}/);
  });
});

test("a client that calls itself a gateway, and names nobody, gets a yes for one call only", async () => {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "isthmus", version: "0" },
  };
  const { headers } = await post(child.url, { id: 0, method: "initialize", params });
  const session = { "mcp-session-id": headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
  const args = fresh();
  const asked = gateOf((await child.call("plant.open", args, { headers: session })) ?? {});
  await child.confirm(asked);
  expect(gateOf(await child.call("plant.open", args, { headers: session })).confirmation_id).not.toBe(
    asked.confirmation_id,
  );
});
