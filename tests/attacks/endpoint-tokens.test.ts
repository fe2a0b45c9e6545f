/** Changing the gateway, and hearing its trail, with a token that is for one of its endpoints only. */
import { afterAll, afterEach, expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { openSession, post, toolCall } from "../e2e/kit/rpc.ts";
import { modern } from "../kit/modern-client.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { KeyIssuer } from "./kit/key-issuer.ts";

// Its address stands in the config, which is made before any hook runs.
const issuer = await KeyIssuer.start();
afterAll(() => issuer[Symbol.asyncDispose]());

const RESOURCE = "https://gateway.example";
const config = `
[auth]
resource = "${RESOURCE}"
${issuer.table('claims = { role = "gateway_role" }')}
[access]
defaultPolicy = "opt-in"
[[access.grants]]
agent = "ann"
server = "inside"
[[catalogs]]
id = "ops"
include = ["inside.*"]
${helloServer("inside")}
${helloServer("outside")}
`;

const MGP = { version: "0.3.0", extensions: ["access_control"] };
const JSON_BODY = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const bearer = (claims: object) => ({ authorization: `Bearer ${issuer.token(claims)}` });
const AUDIENCES: readonly [string, string | string[]][] = [
  ["the endpoint", `${RESOURCE}/ops/mcp`],
  ["the endpoint with a slash", `${RESOURCE}/ops/mcp/`],
  ["two endpoints", [`${RESOURCE}/mcp`, `${RESOURCE}/ops/mcp`]],
];
const grantOf = (server: string) => ({ entry_type: "server_grant", agent_id: "mallory", server_id: server });

describeAttacks("an administrator's token for one endpoint", { config }, (field) => {
  const reaches = async (server: string) => {
    const answer = await field.rpc(toolCall(1, `${server}.greet`, { name: "x" }), {
      headers: bearer({ sub: "mallory" }),
    });
    return JSON.stringify(answer.messages).includes("Hello");
  };

  test.each(AUDIENCES)("changes nothing over MGP where it is for %s", async (_name, aud) => {
    const url = `${field.origin()}/ops/mcp`;
    const as = bearer({ aud, gateway_role: "admin" });
    for (const capabilities of [
      { mgp: MGP },
      { experimental: { mgp: MGP } },
      { extensions: { "dev.cloto/mgp": MGP } },
    ]) {
      const session = { ...(await openSession(url, capabilities, as)), ...as };
      for (const method of ["mgp/access/grant", "mgp/access/revoke"]) {
        for (const server of ["inside", "outside"]) {
          const { messages } = await post(url, { id: 1, method, params: grantOf(server) }, session);
          expect(messages.at(-1)?.error, method).toMatchObject({ code: 1000 });
          expect(messages.at(-1)?.error?.message).toContain("whole gateway");
        }
      }
      const about = { agent_id: "mallory", target: "inside" };
      const { messages } = await post(url, { id: 2, method: "mgp/access/query", params: about }, session);
      expect(messages.at(-1)).not.toHaveProperty("result");
    }
    expect((await field.api("POST", "/api/access/grant", grantOf("outside"), { headers: as })).status).toBe(401);
    expect(await Promise.all(["inside", "outside"].map(reaches))).toEqual([false, false]);
  });

  test("changes nothing without a session", async () => {
    const { body, headers } = modern("mgp/access/grant", grantOf("outside"), {
      capabilities: { extensions: { "dev.cloto/mgp": MGP } },
    });
    const as = bearer({ aud: `${RESOURCE}/ops/mcp`, gateway_role: "admin" });
    const all = { ...JSON_BODY, ...(headers as Record<string, string>), ...as };
    const answer = await fetch(`${field.origin()}/ops/mcp`, { method: "POST", body: body as string, headers: all });
    expect(await answer.text()).toContain('"code":1000');
    expect(await reaches("outside")).toBe(false);
  });

  test("calls what the endpoint shows, and for the whole gateway changes it", async () => {
    const call = toolCall(1, "inside.greet", { name: "Ada" });
    const headers = bearer({ aud: `${RESOURCE}/ops/mcp`, gateway_role: "admin" });
    expect(JSON.stringify((await field.rpc(call, { headers, catalog: "ops" })).messages)).toContain("Hello, Ada!");
    const url = `${field.origin()}/ops/mcp`;
    const as = bearer({ aud: [RESOURCE, `${RESOURCE}/ops/mcp`], gateway_role: "admin" });
    const session = { ...(await openSession(url, { mgp: MGP }, as)), ...as };
    const { messages } = await post(url, { id: 1, method: "mgp/access/grant", params: grantOf("outside") }, session);
    expect(messages.at(-1)?.result).toMatchObject({ granted: true });
    await expect.poll(() => reaches("outside")).toBe(true);
  });
});

const AUDITED = `[audit]${config.replace('"opt-in"', '"opt-out"')}`;
const READS = { scope: "audit:read" };

describeAttacks("the live audit of a tenant", { config: AUDITED }, (field) => {
  let life = new AbortController();
  afterEach(() => {
    life.abort();
    life = new AbortController();
  });
  let last = 0;

  /** What a session hears that is opened with one token, listened to with another, and posted to with a third. */
  async function hears(
    path: string,
    claims: readonly [object, object, object?],
  ): Promise<{ own: boolean; others: boolean }> {
    const url = `${field.origin(0)}${path}`;
    const sub = `spy ${++last}`;
    const [opening, listening, posting] = claims.map((one) => bearer({ sub, ...one }));
    const session = await openSession(url, { mgp: { ...MGP, extensions: ["audit"] } }, opening);
    const headers = { accept: "text/event-stream", ...session, ...listening };
    const stream = await fetch(url, { headers, signal: life.signal });
    expect(stream.status).toBe(200);
    let heard = "";
    const read = async () => {
      for await (const piece of stream.body ?? []) heard += Buffer.from(piece).toString("latin1");
    };
    read().catch(() => undefined);
    if (posting) expect((await post(url, { id: 1, method: "ping" }, { ...session, ...posting })).status).toBe(200);
    const call = (who: object, at: string, name: string) =>
      post(`${field.origin(0)}${at}`, toolCall(1, name, { name: "x" }), bearer(who));
    await call({ sub: `zed ${last}` }, "/mcp", "outside.greet");
    await call({ sub, ...claims[1] }, path, "inside.greet");
    await expect.poll(() => heard).toContain(`"${sub}"`);
    return { own: heard.includes(`"${sub}"`), others: heard.includes(`"zed ${last}"`) };
  }

  const ENDPOINT = { aud: `${RESOURCE}/ops/mcp` };
  const deaf: [string, string, [object, object, object?]][] = [
    [
      "a scope, for an endpoint",
      "/ops/mcp",
      [ENDPOINT, ENDPOINT].map((aud) => ({ ...aud, ...READS })) as [object, object],
    ],
    [
      "a role, for an endpoint",
      "/ops/mcp",
      [ENDPOINT, ENDPOINT].map((aud) => ({ ...aud, gateway_role: "admin" })) as [object, object],
    ],
    ["no scope, in a session of a greater one", "/mcp", [READS, {}]],
    ["no scope, while a greater one posts", "/mcp", [{}, {}, READS]],
  ];

  test.each(deaf)("is of its own calls for a token with %s", async (_, path, claims) => {
    expect(await hears(path, claims)).toEqual({ own: true, others: false });
  });

  test("is of all for a token with the scope, whatever token posts", async () => {
    expect(await hears("/mcp", [READS, READS])).toEqual({ own: true, others: true });
    expect(await hears("/mcp", [{}, READS, {}])).toEqual({ own: true, others: true });
  });
});
