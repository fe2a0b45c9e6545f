import { describe, expect, test } from "vitest";
import { endWith, until } from "../../../../tests/kit/mcp-rig.ts";
import { modernCall } from "../../../../tests/kit/modern-client.ts";
import { ALL, type Asked, retry, roundRig } from "../../../../tests/kit/round-rig.ts";
import { type CallEvent, jsonText, payload } from "../../../contract/index.ts";

const PAGES = [
  { mode: "url", message: "Sign in", url: "https://a", elicitationId: "e-1" },
  { mode: "url", message: "Pay", url: "https://b", elicitationId: "e-2" },
];
const NEEDED: CallEvent = {
  type: "end",
  outcome: "fault",
  payload: payload(jsonText({ code: -32042, message: "visit first", data: { elicitations: PAGES } })),
};
const BOTH = { u1: { action: "accept" }, u2: { action: "accept" } };

async function urlRig() {
  const rig = await roundRig();
  rig.runs.onStart = (run) => run.write(NEEDED);
  const asked = (await rig.send(modernCall({ x: 1 }, { capabilities: ALL }))).json<{ result: Asked }>().result;
  const { session } = rig.runs.last.call;
  const complete = (id: string): void => {
    const params = payload(jsonText({ elicitationId: id }));
    const to = { session: session?.id ?? "" };
    rig.sessions.notice({ from: "files", to, method: "notifications/elicitation/complete", payload: params });
  };
  rig.runs.onStart = (run) => run.write(endWith({ content: ["in"] }));
  /** Comes back with the answers; resolves when it is held. */
  async function comeBack(signal?: AbortSignal): Promise<{ stream: ReturnType<typeof rig.open> }> {
    const before = rig.time.pending;
    const stream = rig.open(retry(asked.requestState, BOTH, signal ? { signal } : {}));
    stream.catch(() => undefined);
    await until(() => rig.time.pending > before);
    return { stream };
  }
  return { ...rig, asked, complete, comeBack };
}

describe("a server that wants a page visited first", () => {
  test("has the client asked for it, without the id that this era does not have", async () => {
    await using rig = await urlRig();
    expect(rig.asked).toMatchObject({
      resultType: "input_required",
      inputRequests: { u1: { method: "elicitation/create", params: { mode: "url", url: "https://a" } }, u2: {} },
    });
    expect(rig.asked.inputRequests.u1?.params).not.toHaveProperty("elicitationId");
  });

  test("is called again when it says that every visit is over", async () => {
    await using rig = await urlRig();
    rig.complete("e-2");
    const { stream } = await rig.comeBack();
    expect(rig.runs.started).toHaveLength(1);
    rig.complete("e-1");
    const answer = await stream;
    await answer.ended();
    expect(JSON.parse(answer.text)).toMatchObject({ id: 2, result: { content: ["in"], resultType: "complete" } });
    expect(rig.runs.last.order.input.value()).toEqual({ name: "echo", arguments: { x: 1 } });
  });

  test("is called again after a while in any case, and may ask again", async () => {
    await using rig = await urlRig();
    rig.runs.onStart = (run) => run.write(NEEDED);
    const { stream } = await rig.comeBack();
    rig.time.advance(20_000);
    expect(await (await stream).message(0)).toMatchObject({ result: { resultType: "input_required" } });
    const replay = await rig.send(retry(rig.asked.requestState, BOTH));
    expect(replay.json()).toMatchObject({ error: { data: { reason: "state_used" } } });
  });

  test("is not called again when the user does not want to, or the client leaves", async () => {
    await using rig = await urlRig();
    const no = await rig.send(retry(rig.asked.requestState, { ...BOTH, u2: { action: "decline" } }));
    expect(no.json()).toMatchObject({ result: { isError: true, resultType: "complete" } });
    await using other = await urlRig();
    const gone = new AbortController();
    await other.comeBack(gone.signal);
    gone.abort();
    await until(() => other.connections() === 0);
    other.time.advance(60_000);
    expect([rig.runs.started.length, other.runs.started.length]).toEqual([1, 1]);
  });

  test("is not understood by a client that cannot visit pages", async () => {
    await using rig = await roundRig();
    rig.runs.onStart = (run) => run.write(NEEDED);
    const answer = await rig.send(modernCall({}, { capabilities: { elicitation: {} } }));
    const data = { requiredCapabilities: { elicitation: { url: {} } } };
    expect([answer.status, answer.json()]).toMatchObject([400, { error: { code: -32021, data } }]);
  });
});
