/** Having the rest of a call's stream, with a token that could not make the call. */
import { afterAll, afterEach, expect, test } from "vitest";
import { openSession, post } from "../e2e/kit/rpc.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";
import { FOR_PAYERS } from "./kit/for-payers.ts";
import { KeyIssuer } from "./kit/key-issuer.ts";
import { SlowServer } from "./kit/slow-server.ts";

// Their addresses stand in the config, which is made before any hook runs.
const issuer = await KeyIssuer.start();
afterAll(() => issuer[Symbol.asyncDispose]());
const slow = await SlowServer.start();
afterAll(() => slow[Symbol.asyncDispose]());

const server = (id: string) => `[[servers]]\nid = "${id}"\nurl = "${slow.url}"\n`;
const config = `
[auth]
tokens = true
samePeople = ["tokens"]
resource = "https://gateway.example"
${issuer.table()}
[audit]
plain = "all"
${FOR_PAYERS}
[[access.rules]]
match = "argued.*"
when = 'args.who != "nobody" && !("payers" in principal.groups)'
effect = "deny"
${["paid", "led", "argued", "later"].map(server).join("")}
`;
const tokens = { root: ["--user", "root", "--role", "admin"] };

type Headers = Record<string, string>;
const bearer = (claims: object): Headers => ({ authorization: `Bearer ${issuer.token(claims)}` });
const good = () => bearer({ scope: "pay", groups: ["payers"] });
const RESULT = '"content":[]';

type Left = { readonly url: string; readonly session: Headers; readonly place: string };

/** A call that its client has left when it had begun. */
async function leftCall(field: Attacked, name: string): Promise<Left> {
  const url = `${field.origin()}/mcp`;
  const session = await openSession(url, {}, good());
  const params = { name, arguments: { who: "Ada" } };
  const leaving = new AbortController();
  const response = await fetch(url, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: 5, method: "tools/call", params }),
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream, application/json",
      ...session,
      ...good(),
    },
    signal: leaving.signal,
  });
  const first = await response.body?.getReader().read();
  const place = /^id: (\S+)/m.exec(new TextDecoder().decode(first?.value))?.[1] ?? "";
  expect(place).not.toBe("");
  await expect.poll(() => slow.running).toBe(1);
  leaving.abort();
  return { url, session, place };
}

/** The stream of a client that comes back. */
function back({ url, session, place }: Left, as: Headers): Promise<Response> {
  const headers = { accept: "text/event-stream", ...session, ...as, "last-event-id": place };
  return fetch(url, { headers, signal: AbortSignal.timeout(5_000) });
}

const rest = async (left: Left, as: Headers) => await (await back(left, as)).text();

async function end(): Promise<void> {
  slow.endAll();
  await expect.poll(() => slow.running).toBe(0);
}

const NEEDS: readonly [what: string, name: string, claims: object][] = [
  ["the scope of its tool", "paid.work", { groups: ["payers"] }],
  ["the group that a rule wants", "led.work", { scope: "pay", groups: ["others"] }],
  ["the group that a rule wants for these arguments", "argued.work", { scope: "pay" }],
];
const DENIED: readonly [string, string, string, (server: string, isOpen: boolean) => object][] = [
  ["a switch", "PUT", "/api/policy/orgs/default/exposure", (server, enabled) => ({ server, protocol: "mcp", enabled })],
  [
    "a binding",
    "PUT",
    "/api/policy/orgs/default/bindings",
    (server, allowed) => ({
      target: { type: "user", idOrPattern: "ann" },
      primitive: { name: `${server}.*` },
      allowed,
    }),
  ],
  [
    "a grant",
    "POST",
    "/api/access/grant",
    (server, may) => ({
      entry_type: "server_grant",
      agent_id: "ann",
      server_id: server,
      permission: may ? "allow" : "deny",
    }),
  ],
];

afterEach(end);

describeAttacks("the rest of a call's stream", { config, tokens }, (field) => {
  const trail = async (path = "") =>
    (await field.api("GET", `/api/audit?limit=1000${path}`, undefined, { as: "root" })).text;

  /** Says it, and waits until all processes have heard it. */
  async function say(method: string, path: string, body: object, [tool, isOpen]: [string, boolean]): Promise<void> {
    expect((await field.api(method, path, body, { as: "root" })).status).toBeLessThan(300);
    for (let at = 0; at < field.processes; at++) {
      const url = `${field.origin(at)}/mcp`;
      const session = { ...(await openSession(url, {}, good())), ...good() };
      const listed = async () => JSON.stringify((await post(url, { id: 1, method: "tools/list" }, session)).messages);
      await expect.poll(async () => (await listed()).includes(tool)).toBe(isOpen);
    }
  }

  test.each(NEEDS)(
    "is not told without %s, which is on the trail, nor taken from whoever has it",
    async (_, name, less) => {
      const left = await leftCall(field, name);
      expect(await rest(left, bearer(less))).toMatch(/NOT_ALLOWED|NO_SUCH_TARGET/);
      await end();
      const refused = await rest(left, bearer(less));
      expect(refused).toMatch(/NOT_ALLOWED|NO_SUCH_TARGET/);
      expect(refused).toContain('"id":5');
      expect(refused).not.toContain(RESULT);
      await expect.poll(() => trail("&event_type=TOOL_BLOCKED")).toContain(left.place.split(".")[0]);
      expect(await rest(left, good())).toContain(RESULT);
    },
  );

  test("is on the trail when it is handed out, with who got it", async () => {
    const left = await leftCall(field, "paid.work");
    await end();
    expect(await rest(left, good())).toContain(RESULT);
    const read = () => trail("&event_type=dev.isthmus.call.read");
    await expect.poll(read).toContain(`"call_id":"${left.place.split(".")[0]}"`);
  });

  test.each(DENIED)("is not told after its tool was denied by %s", async (_, method, path, body) => {
    const left = await leftCall(field, "led.work");
    await end();
    await say(method, path, body("led", false), ["led.work", false]);
    const refused = await rest(left, good());
    expect(refused).toMatch(/NOT_ALLOWED|NO_SUCH_TARGET/);
    expect(refused).not.toContain(RESULT);
    await say(method, path, body("led", true), ["led.work", true]);
    expect(await rest(left, good())).toContain(RESULT);
  });

  // A switch ends the call itself.
  test.each(DENIED.filter(([by]) => by !== "a switch"))(
    "is not told to whoever waits for it while its tool is denied by %s",
    async (_, method, path, body) => {
      const left = await leftCall(field, "later.work");
      const waiting = await back(left, good());
      await say(method, path, body("later", false), ["later.work", false]);
      await end();
      const refused = await waiting.text();
      expect(refused).toMatch(/NOT_ALLOWED|NO_SUCH_TARGET/);
      expect(refused).not.toContain(RESULT);
      await say(method, path, body("later", true), ["later.work", true]);
      expect(await rest(left, good())).toContain(RESULT);
    },
  );
});
