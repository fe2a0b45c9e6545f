import { createHash } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { ApprovalRig, person } from "../../../tests/kit/approval-rig.ts";
import { payload, type Target } from "../../contract/index.ts";
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
  ["tool", "open", '{"name":"open","arguments":{"a":1},"more":true}', '{"a":1}'],
  ["prompt", "greet", '{"name":"greet","arguments":{"to":"ada"}}', '{"to":"ada"}'],
])("a call of the %s %s with %s is shown and signed as %s", async (kind, name, params, text) => {
  const approval = await ask(kind, name, params);
  const shown = shownApproval(approval, FACTS);
  expect(shown).toMatchObject({ arguments_text: text, arguments: JSON.parse(text) });
  expect(approval.digest).toBe(digestOf(text));
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
