/** The page on which people decide about a call, and clients that are asked to open it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ClientKind, connectClient, type SdkClient } from "../../eras/sdk-clients.ts";
import { eventually } from "../../kit/eventually.ts";
import { UserAgent } from "../../kit/user-agent.ts";
import { runProgram } from "../kit/program.ts";
import { openSession, post, type RpcMessage, toolCall } from "../kit/rpc.ts";
import { type GateObject, gateOf, ValveRig } from "./valve-rig.ts";

const VALVE = { valve: "v-3", percent: 75 };
const PATIENT = 'hold = "20s"';
const URL_MODE = { elicitation: { url: {} } };

/** Opens the page of a call, and decides there as a person with a key does. */
async function decideOnPage(rig: ValveRig, gate: GateObject, decision = "approve"): Promise<string> {
  const browser = new UserAgent();
  const page = await browser.open(String(gate.confirm_url));
  const { value } = rig.proof(gate, decision) as { value: string };
  return (await browser.submit(page, { decision, proof: value })).text;
}

async function oneWaiting(rig: ValveRig): Promise<GateObject> {
  const [gate] = await eventually(
    () => rig.waiting(),
    (found) => found.length > 0,
  );
  if (!gate) throw new Error("nothing waits");
  return gate;
}

describe("the page of a call that waits", () => {
  test("is named to the caller, and what it says to type makes the proof that it takes", async () => {
    await using rig = await ValveRig.start();
    const gate = gateOf(await rig.call("plant.open", VALVE));
    expect(gate.confirm_url).toMatch(`${rig.gateway.origin}/approvals/${gate.confirmation_id}.`);
    const browser = new UserAgent();
    const page = await browser.open(String(gate.confirm_url));
    const [, words = ""] = /^<pre>isthmus (approve --print .*)$/m.exec(page.text) ?? [];
    const key = join(rig.folder, "operator.key");
    writeFileSync(key, rig.keyText, { mode: 0o600 });
    const printed = await runProgram([...words.split(" "), "--key", key]);
    expect(printed.stderr).toContain('arguments  {"percent":75,"valve":"v-3"}');
    const done = await browser.submit(page, { decision: "approve", proof: printed.stdout });
    expect(done.text).toContain("Approved: the call is made when the caller makes it again.");
    expect((await rig.call("plant.open", VALVE)).result).toMatchObject({ content: [{ text: "did open" }] });
    expect(rig.made()).toHaveLength(1);
  });

  test("lets go a call that is held, or ends it", async () => {
    await using rig = await ValveRig.start({ gate: PATIENT });
    const first = rig.call("plant.open", VALVE);
    expect(await decideOnPage(rig, await oneWaiting(rig))).toContain("the call was made");
    expect((await first).result).toMatchObject({ content: [{ text: "did open" }] });
    const second = rig.call("plant.open", VALVE);
    expect(await decideOnPage(rig, await oneWaiting(rig), "deny")).toContain("Denied");
    expect((await second).result).toMatchObject({ isError: true });
    expect(rig.made()).toHaveLength(1);
  });

  test("is there again after a restart", async () => {
    await using rig = await ValveRig.start();
    const gate = gateOf(await rig.call("plant.open", VALVE));
    await rig.gateway.program.stop("SIGKILL");
    await rig.startAgain();
    const confirm_url = `${rig.gateway.origin}${new URL(String(gate.confirm_url)).pathname}`;
    expect(await decideOnPage(rig, { ...gate, confirm_url })).toContain("Approved");
    expect((await rig.call("plant.open", VALVE)).result).toMatchObject({ content: [{ text: "did open" }] });
  });

  test("is named as the operator says that people reach the gateway", async () => {
    await using rig = await ValveRig.start({ more: '[vault]\npublicUrl = "https://gw.example.com"\n' });
    const { confirm_url, confirmation_id } = gateOf(await rig.call("plant.open", VALVE));
    expect(confirm_url).toMatch(`https://gw.example.com/approvals/${confirmation_id}.`);
  });
});

