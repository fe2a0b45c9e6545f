import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makeCall } from "./closed-loop.ts";
import { withEnvelope } from "./modern-session.ts";

describe("withEnvelope", () => {
  test("adds the envelope to the params of a call and leaves the rest as it is", () => {
    const { body } = makeCall("echo");
    const { params, ...others } = JSON.parse(withEnvelope(body));
    const { _meta, ...rest } = params;
    assert.deepEqual({ ...others, params: rest }, JSON.parse(body));
    assert.equal(_meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
  });

  test("gives params to a request that has none", () => {
    const { method, params } = JSON.parse(withEnvelope('{"jsonrpc":"2.0","id":2,"method":"tools/list"}'));
    assert.deepEqual([method, Object.keys(params)], ["tools/list", ["_meta"]]);
  });
});
