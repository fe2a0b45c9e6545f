/** Calls that cannot be taken back, from clients that know nothing of approvals. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EventStream } from "../../hostile/kit/event-stream.ts";
import { eventually } from "../../kit/eventually.ts";
import { startGateway } from "../kit/gateway.ts";
import { Program, runProgram } from "../kit/program.ts";
import { openSession, post, StdioClient, toolCall } from "../kit/rpc.ts";
import { gateOf, ValveRig } from "./valve-rig.ts";

const VALVE = { valve: "v-3", percent: 75 };

test("[AX-189] [AX-190] [AX-191] [AX-192] [AX-193] an ordinary client is told what waits, by whom it is decided and until when", async () => {
  await using rig = await ValveRig.start();
  const answer = await rig.call("plant.close", VALVE);
  const gate = gateOf(answer);
  expect(gate).toMatchObject({
    status: "confirmation_required",
    tool: "plant.close",
    arguments: VALVE,
    capability: { mutable: true, reversible: false, schema_version: "2.1.0", latency_class: "standard" },
    route: ["plant", "close"],
    reason: "irreversible_mutable",
    proof_types: ["operator_signature"],
  });
  const { confirmation_id } = gate;
  const text = JSON.stringify({ status: "confirmation_required", confirmation_id });
  expect(answer.result).toMatchObject({ isError: true, content: [{ type: "text" }, { type: "text", text }] });
  expect(rig.made()).toEqual([]);
});

test("[AX-187] the list says which tools cannot be taken back, and which of them wait", async () => {
  await using rig = await ValveRig.start();
  const { result } = await rig.rpc({ id: 1, method: "tools/list" });
  const tools = result?.tools as { name: string; _meta?: Record<string, unknown> }[];
  const flags = tools.map(({ name, _meta }) => [name, _meta?.["x-mcpax-safety"], _meta?.["x-mcpax-gated"]]);
  expect(flags).toEqual([
    ["plant.open", "irreversible_mutable", true],
    ["plant.close", "irreversible_mutable", true],
    ["plant.look", undefined, undefined],
    ["plant.mark", undefined, undefined],
    ["plant.ask", undefined, true],
  ]);
});

describe("a call that is held", () => {
  test("[AX-188] [AX-194] is made when it is approved, and its own caller gets the answer", async () => {
    await using rig = await ValveRig.start({ gate: 'hold = "20s"' });
    const answered = rig.call("plant.open", VALVE);
    const [gate] = await eventually(
      () => rig.waiting(),
      (found) => found.length > 0,
    );
    expect(rig.made()).toEqual([]);
    if (!gate) throw new Error("nothing waits");
    expect(await rig.confirm(gate)).toMatchObject({
      result: { status: "dispatched", confirmation_id: gate.confirmation_id },
    });
    expect((await answered).result).toMatchObject({ content: [{ type: "text", text: "did open" }] });
    expect(rig.made()).toHaveLength(1);
  });

  test.each([
    ["5s", /^Waits for a yes: open http.*" in another terminal; this call then goes on by itself\.$/],
    ["300ms", /^Waits for a yes: open http.*, then call again\.$/],
  ])("hears as progress what it waits for, and what it is to do after a hold of %s", async (hold, words) => {
    await using rig = await ValveRig.start({ gate: `hold = "${hold}"` });
    const headers = await openSession(rig.url);
    const message = toolCall(1, "plant.open", VALVE, { progressToken: "p" });
    using stream = await EventStream.open(rig.url, { method: "POST", headers, message });
    const { params } = await stream.message(({ method }) => method === "notifications/progress");
    expect(params).toMatchObject({ progressToken: "p", message: expect.stringMatching(words) });
  });

  test("is not made when it is denied", async () => {
    await using rig = await ValveRig.start({ gate: 'hold = "20s"' });
    const answered = rig.call("plant.open", VALVE);
    const [gate] = await eventually(
      () => rig.waiting(),
      (found) => found.length > 0,
    );
    if (!gate) throw new Error("nothing waits");
    expect(await rig.confirm(gate, "deny")).toMatchObject({ result: { status: "denied" } });
    expect((await answered).result).toMatchObject({
      isError: true,
      _meta: { "dev.isthmus/error": { code: "NOT_ALLOWED" } },
    });
    expect(rig.made()).toEqual([]);
  });

  test("is withdrawn when its client cancels, and approving it dispatches nothing", async () => {
    await using rig = await ValveRig.start({ gate: 'hold = "20s"' });
    const session = await openSession(rig.url);
    const calling = post(rig.url, toolCall(7, "plant.open", VALVE), session).catch(() => undefined);
    const [gate] = await eventually(
      () => rig.waiting(),
      (found) => found.length > 0,
    );
    if (!gate) throw new Error("nothing waits");
    await post(rig.url, { method: "notifications/cancelled", params: { requestId: 7 } }, session);
    await eventually(
      () => rig.waiting("withdrawn"),
      (found) => found.length === 1,
    );
    expect(await rig.confirm(gate)).toMatchObject({
      error: { code: -32010, message: "confirmation_unknown", data: { reason: "already_withdrawn" } },
    });
    await calling;
    expect(rig.made()).toEqual([]);
  });
});

describe("a repeat", () => {
  test.each(["2025", "2026"])(
    "of the call joins the approval and is made with its bytes, in the era of %s",
    async (era) => {
      await using rig = await ValveRig.start();
      const call = (args: object) =>
        era === "2025" ? rig.call("plant.open", args) : rig.modernCall("plant.open", args);
      const gate = gateOf(await call(VALVE));
      expect(gateOf(await call({ percent: 75, valve: "v-3" })).confirmation_id).toBe(gate.confirmation_id);
      expect(await rig.confirm(gate)).toMatchObject({ result: { status: "approved" } });
      expect((await call({ percent: 75, valve: "v-3" })).result).toMatchObject({ content: [{ text: "did open" }] });
      expect(rig.made()).toHaveLength(1);
      expect(rig.made()[0]).toContain('"arguments":{"valve":"v-3","percent":75}');
      expect(gateOf(await call(VALVE)).confirmation_id).not.toBe(gate.confirmation_id);
    },
  );

  test("after a restart finds the approval, waiting or given", async () => {
    await using rig = await ValveRig.start();
    const gate = gateOf(await rig.call("plant.open", VALVE));
    await rig.gateway.stop();
    await rig.startAgain();
    expect(gateOf(await rig.call("plant.open", VALVE))).toMatchObject({
      confirmation_id: gate.confirmation_id,
      gate_aggregator_id: gate.gate_aggregator_id,
    });
    expect(await rig.confirm(gate)).toMatchObject({ result: { status: "approved" } });
    await rig.gateway.program.stop("SIGKILL");
    await rig.startAgain();
    expect((await rig.call("plant.open", VALVE)).result).toMatchObject({ content: [{ text: "did open" }] });
    expect(rig.made()).toHaveLength(1);
  });
});

test("over stdio, where nothing is kept, the call of a client waits as well", async () => {
  const folder = await ValveRig.start();
  await using _ = folder;
  await using program = new Program(["stdio"], { config: folder.config() });
  const client = new StdioClient(program);
  await client.open();
  const answer = await client.ask(toolCall(1, "plant.open", VALVE));
  const gate = gateOf(answer);
  expect(gate.tool).toBe("plant.open");
  expect(gate).not.toHaveProperty("confirm_url");
  const proof = folder.proof(gate);
  const params = { confirmation_id: gate.confirmation_id, decision: "approve", proof };
  expect(await client.ask({ id: 2, method: "mcpax/confirm", params })).toMatchObject({
    result: { status: "approved" },
  });
  expect(await client.ask(toolCall(3, "plant.open", VALVE))).toMatchObject({
    result: { content: [{ text: "did open" }] },
  });
  expect(folder.made()).toHaveLength(1);
});

describe("the user before the client", () => {
  const gate = 'evidence = "session_user"\nhold = "100ms"';

  test("is asked by elicitation in the 2026 era, where its word is enough", async () => {
    await using rig = await ValveRig.start({ gate });
    const capabilities = { elicitation: {} };
    const first = await rig.modernCall("plant.open", VALVE, { capabilities });
    expect(first.result).toMatchObject({ resultType: "input_required" });
    const { inputRequests, requestState } = first.result as { inputRequests: object; requestState: string };
    const [[key, request] = ["", {}]] = Object.entries(inputRequests);
    expect(request).toMatchObject({ method: "elicitation/create" });
    expect(rig.made()).toEqual([]);
    const inputResponses = { [key]: { action: "accept", content: { decision: "confirm" } } };
    const params = { requestState, inputResponses };
    const second = await rig.modernCall("plant.open", VALVE, { capabilities, params });
    expect(second.result).toMatchObject({ content: [{ text: "did open" }] });
    expect(rig.made()).toHaveLength(1);
  });

  test("is asked by elicitation on the call's own stream in the 2025 era", async () => {
    await using rig = await ValveRig.start({ gate });
    const session = await openSession(rig.url, { elicitation: {} });
    const response = await fetch(rig.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...session },
      body: JSON.stringify({ jsonrpc: "2.0", ...toolCall(1, "plant.open", VALVE) }),
    });
    let seen = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      seen += chunk;
      const asked = /"id":("[^"]+"|\d+),"method":"elicitation\/create"/.exec(seen);
      if (asked?.[1] && !seen.includes("did open")) {
        expect(rig.made()).toEqual([]);
        const result = { action: "accept", content: { decision: "confirm" } };
        await post(rig.url, { id: JSON.parse(asked[1]) as string, result }, session);
      }
    }
    expect(seen).toContain("did open");
    expect(rig.made()).toHaveLength(1);
  });

  test("[MG-087] is asked where MGP's metadata wants a confirmation, whatever else needs a proof", async () => {
    await using rig = await ValveRig.start();
    const first = await rig.modernCall("plant.ask", {}, { capabilities: { elicitation: {} } });
    expect(first.result).toMatchObject({ resultType: "input_required" });
  });
});

test("a client that takes tasks is sent away with one, which ends when the call is approved", async () => {
  await using rig = await ValveRig.start();
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const { result } = await rig.modernCall("plant.open", VALVE, { capabilities });
  expect(result).toMatchObject({ resultType: "task" });
  const [gate] = await rig.waiting();
  if (!gate) throw new Error("nothing waits");
  expect(await rig.confirm(gate)).toMatchObject({ result: { status: "dispatched" } });
  await eventually(
    () => rig.made(),
    (made) => made.length === 1,
  );
});

describe("the verbs of an operator", () => {
  test("show what waits, and approve it with a key that they make", async () => {
    await using rig = await ValveRig.start();
    gateOf(await rig.call("plant.open", VALVE));
    const key = join(rig.folder, "operator.key");
    writeFileSync(key, rig.keyText, { mode: 0o600 });
    const where = ["--url", rig.gateway.origin];
    const listed = await runProgram(["approvals", ...where]);
    expect(listed.stdout).toMatch(/waiting +plant\.open +local of default/);
    const approved = await runProgram(["approve", "--latest", "--key", key, ...where]);
    expect(approved.stdout).toContain('  arguments  {"percent":75,"valve":"v-3"}');
    expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining("Approved: the call is made when") });
    expect((await rig.call("plant.open", VALVE)).result).toMatchObject({ content: [{ text: "did open" }] });
    const again = await runProgram(["approve", "--latest", "--key", key, ...where]);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("no call waits") });
  });

  test("deny by as much of the id as is needed", async () => {
    await using rig = await ValveRig.start();
    const { confirmation_id } = gateOf(await rig.call("plant.open", VALVE));
    const key = join(rig.folder, "operator.key");
    writeFileSync(key, rig.keyText, { mode: 0o600 });
    const denied = await runProgram([
      "deny",
      confirmation_id.slice(0, 8),
      "--key",
      key,
      "--json",
      "--url",
      rig.gateway.origin,
    ]);
    expect(JSON.parse(denied.stdout)).toEqual({ status: "denied", confirmation_id });
    expect(await rig.waiting()).toEqual([]);
  });

  test("refuse a key that others can read, and one that the gateway does not know", async () => {
    await using rig = await ValveRig.start();
    gateOf(await rig.call("plant.open", VALVE));
    const open = join(rig.folder, "open.key");
    writeFileSync(open, rig.keyText, { mode: 0o644 });
    const where = ["--latest", "--url", rig.gateway.origin];
    const refused = await runProgram(["approve", ...where, "--key", open]);
    expect(refused).toMatchObject({ code: 9, stderr: expect.stringContaining("others can read this key") });
    const own = join(rig.folder, "own.key");
    const made = await runProgram(["operator", "init", "--key", own]);
    expect(made.stdout).toMatch(/^\[\[gate\.anchors\]\]\nkey = "ssh-ed25519 \S+ operator:\S+"$/m);
    const unknown = await runProgram(["approve", ...where, "--key", own]);
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("does not trust this key") });
    expect(await rig.waiting()).toHaveLength(1);
  });
});

test("a gateway that stops does not wait for approvals: whoever is held is told to come back", async () => {
  await using rig = await ValveRig.start({ gate: 'hold = "20s"' });
  const answered = rig.call("plant.open", VALVE);
  await eventually(
    () => rig.waiting(),
    (found) => found.length > 0,
  );
  const stopped = rig.gateway.stop();
  const { confirmation_id } = gateOf(await answered);
  expect(await stopped).toBe(0);
  await rig.startAgain();
  expect(await rig.waiting()).toMatchObject([{ confirmation_id }]);
});

test("the first run leaves a call waiting, and what it says to type lets it go", async () => {
  await using gateway = await startGateway();
  const env = { HOME: gateway.program.folder };
  const where = ["--url", gateway.origin];
  expect((await runProgram(["operator", "init"], { env })).code).toBe(0);
  expect((await runProgram(["approve", "--latest", ...where], { env })).stdout).toContain('{"name":"Ada"}');
  const called = await runProgram(["call", "demo.forget", "name=Ada", ...where], { env });
  expect(called).toMatchObject({ code: 0, stdout: "Forgot Ada.\n" });
});
