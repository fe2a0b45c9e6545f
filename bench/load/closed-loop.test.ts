import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makeCall, makeListMaker, runClosedLoop } from "./closed-loop.ts";
import type { McpSession } from "./mcp-session.ts";

/** A session whose server is `answer`. */
function fakeSession(answer: (message: { id: number; params?: { arguments: object } }) => object): McpSession {
  return {
    open: async () => {},
    exchange: (body, onText) => setImmediate(() => onText(JSON.stringify(answer(JSON.parse(body))))),
    renew: () => {},
    close: () => {},
  };
}
const echo = fakeSession(({ id, params }) => ({ id, result: { content: [{ type: "text", ...params?.arguments }] } }));

describe("makeCall", () => {
  test("carries 300 bytes of arguments", () => {
    const { params } = JSON.parse(makeCall("echo").body);
    assert.equal(JSON.stringify(params.arguments).length, 300);
  });

  test("never sends the same text twice", () => {
    assert.notEqual(makeCall("echo").body, makeCall("echo").body);
  });
});

describe("runClosedLoop", () => {
  test("counts every answered call and stops at the limit", async () => {
    const result = await runClosedLoop([echo, echo], () => makeCall("echo"), { forMs: 5_000, maxCalls: 50 });
    assert.ok(result.calls >= 50 && result.calls <= 51);
    assert.ok(result.p99Ms >= result.p50Ms);
  });

  test("fails on an answer with another call's id", async () => {
    const wrong = fakeSession(({ id, params }) => ({ id: id + 1, result: { content: [{ ...params?.arguments }] } }));
    await assert.rejects(
      runClosedLoop([wrong], () => makeCall("echo"), { forMs: 100, maxCalls: 5 }),
      /wrong answer/,
    );
  });

  test("fails on an answer with another text", async () => {
    const wrong = fakeSession(({ id }) => ({ id, result: { content: [{ type: "text", text: "no" }] } }));
    await assert.rejects(
      runClosedLoop([wrong], () => makeCall("echo"), { forMs: 100, maxCalls: 5 }),
      /wrong answer/,
    );
  });
});

describe("makeListMaker", () => {
  const list = (count: number): McpSession =>
    fakeSession(({ id }) => ({ id, result: { tools: Array(count).fill({}) } }));

  test("refuses a list with too few tools", async () => {
    await assert.rejects(makeListMaker(list(3), 4), /3 tools instead of 4/);
  });

  test("refuses a later list of another length", async () => {
    const make = await makeListMaker(list(3), 3);
    assert.throws(() => make().check('{"id":1,"result":{"tools":[]}}'), /wrong answer/);
  });
});
