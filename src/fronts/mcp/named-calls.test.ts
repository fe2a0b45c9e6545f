import { describe, expect, test } from "vitest";
import { until } from "../../../tests/kit/mcp-rig.ts";
import { modernCall } from "../../../tests/kit/modern-client.ts";
import { nthMade, processRig, sharedParts } from "../../../tests/kit/process-rig.ts";
import type { ScriptedCall } from "../../../tests/kit/scripted-provider.ts";
import { GatewayError, jsonText, payload } from "../../contract/index.ts";

type Sent = { body?: unknown; headers?: Record<string, string> };
/** A call in the words of an era. `key`: in the header, unless it is to stand in `_meta`. */
type Words = (
  args: object,
  key: string | undefined,
  more?: { headers?: Record<string, string>; meta?: object },
) => Sent;

const HEADER = "idempotency-key";
const META = "dev.isthmus/idempotencyKey";

const older: Words = (args, key, { headers = {}, meta } = {}) => ({
  headers: { ...headers, ...(key !== undefined && { [HEADER]: key }) },
  body: {
    jsonrpc: "2.0",
    id: 7,
    method: "tools/call",
    params: { name: "files.echo", arguments: args, ...(meta && { _meta: meta }) },
  },
});

const newer: Words = (args, key, { headers = {}, meta = {} } = {}) => {
  const all = { ...headers, ...(key !== undefined && { [HEADER]: key }) };
  return modernCall(args, { id: 7, headers: all, meta: meta as Record<string, unknown> }) as Sent;
};

const ERAS: readonly (readonly [string, Words])[] = [
  ["2025-11-25", older],
  ["2026-07-28", newer],
];

function finish(call: ScriptedCall, text: string): void {
  call.write({ type: "end", outcome: "result", payload: payload(jsonText({ content: [{ type: "text", text }] })) });
  call.settle();
}

describe.each(ERAS)("a call with an idempotency key (%s)", (_era, words) => {
  test("is made once; a repeat gets the same answer, byte for byte [AP-114] [AP-175]", async () => {
    const shared = sharedParts();
    await using one = await processRig(shared, "one");
    const first = one.send(words({ x: 1, y: [1] }, "k-1"));
    finish(await nthMade(shared, 0), "grüße");
    const { text } = await first;
    expect(text).toContain("gr");
    // Spelled otherwise, and with a progress token of its own, it is the same call.
    const again = words({ y: [1], x: 1 }, undefined, { meta: { progressToken: "p", [META]: "k-1" } });
    expect((await one.send(again)).text).toBe(text);
    expect((await one.send(words({ x: 1, y: [1] }, "k-1"))).text).toBe(text);
    expect(shared.made).toHaveLength(1);
  });

  test("that was given to another call is refused with -32602 [AP-176]", async () => {
    const shared = sharedParts();
    await using one = await processRig(shared, "one");
    const first = one.send(words({ x: 1 }, "k-1"));
    finish(await nthMade(shared, 0), "done");
    await first;
    const { body } = await one.send(words({ x: 2 }, "k-1"));
    expect(body).toMatchObject({ error: { code: -32602, data: { reason: "idempotency_mismatch", code: "BAD_CALL" } } });
    expect(shared.made).toHaveLength(1);
  });

  test("is waited for while it runs, in its own process and in another", async () => {
    const shared = sharedParts();
    await using one = await processRig(shared, "one");
    await using two = await processRig(shared, "two");
    const first = one.send(words({}, "k-1"));
    const running = await nthMade(shared, 0);
    const waiting = [one.send(words({}, "k-1")), two.send(words({}, "k-1"))];
    await until(() => one.kernel.stats().open === 2 && two.kernel.stats().open === 1);
    finish(running, "late");
    const texts = (await Promise.all([first, ...waiting])).map(({ text }) => text);
    expect(new Set(texts).size).toBe(1);
    expect(shared.made).toHaveLength(1);
  });

  test("is answered from shared state by a process that never saw it [AP-554]", async () => {
    const shared = sharedParts();
    const first = await (async () => {
      await using one = await processRig(shared, "one");
      const answer = one.send(words({}, "k-1"));
      finish(await nthMade(shared, 0), "kept");
      await one.die();
      return await answer;
    })();
    await using two = await processRig(shared, "two");
    expect((await two.send(words({}, "k-1"))).text).toBe(first.text);
    expect(shared.made).toHaveLength(1);
  });

  test("is never made again when the process that made it is gone", async () => {
    const shared = sharedParts();
    await using one = await processRig(shared, "one");
    await using two = await processRig(shared, "two");
    const lost = one.send(words({}, "k-1"));
    const running = await nthMade(shared, 0);
    await one.die();
    for (let time = 0; time < 3; time++) {
      const { body } = await two.send(words({}, "k-1"));
      const facts = { "dev.isthmus/error": { code: "OUTCOME_UNKNOWN" } };
      expect(body).toMatchObject({ result: { isError: true, _meta: facts } });
    }
    expect(shared.made).toHaveLength(1);
    finish(running, "nobody hears it");
    await lost;
  });

  test("is refused while the store is away; others go on", async () => {
    const shared = sharedParts();
    await using one = await processRig(shared, "one");
    shared.health.isUp = false;
    const { body } = await one.send(words({}, "k-1"));
    expect(body).toMatchObject({ result: { _meta: { "dev.isthmus/error": { code: "STATE_UNAVAILABLE" } } } });
    expect(shared.made).toEqual([]);
    const plain = one.send(words({}, undefined));
    finish(await nthMade(shared, 0), "fine");
    expect((await plain).text).toContain("fine");
  });

  test("may be made again after a failure by which nothing was made, and only then", async () => {
    const shared = sharedParts();
    await using one = await processRig(shared, "one");
    const fail = async (key: string, code: "PROVIDER_UNREACHABLE" | "OUTCOME_UNKNOWN") => {
      const before = shared.made.length;
      const answer = one.send(words({}, key));
      (await nthMade(shared, before)).crash(new GatewayError(code));
      return (await answer).text;
    };
    expect(await fail("k-1", "PROVIDER_UNREACHABLE")).toContain("PROVIDER_UNREACHABLE");
    const again = one.send(words({}, "k-1"));
    finish(await nthMade(shared, 1), "second try");
    expect((await again).text).toContain("second try");
    expect(await fail("k-2", "OUTCOME_UNKNOWN")).toContain("OUTCOME_UNKNOWN");
    expect((await one.send(words({}, "k-2"))).text).toContain("OUTCOME_UNKNOWN");
    expect(shared.made).toHaveLength(3);
  });

  test("that ran out of time is not made again", async () => {
    const shared = sharedParts();
    await using one = await processRig(shared, "one");
    const slow = one.send(words({}, "k-1"));
    await nthMade(shared, 0);
    shared.time.advance(60_001);
    expect((await slow).text).toContain("DEADLINE_PASSED");
    expect((await one.send(words({}, "k-1"))).text).toContain("DEADLINE_PASSED");
    expect(shared.made).toHaveLength(1);
  });

  test("whose answer is too large to be kept is not made again", async () => {
    const shared = sharedParts();
    await using one = await processRig(shared, "one");
    const first = one.send(words({}, "k-1"));
    finish(await nthMade(shared, 0), "x".repeat(1024 * 1024));
    expect((await first).text.length).toBeGreaterThan(1024 * 1024);
    expect((await one.send(words({}, "k-1"))).text).toContain("larger than 1 MiB");
    expect(shared.made).toHaveLength(1);
  });

  test("hides the key from the server", async () => {
    const shared = sharedParts();
    await using one = await processRig(shared, "one");
    const first = one.send(words({ x: 1 }, undefined, { meta: { [META]: "k-1", mine: 1 } }));
    const { call } = await nthMade(shared, 0);
    expect(call.input.value()).toEqual({ name: "echo", arguments: { x: 1 }, _meta: { mine: 1 } });
    finish(shared.made[0] as ScriptedCall, "ok");
    await first;
  });

  test.each([
    ["is too long", "k".repeat(257), {}],
    ["has a space", "a b", {}],
    ["is no string", undefined, { [META]: 7 }],
    ["is empty", undefined, { [META]: "" }],
    ["is said twice, differently", "a", { [META]: "b" }],
  ])("is refused when the key %s", async (_what, key, meta) => {
    const shared = sharedParts();
    await using one = await processRig(shared, "one");
    const { body } = await one.send(words({}, key, { meta }));
    expect(body).toMatchObject({ error: { code: -32602, data: { reason: "idempotency_key" } } });
    expect(shared.made).toEqual([]);
  });
});

