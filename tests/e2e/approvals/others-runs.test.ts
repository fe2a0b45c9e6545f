/** Calls that are somebody else's: nobody goes on with them, repeats them, asks for their results or answers for their user. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TrailWatch } from "../../kit/attack-trace.ts";
import { openSession, post, type RpcMessage, toolCall } from "../kit/rpc.ts";
import { held, turnedAway } from "./traces.ts";
import { gateOf, ValveRig } from "./valve-rig.ts";

const AUTH = '[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n';
const TOKENS = {
  agent: "--user ada --client agent",
  other: "--user eve --client other",
  overseer: "--user olga --role admin",
};
const ELICITS = { elicitation: {} };
const TAKES_TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };

let rig: ValveRig;
let number = 0;
const fresh = () => ({ valve: `v-${++number}` });

beforeAll(async () => {
  rig = await ValveRig.start({ gate: 'hold = "50ms"\nevidence = "session_user"', more: AUTH, tokens: TOKENS });
}, 60_000);
afterAll(() => rig[Symbol.asyncDispose]());

const trail = new TrailWatch({
  origin: () => rig.url,
  headers: () => rig.as("overseer").headers,
  secrets: () => Object.values(rig.tokens),
});

/** The round in which the user of `agent` is asked. */
async function asked(args: object): Promise<{ params: object; requestState: string }> {
  const { result } = await rig.modernCall("plant.open", args, { capabilities: ELICITS, ...rig.as("agent") });
  const [key = ""] = Object.keys(Object(result?.inputRequests));
  const requestState = String(result?.requestState);
  const inputResponses = { [key]: { action: "accept", content: { decision: "confirm" } } };
  return { params: { requestState, inputResponses }, requestState };
}

describe("somebody else", () => {
  test("does not go on with a round, though they have its state and the answer", async () => {
    const args = fresh();
    const { params, requestState } = await asked(args);
    const goOn = () => rig.modernCall("plant.open", args, { capabilities: ELICITS, params, ...rig.as("other") });
    const answer = await trail.attack(goOn, turnedAway("state", "plant.open"), [requestState]);
    expect(answer.error).toMatchObject({ code: -32602 });
    expect(rig.made()).toEqual([]);
  });

  test("does not go on with a round with other arguments, not even the caller", async () => {
    const { params, requestState } = await asked(fresh());
    const goOn = () => rig.modernCall("plant.open", fresh(), { capabilities: ELICITS, params, ...rig.as("agent") });
    const answer = await trail.attack(goOn, turnedAway("state", "plant.open"), [requestState]);
    expect(answer.error).toBeDefined();
    expect(rig.made()).toEqual([]);
  });

  test.each(["tasks/get", "tasks/cancel", "tasks/update"])("gets nothing of a task by %s", async (method) => {
    const started = await rig.modernCall("plant.open", fresh(), { capabilities: TAKES_TASKS, ...rig.as("agent") });
    const { taskId } = started.result as { taskId: string };
    const ask = (who: string): Promise<RpcMessage> =>
      rig.modern(method, { taskId, inputResponses: {} }, { capabilities: TAKES_TASKS, name: taskId, ...rig.as(who) });
    const answer = await trail.attack(() => ask("other"), turnedAway("task", method));
    expect(answer.error).toMatchObject({ code: -32602 });
    expect((await ask("agent")).result).toBeDefined();
    expect(rig.made()).toEqual([]);
  });

  test("does not resume the stream of a call in a session that they know of", async () => {
    const session = await openSession(rig.url, {}, rig.as("agent").headers);
    await post(rig.url, toolCall(1, "plant.open", fresh()), { ...session, ...rig.as("agent").headers });
    const headers = { ...session, ...rig.as("other").headers, accept: "text/event-stream", "last-event-id": "1_1" };
    const response = await trail.attack(() => fetch(rig.url, { headers }), turnedAway("session"));
    expect(response.status).toBe(404);
  });

  test("gets no answer by repeating a call under its idempotency key", async () => {
    const args = fresh();
    const key = { "idempotency-key": "ada-1" };
    const call = (who: string) => rig.call("plant.open", args, { headers: { ...key, ...rig.as(who).headers } });
    const gate = gateOf(await call("agent"));
    const answer = await trail.attack(
      () => call("other"),
      (said) => held(gateOf(said)),
    );
    expect(gateOf(answer).confirmation_id).not.toBe(gate.confirmation_id);
    expect(rig.made()).toEqual([]);
  });
});
