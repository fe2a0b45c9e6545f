import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { ApprovalRig, person } from "../../../tests/kit/approval-rig.ts";
import { payload, type Target } from "../../contract/index.ts";
import { digestsOf } from "./decided-text.ts";
import { type GateFacts, shownApproval } from "./gate-object.ts";

const FACTS: GateFacts = { gateway: "g", proofTypes: [], now: 0 };

let rig: ApprovalRig;
beforeEach(() => {
  rig = new ApprovalRig();
});

function ask(kind: Target["kind"], name: string, params: string) {
  return rig.approvals.request({
    principal: person("agent"),
    target: { provider: "plant", kind, name },
    tool: `plant.${name}`,
    input: payload(params),
    gate: { reason: "undeclared", evidence: "external_proof", capability: "{}" },
    definition: "",
  });
}

const digestOf = (text: string) => createHash("sha256").update(text).digest("base64url");

test("what is shown is the very text that the digest is of, with every number as it was sent", async () => {
  const approval = await rig.request('{"to":12345678901234567891,"amount":1e400,"z":0.1000000000000000055,"s":"a  b"}');
  const shown = shownApproval(approval, FACTS);
  expect(shown.arguments_text).toBe('{"amount":1e400,"s":"a  b","to":12345678901234567891,"z":0.1000000000000000055}');
  expect(digestOf(shown.arguments_text)).toBe(shown.args_sha256);
});

test.each<[Target["kind"], string, string, string]>([
  ["operation", "vendor/exec", '{"cmd":"rm -rf /","_meta":{"progressToken":1}}', '{"cmd":"rm -rf /"}'],
  [
    "operation",
    "vendor/exec",
    '{"cmd":"rm -rf /","arguments":{"harmless":true}}',
    '{"arguments":{"harmless":true},"cmd":"rm -rf /"}',
  ],
  ["operation", "vendor/exec", '{"arguments":{}}', '{"arguments":{}}'],
  ["operation", "vendor/exec", "{}", "{}"],
  ["template", "file:///{path}", '{"uri":"file:///etc/passwd"}', '{"uri":"file:///etc/passwd"}'],
  ["tool", "open", '{"name":"open"}', "{}"],
  ["tool", "open", '{"name":"open","_meta":{"progressToken":7}}', "{}"],
  ["prompt", "greet", '{"name":"greet","arguments":{"to":"ada"}}', '{"to":"ada"}'],
])("a call of the %s %s with %s is shown and signed as %s", async (kind, name, params, text) => {
  const approval = await ask(kind, name, params);
  const shown = shownApproval(approval, FACTS);
  expect(shown).toMatchObject({ arguments_text: text, arguments: JSON.parse(text) });
  expect(approval.digest).toBe(digestOf(text));
});

test.each<[string, string, string, string]>([
  [
    "a param that nobody here knows",
    '{"name":"open","arguments":{"a":1.0},"force":true}',
    '{"a":1.0}',
    '{"force":true}',
  ],
  ["a task", '{"task":{"ttl":12345678901234567890},"name":"open"}', "{}", '{"task":{"ttl":12345678901234567890}}'],
  [
    "words in _meta beside the token",
    '{"_meta":{"progressToken":1,"as":"root"},"name":"open","arguments":{}}',
    "{}",
    '{"_meta":{"as":"root"}}',
  ],
  ["a _meta with an escaped key", '{"name":"open","_meta":{"\\u0061s":"root"}}', "{}", '{"_meta":{"as":"root"}}'],
  ["a _meta that is no object", '{"name":"open","_meta":[1]}', "{}", '{"_meta":[1]}'],
  ["arguments that are no object", '{"name":"open","arguments":[{},{"force":true}]}', '[{},{"force":true}]', "{}"],
  [
    "a trace",
    '{"name":"open","_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}',
    "{}",
    '{"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}',
  ],
])("what is sent beside the arguments is shown and signed with them: %s", async (_what, params, given, also) => {
  const approval = await ask("tool", "open", params);
  const shown = shownApproval(approval, FACTS);
  expect(shown).toMatchObject({ arguments_text: given, also_sent_text: also });
  expect(shown.args_sha256).toBe(digestOf(`[${given},${also}]`));
});