describe.each<ClientKind>(["v1", "v2-2025", "v2-2026"])("the SDK's client %s", (kind) => {
  async function connected(gate: string): Promise<{ rig: ValveRig; client: SdkClient } & AsyncDisposable> {
    const rig = await ValveRig.start({ gate });
    const client = await connectClient(kind, rig.url);
    return {
      rig,
      client,
      async [Symbol.asyncDispose]() {
        await client.close();
        await rig[Symbol.asyncDispose]();
      },
    };
  }

  test("is asked to open the page, and gets the answer of its call when somebody has decided there", async () => {
    await using parts = await connected(PATIENT);
    const { rig, client } = parts;
    const answered = client.callTool("plant.open", VALVE);
    const gate = await oneWaiting(rig);
    await eventually(
      () => client.asked.length,
      (asked) => asked === 1,
    );
    expect(client.asked[0]?.params).toMatchObject({ mode: "url", url: gate.confirm_url });
    expect(rig.made()).toEqual([]);
    expect(await decideOnPage(rig, gate)).toContain("the call was made");
    expect(await answered).toMatchObject({ content: [{ text: "did open" }] });
    expect(client.asked).toHaveLength(1);
    expect(client.visited).toEqual(kind === "v2-2026" ? [] : [gate.confirmation_id]);
    expect(rig.made()).toHaveLength(1);
  });

  test("opens nothing by saying that its user has opened the page", async () => {
    await using parts = await connected('hold = "500ms"');
    const { rig, client } = parts;
    const answer = await client.callTool("plant.open", VALVE);
    expect(client.asked).toHaveLength(1);
    const gate = gateOf({ result: answer });
    expect(rig.made()).toEqual([]);
    expect(await rig.waiting()).toMatchObject([{ confirmation_id: gate.confirmation_id }]);
    expect(await decideOnPage(rig, gate)).toContain("Approved");
    expect(await client.callTool("plant.open", VALVE)).toMatchObject({ content: [{ text: "did open" }] });
  });

  test("is not asked where the operator does not want it", async () => {
    await using parts = await connected('hold = "200ms"\nask = "never"');
    const { client } = parts;
    expect(gateOf({ result: await client.callTool("plant.open", VALVE) })).toHaveProperty("confirm_url");
    expect(client.asked).toEqual([]);
  });
});

describe("a user who does not open the page", () => {
  const isWithdrawn = async (rig: ValveRig, answer: RpcMessage) => {
    expect(JSON.stringify(answer.result)).toContain("withdrawn");
    expect(await rig.waiting("withdrawn")).toHaveLength(1);
    expect(rig.made()).toEqual([]);
  };

  test.each(["decline", "cancel"])("takes the call back with %s in the era of 2026", async (action) => {
    await using rig = await ValveRig.start({ gate: PATIENT });
    const first = await rig.modernCall("plant.open", VALVE, { capabilities: URL_MODE });
    const { inputRequests, requestState } = first.result as { inputRequests: object; requestState: string };
    const [[key, request] = ["", {}]] = Object.entries(inputRequests);
    expect(request).toMatchObject({ method: "elicitation/create", params: { mode: "url" } });
    expect(request).not.toHaveProperty("params.elicitationId");
    const params = { requestState, inputResponses: { [key]: { action } } };
    await isWithdrawn(rig, await rig.modernCall("plant.open", VALVE, { capabilities: URL_MODE, params }));
  });

  test("takes the call back in the era of 2025", async () => {
    await using rig = await ValveRig.start({ gate: PATIENT });
    const session = await openSession(rig.url, URL_MODE);
    const response = await fetch(rig.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...session },
      body: JSON.stringify({ jsonrpc: "2.0", ...toolCall(1, "plant.open", VALVE) }),
    });
    let seen = "";
    let hasAnswered = false;
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      seen += chunk;
      const asked = /"id":("[^"]+"|\d+),"method":"elicitation\/create"/.exec(seen);
      if (!asked?.[1] || hasAnswered) continue;
      hasAnswered = true;
      await post(rig.url, { id: JSON.parse(asked[1]) as string, result: { action: "decline" } }, session);
    }
    const last = seen.split("\n").findLast((line) => line.startsWith("data:")) ?? "";
    await isWithdrawn(rig, JSON.parse(last.slice(5)) as RpcMessage);
  });
});

test("a client of 2026 that takes tasks is asked to open the page by its task, which ends when it is decided there", async () => {
  await using rig = await ValveRig.start();
  const capabilities = { ...URL_MODE, extensions: { "io.modelcontextprotocol/tasks": {} } };
  const { result } = await rig.modernCall("plant.open", VALVE, { capabilities });
  expect(result).toMatchObject({ resultType: "task" });
  const gate = await oneWaiting(rig);
  const taskId = String(result?.taskId);
  const look = async () => (await rig.modern("tasks/get", { taskId }, { capabilities, name: taskId })).result;
  expect(await look()).toMatchObject({ status: "input_required" });
  expect(JSON.stringify(await look())).toContain(JSON.stringify(gate.confirm_url));
  expect(await decideOnPage(rig, gate)).toContain("the call was made");
  await eventually(look, (task) => task?.status === "completed");
  expect(rig.made()).toHaveLength(1);
});

test("a client of 2025 that takes no stream gets the page with -32042, and the answer when it calls again", async () => {
  await using rig = await ValveRig.start({ gate: 'hold = "5s"' });
  const session = { ...(await openSession(rig.url, URL_MODE)), accept: "application/json" };
  const first = (await post(rig.url, toolCall(1, "plant.open", VALVE), session)).messages[0];
  const gate = await oneWaiting(rig);
  expect(first?.error).toMatchObject({
    code: -32042,
    data: {
      elicitations: [{ mode: "url", elicitationId: gate.confirmation_id, url: gate.confirm_url }],
      "x-mcpax-gate": { confirmation_id: gate.confirmation_id },
    },
  });
  expect(await decideOnPage(rig, gate)).toContain("Approved");
  const second = await post(rig.url, toolCall(2, "plant.open", VALVE), session);
  expect(second.messages[0]?.result).toMatchObject({ content: [{ text: "did open" }] });
  expect(rig.made()).toHaveLength(1);
});