describe("idempotency keys of sessions", () => {
  test("the same key in two sessions names two calls [AP-174] [AP-177]", async () => {
    const shared = sharedParts();
    await using one = await processRig(shared, "one");
    const [first, second] = [await one.initialize(), await one.initialize()];
    const answers = [];
    for (const [index, headers] of [first, second].entries()) {
      const answer = one.send(older({}, "k-1", { headers }));
      finish(await nthMade(shared, index), `of session ${index}`);
      answers.push((await answer).text);
    }
    expect(answers[0]).toContain("of session 0");
    expect(answers[1]).toContain("of session 1");
    expect((await one.send(older({}, "k-1", { headers: first }))).text).toBe(answers[0]);
    expect(shared.made).toHaveLength(2);
  });

  test("a call that its client has cancelled may be made again", async () => {
    const shared = sharedParts();
    await using one = await processRig(shared, "one");
    const headers = await one.initialize();
    const first = one.send(older({}, "k-1", { headers }));
    await nthMade(shared, 0);
    await one.send({ headers, body: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } } });
    expect((await first).status).toBe(202);
    const again = one.send(older({}, "k-1", { headers }));
    finish(await nthMade(shared, 1), "again");
    expect((await again).text).toContain("again");
  });

  test("a repeat that nobody waits for any more lets go", async () => {
    const shared = sharedParts();
    await using one = await processRig(shared, "one");
    const headers = await one.initialize();
    const first = one.send(older({}, "k-1", { headers }));
    const running = await nthMade(shared, 0);
    const sent = older({}, "k-1", { headers });
    const repeat = one.send({ ...sent, body: { ...(sent.body as object), id: 8 } });
    await until(() => one.kernel.stats().open === 2);
    await one.send({ headers, body: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 8 } } });
    expect((await repeat).status).toBe(202);
    await until(() => one.kernel.stats().open === 1);
    finish(running, "first");
    expect((await first).text).toContain("first");
  });
});
