/** Going on with a call that waits for its client, with a token that could not make the call. */
import { afterAll, expect, test } from "vitest";
import type { RpcMessage } from "../e2e/kit/rpc.ts";
import { modern } from "../kit/modern-client.ts";
import { askingServer } from "./kit/config-parts.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";
import { FOR_PAYERS } from "./kit/for-payers.ts";
import { KeyIssuer } from "./kit/key-issuer.ts";

// Its address stands in the config, which is made before any hook runs.
const issuer = await KeyIssuer.start();
afterAll(() => issuer[Symbol.asyncDispose]());

const config = `
[auth]
tokens = true
samePeople = ["tokens"]
resource = "https://gateway.example"
${issuer.table('[auth.issuers.claims]\ngroups = "groups"')}
[audit]
${FOR_PAYERS}
[[access.rules]]
match = "argued.*"
when = 'args.dry != true && !("payers" in principal.groups)'
effect = "deny"
[[access.rules]]
match = "gated.*"
when = '!("payers" in principal.groups)'
effect = "confirm"
${["paid", "led", "argued", "gated"].map((id) => askingServer(id)).join("")}
`;
const tokens = { root: ["--user", "root", "--role", "admin"] };
const JSON_BODY = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const ELICITS = { elicitation: { form: {} } };

type Claims = { readonly scope?: string; readonly groups?: readonly string[] };
const GOOD: Claims = { scope: "pay", groups: ["payers"] };

async function call(field: Attacked, name: string, more: object, claims: Claims): Promise<RpcMessage> {
  const params = { name, arguments: { dry: false }, ...more };
  const { body, headers } = modern("tools/call", params, { capabilities: ELICITS });
  const as = { authorization: `Bearer ${issuer.token(claims)}` };
  const all = { ...JSON_BODY, ...(headers as Record<string, string>), ...as };
  const response = await fetch(`${field.origin()}/mcp`, { method: "POST", body: body as string, headers: all });
  return JSON.parse(await response.text());
}

type Asked = { readonly requestState: string; readonly inputRequests: Record<string, unknown> };

/** A call that waits for an answer: what to bring back. */
async function waiting(field: Attacked, name: string): Promise<object> {
  const { result } = await call(field, name, {}, GOOD);
  const { requestState, inputRequests } = result as Asked;
  const answers = Object.keys(inputRequests).map((key) => [key, { action: "accept", content: { name: "Ada" } }]);
  return { requestState, inputResponses: Object.fromEntries(answers) };
}

const NEEDS: readonly [what: string, name: string, claims: Claims][] = [
  ["the scope of its tool", "paid.ask", { groups: ["payers"] }],
  ["the group that a rule wants", "led.ask", { scope: "pay", groups: ["others"] }],
  ["the group that a rule wants for these arguments", "argued.ask", { scope: "pay" }],
  ["the group without which somebody has to say yes", "gated.ask", { scope: "pay", groups: [] }],
];

describeAttacks("a call that waits for its client", { config, tokens }, (field) => {
  test.each(NEEDS)(
    "is not gone on with without %s, which is on the trail, and goes on with it",
    async (_, name, less) => {
      const back = await waiting(field, name);
      const refused = await call(field, name, back, less);
      expect(JSON.stringify(refused)).toMatch(/NOT_ALLOWED|NO_SUCH_TARGET/);
      expect(JSON.stringify(refused)).not.toContain("the secret of");
      const trail = async () => (await field.api("GET", "/api/audit?limit=1000", undefined, { as: "root" })).text;
      await expect.poll(trail).toMatch(new RegExp(`TOOL_BLOCKED.*${name.split(".")[0]}`));
      expect(JSON.stringify(await call(field, name, back, GOOD))).toContain("the secret of Ada");
    },
  );

  test("is not gone on with after its tool was denied, by a switch, a binding or a grant", async () => {
    const target = { type: "user", idOrPattern: "ann" };
    const granted = (may: boolean) => ({ agent_id: "ann", server_id: "led", permission: may ? "allow" : "deny" });
    const spellings: readonly [string, string, (isOpen: boolean) => object][] = [
      ["PUT", "/api/policy/orgs/default/exposure", (enabled) => ({ server: "led", protocol: "mcp", enabled })],
      ["PUT", "/api/policy/orgs/default/bindings", (allowed) => ({ target, primitive: { name: "led.*" }, allowed })],
      ["POST", "/api/access/grant", (may) => ({ entry_type: "server_grant", ...granted(may) })],
    ];
    const isCallable = async () => (await call(field, "led.touch", {}, GOOD)).result?.isError === undefined;
    for (const [method, path, body] of spellings) {
      const back = await waiting(field, "led.ask");
      expect((await field.api(method, path, body(false), { as: "root" })).status).toBeLessThan(300);
      for (let at = 0; at < field.processes; at++) {
        await expect
          .poll(async () => (await call(field, "led.touch", {}, GOOD)).error, { message: path })
          .toBeDefined();
      }
      const refused = await call(field, "led.ask", back, GOOD);
      expect(refused.error, path).toBeDefined();
      expect(JSON.stringify(refused)).not.toContain("the secret of");
      expect((await field.api(method, path, body(true), { as: "root" })).status).toBeLessThan(300);
      for (let at = 0; at < field.processes; at++) await expect.poll(isCallable, { message: path }).toBe(true);
    }
  });
});