const TRACE = (span: string) => `{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-${span}-01"}`;

test.each<[string, string, string, boolean]>([
  [
    "another progress token",
    '{"name":"open","_meta":{"progressToken":1}}',
    '{"name":"open","_meta":{"progressToken":2}}',
    true,
  ],
  ["no progress token", '{"name":"open","_meta":{"progressToken":1}}', '{"name":"open"}', true],
  [
    "another place in a trace",
    `{"name":"open","_meta":${TRACE("b7ad6b7169203331")}}`,
    `{"name":"open","_meta":${TRACE("c7ad6b7169203331")}}`,
    true,
  ],
  [
    "what only looks like a trace",
    `{"name":"open","_meta":${TRACE("b7ad6b7169203331")}}`,
    '{"name":"open","_meta":{"traceparent":"root"}}',
    false,
  ],
  ["another _meta", '{"name":"open","_meta":{"as":"ann"}}', '{"name":"open","_meta":{"as":"root"}}', false],
  ["a _meta that the first had not", '{"name":"open"}', '{"name":"open","_meta":{"as":"root"}}', false],
  ["another param", '{"name":"open","mode":"dry"}', '{"name":"open","mode":"wet"}', false],
  [
    "arguments that look like the first with more",
    '{"name":"open","arguments":{},"mode":"dry"}',
    '{"name":"open","arguments":[{},{"mode":"dry"}]}',
    false,
  ],
])("a repeat with %s", async (_what, first, second, isSame) => {
  const [one, other] = [await ask("tool", "open", first), await ask("tool", "open", second)];
  expect(other.id === one.id).toBe(isSame);
});

describe("the digests of a call", () => {
  const TRACED = `"_meta":${TRACE("b7ad6b7169203331")}`;
  const MORE = `"_meta":{"as":"root",${TRACE("b7ad6b7169203331").slice(1)}`;

  test.each([
    '{"name":"open","arguments":{"b":1,"a":2}}',
    '{"name":"open","arguments":{},"_meta":{"as":"root"}}',
    '{"name":"open","arguments":{},"_meta":{"traceparent":"root"}}',
    '{"name":"open","_meta":{"progressToken":1}}',
  ])("are one where it stands in no trace: %s", (params) => {
    const { decided, repeat } = digestsOf({ kind: "tool" }, payload(params));
    expect(repeat).toBe(decided);
  });

  test.each<[Target["kind"], string, string]>([
    ["tool", `{"name":"open","arguments":{"a":1},${TRACED}}`, '{"name":"open","arguments":{"a":1}}'],
    [
      "tool",
      `{"name":"open","arguments":{"a":1},"force":true,${TRACED}}`,
      '{"name":"open","force":true,"arguments":{"a":1}}',
    ],
    [
      "tool",
      `{"name":"open","arguments":{"a":1},${MORE}}`,
      '{"name":"open","arguments":{"a":1},"_meta":{"as":"root"}}',
    ],
    ["tool", `{"name":"open","arguments":[1],${TRACED}}`, '{"name":"open","arguments":[1]}'],
    ["operation", `{"cmd":"ls",${TRACED}}`, '{"cmd":"ls"}'],
  ])("tell a %s in a trace from one in none, and know it as the same one: %s", (kind, traced, untraced) => {
    const [within, without] = [digestsOf({ kind }, payload(traced)), digestsOf({ kind }, payload(untraced))];
    expect(within.repeat).toBe(without.decided);
    expect(within.decided).not.toBe(without.decided);
  });
});

test("a proof for one raw call is none for another", async () => {
  const first = await ask("operation", "vendor/exec", '{"cmd":"ls"}');
  const second = await ask("operation", "vendor/exec", '{"cmd":"rm -rf /"}');
  const value = await rig.proof(second, { claims: { args_sha256: first.digest } });
  const proof = { type: "operator_signature", format: "jws", value };
  expect(await rig.decider.confirm(person("relay"), { id: second.id, decision: "approve", proof })).toMatchObject({
    reason: "wrong_arguments",
  });
});
