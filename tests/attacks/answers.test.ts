/** Answering what a call of 2025 asks its client, with a token that could not make the call. */
import { afterAll, expect, test } from "vitest";
import { openSession, post, type RpcMessage } from "../e2e/kit/rpc.ts";
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
${["paid", "led", "argued"].map((id) => askingServer(id, 'task = "auto"')).join("")}
`;
const tokens = { root: ["--user", "root", "--role", "admin"] };
const JSON_BODY = { "content-type": "application/json", accept: "application/json, text/event-stream" };

type Headers = Record<string, string>;
const bearer = (claims: object): Headers => ({ authorization: `Bearer ${issuer.token(claims)}` });
const good = () => bearer({ scope: "pay", groups: ["payers"] });

/** A request whose stream has asked something. */
class Asking {
  readonly #field: Attacked;
  readonly session: Headers;
  id = "";
  #text = "";
  readonly #leaving = new AbortController();

  constructor(field: Attacked, session: Headers) {
    this.#field = field;
    this.session = session;
  }

  async ask(method: string, params: object): Promise<this> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });
    const headers = { ...JSON_BODY, ...this.session, ...good() };
    const response = await fetch(`${this.#field.origin(0)}/mcp`, {
      method: "POST",
      body,
      headers,
      signal: this.#leaving.signal,
    });
    void (async () => {
      for await (const chunk of response.body ?? []) this.#text += new TextDecoder().decode(chunk);
    })().catch(() => undefined);
    const asked = () => this.#message('"elicitation/create"')?.id;
    await expect.poll(asked).toBeDefined();
    this.id = JSON.stringify(asked());
    return this;
  }

  #message(part: string): RpcMessage | undefined {
    const line = this.#text.split("\n").find((one) => one.startsWith("data:") && one.includes(part));
    return line && JSON.parse(line.slice(5));
  }

  /** At any process. */
  async answer(name: string, as: Headers): Promise<Response> {
    const result = `{"action":"accept","content":{"name":"${name}"}}`;
    const body = `{"jsonrpc":"2.0","id":${this.id},"result":${result}}`;
    const headers = { ...JSON_BODY, ...this.session, ...as };
    return await fetch(`${this.#field.origin()}/mcp`, { method: "POST", body, headers });
  }

  /** What the call was answered with. */
  async result(): Promise<string> {
    await expect.poll(() => this.#message('"id":7')).toBeDefined();
    this.#leaving.abort();
    return JSON.stringify(this.#message('"id":7'));
  }
}

const opened = (field: Attacked) =>
  openSession(`${field.origin(0)}/mcp`, { elicitation: {}, tasks: {} }, good()) as Promise<Headers>;

const call = async (field: Attacked, name: string) =>
  await new Asking(field, await opened(field)).ask("tools/call", { name, arguments: { dry: false } });

async function task(field: Attacked, name: string): Promise<Asking> {
  const session = await opened(field);
  const params = { name, arguments: { dry: false }, task: { ttl: 600_000 } };
  const { messages } = await post(
    `${field.origin(0)}/mcp`,
    { id: 1, method: "tools/call", params },
    { ...session, ...good() },
  );
  const { taskId } = (messages.at(-1)?.result?.task ?? {}) as { taskId: string };
  return await new Asking(field, session).ask("tasks/result", { taskId });
}

const NEEDS: readonly [what: string, name: string, claims: object][] = [
  ["the scope of its tool", "paid.ask", { groups: ["payers"] }],
  ["the group that a rule wants", "led.ask", { scope: "pay", groups: ["others"] }],
  ["the group that a rule wants for these arguments", "argued.ask", { scope: "pay" }],
];
const ASKERS = [
  ["call", call],
  ["task", task],
] as const;
const CASES = ASKERS.flatMap(([kind, start]) => NEEDS.map((need) => [kind, ...need, start] as const));

describeAttacks("what is asked", { config, tokens }, (field) => {
  test.each(CASES)("by a %s is answered by nobody without %s", async (_kind, _what, name, claims, start) => {
    const asking = await start(field, name);
    const refused = await asking.answer("Mallory", bearer(claims));
    expect(refused.status).toBe(403);
    expect(((await refused.json()) as RpcMessage).error?.message).toContain("answer is not taken");
    // The question waits for somebody who may.
    expect((await asking.answer("Ada", good())).status).toBe(202);
    expect(await asking.result()).toContain("the secret of Ada");
  });

  test.each(ASKERS)("by a %s is on the trail when somebody answers it who may not", async (_kind, start) => {
    const path = "/api/audit?event_type=TOOL_BLOCKED&limit=1000";
    const blocked = async () =>
      (await field.api("GET", path, undefined, { as: "root" })).text.split('"server_id":"paid"').length;
    const before = await blocked();
    const asking = await start(field, "paid.ask");
    await asking.answer("Mallory", bearer({ groups: ["payers"] }));
    await expect.poll(blocked).toBeGreaterThan(before);
    await asking.answer("Ada", good());
    expect(await asking.result()).toContain("the secret of Ada");
  });
});
