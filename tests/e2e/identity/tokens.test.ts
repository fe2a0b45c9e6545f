import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AttackTrace, TrailWatch } from "../../kit/attack-trace.ts";
import { modern } from "../../kit/modern-client.ts";
import { helloServer } from "../kit/gateway.ts";
import { openSession, post, toolCall } from "../kit/rpc.ts";
import { AuthorizedClient } from "./sdk-clients.ts";
import { Workspace } from "./workspace.ts";

const OPEN = '[access]\ndefaultPolicy = "opt-out"\n\n';
const CONFIG = `[audit]\n\n[auth]\ntokens = true\n\n${OPEN}${helloServer()}`;
const GREET = toolCall(1, "hello.greet", { name: "Ada" });

const withToken = (token: string) => ({ authorization: `Bearer ${token}` });

describe("a gateway that asks for tokens", () => {
  let place: Workspace;
  let origin = "";
  const tokens = { admin: "", viewer: "", caller: "", other: "" };

  beforeAll(async () => {
    place = new Workspace(CONFIG);
    tokens.admin = await place.createToken("--user", "root", "--role", "admin");
    tokens.viewer = await place.createToken("--user", "eve", "--role", "viewer");
    tokens.caller = await place.createToken("--user", "ada", "--group", "dev", "--expires", "30d");
    tokens.other = await place.createToken("--user", "ada");
    origin = await place.up("127.0.0.1:0");
  });
  afterAll(() => place[Symbol.asyncDispose]());

  const trail = new TrailWatch({
    origin: () => origin,
    headers: () => withToken(tokens.admin),
    secrets: () => Object.values(tokens),
  });
  const unknown = (why: string): AttackTrace => {
    return { type: "dev.isthmus.authentication_failed", why, actor: "unknown", details: { address: "127.0.0.1" } };
  };
  const turnedAway = (why: string): AttackTrace => {
    return { type: "dev.isthmus.request_refused", why, details: { address: "127.0.0.1" } };
  };

  test.each(["POST", "GET", "DELETE"])(
    "turns a %s without one away with 401, and sends nobody to an issuer that is not there [AP-182]",
    async (method) => {
      const send = () =>
        fetch(`${origin}/mcp`, {
          method,
          headers: { "mcp-session-id": "guessed", accept: "text/event-stream" },
          ...(method === "POST" && { body: JSON.stringify({ jsonrpc: "2.0", ...GREET }) }),
        });
      const response = await trail.attack(send, unknown("missing"));
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="Isthmus"');
    },
  );

  const ADVICE = "This gateway gives out its tokens itself: put one into the client's headers";

  test.each(["v1", "v2"] as const)("tells people so whose client %s looks for a place to log in", async (sdk) => {
    await using client = await AuthorizedClient.make(sdk);
    const failed = client.connect(`${origin}/mcp`, () => Promise.reject(new Error("there is nobody to log in with")));
    await expect(failed).rejects.toThrow(ADVICE);
    expect(client.auth.sentTo).toEqual([]);
  });

  test.each([
    "GET /.well-known/oauth-protected-resource",
    "GET /.well-known/oauth-protected-resource/mcp",
    "GET /.well-known/oauth-authorization-server/mcp",
    "GET /.well-known/openid-configuration",
    "GET /authorize?client_id=x",
    "POST /register",
    "POST /token",
  ])("answers %s with an error that clients of OAuth can read", async (line) => {
    const [method = "", path = ""] = line.split(" ");
    const response = await fetch(`${origin}${path}`, { method, ...(method === "POST" && { body: "{}" }) });
    expect([response.status, response.headers.get("content-type")]).toEqual([404, "application/json"]);
    const description = expect.stringContaining(ADVICE);
    expect(await response.json()).toEqual({ error: "invalid_request", error_description: description });
  });

  test("serves whoever has one, and has no trace of it in its log", async () => {
    const { status, messages } = await post(`${origin}/mcp`, GREET, withToken(tokens.caller));
    expect(status).toBe(200);
    expect(JSON.stringify(messages)).toContain("Hello, Ada!");
    for (const token of Object.values(tokens)) expect(place.log).not.toContain(token);
  });

  test.each(["/healthz", "/readyz"])("answers %s to everybody", async (path) => {
    const response = await fetch(origin + path);
    expect(response.status).toBe(200);
    expect(["ok", '{"status":"ready"}']).toContain(await response.text());
  });

  test.each([
    ["/metrics", "nobody", 401],
    ["/metrics", "caller", 403],
    ["/metrics", "viewer", 200],
    ["/api/calls", "nobody", 401],
    ["/api/calls", "caller", 403],
    ["/api/calls", "viewer", 200],
    ["/api/tokens", "nobody", 401],
    ["/api/tokens", "caller", 403],
    ["/api/tokens", "viewer", 403],
    ["/api/tokens", "admin", 200],
  ] as const)("answers %s to %s with %i", async (path, who, status) => {
    const headers = who === "nobody" ? {} : withToken(tokens[who]);
    const ask = () => fetch(origin + path, { headers });
    const trace = status === 401 ? unknown("missing") : turnedAway("role");
    const response = status === 200 ? await ask() : await trail.attack(ask, trace);
    expect(response.status).toBe(status);
    if (status === 401) expect(response.headers.get("www-authenticate")).toMatch(/^Bearer /);
  });

  test("does not know the session of another caller, not even of the same user", async () => {
    const session = await openSessionAs(tokens.caller);
    const ask = (token: string) => post(`${origin}/mcp`, GREET, { ...session, ...withToken(token) });
    expect((await ask(tokens.caller)).status).toBe(200);
    for (const token of [tokens.other, tokens.admin]) {
      expect((await trail.attack(() => ask(token), turnedAway("session"))).status).toBe(404);
    }
    for (const method of ["GET", "DELETE"]) {
      const headers = { ...session, ...withToken(tokens.other), accept: "text/event-stream", "last-event-id": "1_1" };
      const send = () => fetch(`${origin}/mcp`, { method, headers });
      expect((await trail.attack(send, turnedAway("session"))).status).toBe(404);
    }
    expect((await ask(tokens.caller)).status).toBe(200);
  });

  test("knows no session id that was guessed", async () => {
    const { "mcp-session-id": id = "" } = await openSessionAs(tokens.caller);
    const guesses = [
      id.slice(0, -1),
      `${id}a`,
      id.toUpperCase(),
      `${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`,
      "1",
      "*",
    ];
    for (const guess of guesses) {
      const session = { "mcp-session-id": guess, "mcp-protocol-version": "2025-11-25", ...withToken(tokens.caller) };
      const { status } = await trail.attack(() => post(`${origin}/mcp`, GREET, session), turnedAway("session"));
      expect(status).toBe(404);
    }
  });

  const good = () => `Authorization: Bearer ${tokens.caller}`;
  test.each<[string, number, () => readonly string[], string, string?]>([
    ["a token in the URL", 401, () => [], "query", "/mcp?access_token=TOKEN"],
    ["a token in the URL beside a good one", 401, () => [good()], "query", "/mcp?access_token=TOKEN"],
    ["two Authorization headers", 400, () => [good(), good()], "http 400"],
    ["two Authorization headers, one of them wrong", 400, () => [good(), "Authorization: Bearer x"], "http 400"],
    ["an Authorization header in two lines", 400, () => ["Authorization: Bearer", ` ${tokens.caller}`], "http 400"],
    ["a blank before the colon", 400, () => [`Authorization : Bearer ${tokens.caller}`], "http 400"],
    ["Basic", 401, () => [`Authorization: Basic ${Buffer.from(`ada:${tokens.caller}`).toString("base64")}`], "scheme"],
    ["the token as a cookie", 401, () => [`Cookie: access_token=${tokens.caller}`], "missing"],
    ["the token in another header", 401, () => [`X-Authorization: Bearer ${tokens.caller}`], "missing"],
    ["an empty bearer", 401, () => ["Authorization: Bearer "], "malformed"],
    ["a token over the bound", 401, () => [`Authorization: Bearer ${"a".repeat(9_000)}`], "malformed"],
    ["a head over the bound", 431, () => [`Authorization: Bearer ${"a".repeat(17_000)}`], "http 431"],
    ["bytes that are not ASCII", 401, () => [`Authorization: Bearer ${tokens.caller}\xff`], "malformed"],
    [
      "a principal of the hop",
      401,
      () => [`Isthmus-Hop-Principal: ${Buffer.from('{"id":"local"}').toString("base64url")}`],
      "missing",
    ],
    ["claims of a proxy", 401, () => ["X-Forwarded-For: 127.0.0.1", "X-Forwarded-User: root"], "missing"],
    ["a foreign Host", 403, () => [], "host"],
  ])("refuses %s with %i", async (name, status, lines, why, url = "/mcp") => {
    const host = name === "a foreign Host" ? "evil.example" : new URL(origin).host;
    const body = JSON.stringify({ jsonrpc: "2.0", ...GREET });
    const head = [
      `POST ${url.replace("TOKEN", tokens.caller)} HTTP/1.1`,
      `Host: ${host}`,
      "Accept: application/json, text/event-stream",
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
      ...lines(),
      "Connection: close",
    ];
    const isEarly = why === "host" || why.startsWith("http");
    const trace = isEarly ? { ...turnedAway(why), actor: why === "host" ? "anonymous" : "unknown" } : unknown(why);
    const answer = await trail.attack(() => raw([...head, "", body]), trace);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).not.toContain("Hello");
    expect(answer).not.toContain(tokens.caller);
    expect(place.log).not.toContain(tokens.caller);
  });

  test("lists its tokens to an admin, without what they are", async () => {
    const { stdout, code } = await place.run(["token", "list", "--url", origin, "--json"], {
      ISTHMUS_TOKEN: tokens.admin,
    });
    expect(code).toBe(0);
    const listed: { user: string; groups: string[]; expiresAt?: string }[] = JSON.parse(stdout).tokens;
    expect(listed.map(({ user }) => user).sort()).toEqual(["ada", "ada", "eve", "root"]);
    expect(listed.find(({ groups }) => groups.includes("dev"))?.expiresAt).toBeDefined();
    for (const token of Object.values(tokens)) expect(stdout).not.toContain(token);
  });

  test("makes a token for an admin, and refuses it as soon as it is revoked, with what its bearer has open", async () => {
    const env = { ISTHMUS_TOKEN: tokens.admin };
    const made = await place.run(["token", "create", "--user", "bob", "--url", origin, "--json"], env);
    const { id, token }: { id: string; token: string } = JSON.parse(made.stdout);
    const session = await openSessionAs(token);
    const stream = await fetch(`${origin}/mcp`, {
      headers: { ...session, ...withToken(token), accept: "text/event-stream" },
    });
    expect(stream.status).toBe(200);
    expect(await place.run(["token", "revoke", id, "--url", origin], env)).toMatchObject({
      code: 0,
      stdout: `Revoked ${id}.\n`,
    });
    const use = () => post(`${origin}/mcp`, GREET, { ...session, ...withToken(token) });
    const refused = await trail.attack(use, unknown("unknown"), [token]);
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toContain('error="invalid_token"');
    // The stream ends: nobody sends anything on it that would.
    await stream.text().catch(() => undefined);
    const again = await place.run(["token", "revoke", id, "--url", origin], env);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('"isthmus token list" shows their ids') });
  });

  test("takes no order from an admin who was revoked between its first byte and its last", async () => {
    const env = { ISTHMUS_TOKEN: tokens.admin };
    const made = await place.run(
      ["token", "create", "--user", "mal", "--role", "admin", "--url", origin, "--json"],
      env,
    );
    const { id, token }: { id: string; token: string } = JSON.parse(made.stdout);
    const body = '{"user":"mal","role":"admin"}';
    const head = [
      "POST /api/tokens HTTP/1.1",
      `Host: ${new URL(origin).host}`,
      `Authorization: Bearer ${token}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
      "Connection: close",
    ];
    const first = [...head, "", body.slice(0, 9)].join("\r\n");
    const revoke = async () => {
      expect(await place.run(["token", "revoke", id, "--url", origin], env)).toMatchObject({ code: 0 });
    };
    const order = () => slowly([first, body.slice(9)], revoke);
    const answer = await trail.attack(order, unknown("unknown"), [token]);
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
    const { stdout } = await place.run(["token", "list", "--url", origin, "--json"], env);
    expect(stdout).not.toContain('"mal"');
  });

  test.each([["revoked"], ["expired"]])(
    "ends what a client of 2026-07-28 listens to when its token is %s",
    async (how) => {
      const env = { ISTHMUS_TOKEN: tokens.admin };
      const life = how === "expired" ? ["--expires", "2s"] : [];
      const made = await place.run(["token", "create", "--user", "bob", ...life, "--url", origin, "--json"], env);
      const { id, token }: { id: string; token: string } = JSON.parse(made.stdout);
      const { body, headers } = modern("subscriptions/listen", { notifications: { toolsListChanged: true } });
      const types = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      const request = { method: "POST", body: String(body), headers: { ...types, ...headers, ...withToken(token) } };
      const stream = await fetch(`${origin}/mcp`, request);
      expect(stream.status).toBe(200);
      if (how === "revoked") await place.run(["token", "revoke", id, "--url", origin], env);
      expect(await stream.text()).toContain('"resultType":"complete"');
    },
  );

  test("ends the stream of whoever's token has come to its end", async () => {
    const env = { ISTHMUS_TOKEN: tokens.admin };
    const order = ["token", "create", "--user", "bob", "--expires", "2s", "--url", origin, "--json"];
    const { token }: { token: string } = JSON.parse((await place.run(order, env)).stdout);
    const session = await openSessionAs(token);
    const headers = { ...session, ...withToken(token), accept: "text/event-stream" };
    const stream = await fetch(`${origin}/mcp`, { headers });
    expect(stream.status).toBe(200);
    await stream.text().catch(() => undefined);
    const use = () => fetch(`${origin}/mcp`, { headers });
    expect((await trail.attack(use, unknown("expired"), [token])).status).toBe(401);
  });

  test("lets nobody make tokens who is no admin", async () => {
    const env = { ISTHMUS_TOKEN: tokens.viewer };
    const create = () => place.run(["token", "create", "--user", "bob", "--url", origin], env);
    const made = await trail.attack(create, turnedAway("role"));
    expect(made).toMatchObject({ code: 12, stdout: "" });
    expect(made.stderr).toContain("admin");
  });

  test("tells verbs without a token what to do", async () => {
    const { code, stderr } = await place.run(["list", "--url", origin]);
    expect(code).toBe(12);
    expect(stderr).toContain("ISTHMUS_TOKEN");
    expect(await place.run(["list", "--url", origin], { ISTHMUS_TOKEN: tokens.caller })).toMatchObject({ code: 0 });
  });

  async function openSessionAs(token: string): Promise<Record<string, string>> {
    const session = await openSession(`${origin}/mcp`, {}, withToken(token));
    expect(session["mcp-session-id"]).not.toBe("");
    return session;
  }

  /** Sends exactly these lines and reads to the end. */
  function raw(lines: readonly string[]): Promise<string> {
    return slowly([lines.join("\r\n"), ""], async () => undefined);
  }

  /** The same, with something in between. */
  function slowly([first, second]: readonly [string, string], between: () => Promise<unknown>): Promise<string> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(origin);
      let text = "";
      const socket = connect({ host: hostname, port: Number(port) }, () => {
        socket.write(first, "latin1");
        between().then(() => socket.write(second, "latin1"), reject);
      });
      socket.setEncoding("latin1").on("data", (more) => {
        text += more;
      });
      socket.on("close", () => resolve(text)).on("error", reject);
    });
  }
});

test("a token never goes on to a server", async () => {
  const heads: IncomingHttpHeaders[] = [];
  const upstream = createServer((request, response) => {
    heads.push(request.headers);
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const { id, method } = JSON.parse(body || "{}");
      const results: Record<string, object> = {
        initialize: {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "s", version: "1" },
        },
        "tools/list": { tools: [{ name: "say", inputSchema: { type: "object" } }] },
        "tools/call": { content: [{ type: "text", text: "said" }] },
      };
      const result = results[method];
      if (!result) return response.writeHead(id === undefined ? 202 : 404).end();
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  await new Promise<void>((resolve) => upstream.listen({ host: "127.0.0.1", port: 0 }, resolve));
  const { port } = upstream.address() as AddressInfo;
  await using place = new Workspace(
    `[auth]\ntokens = true\n\n${OPEN}[[servers]]\nid = "up"\nurl = "http://127.0.0.1:${port}/mcp"\n`,
  );
  const token = await place.createToken("--user", "ada");
  const origin = await place.up("127.0.0.1:0");
  const { messages } = await post(`${origin}/mcp`, toolCall(1, "up.say", {}), withToken(token));
  expect(JSON.stringify(messages)).toContain("said");
  expect(heads.length).toBeGreaterThan(2);
  expect(JSON.stringify(heads)).not.toContain("isth_");
  expect(heads.some(({ authorization }) => authorization !== undefined)).toBe(false);
  upstream.closeAllConnections();
  upstream.close();
});

describe("an address that other machines reach", () => {
  test("is not listened on while nobody is asked who they are", async () => {
    await using place = new Workspace("");
    const { code, stderr } = await place.run(["up", "--listen", "0.0.0.0:0"]);
    expect(code).toBe(3);
    expect(stderr).toContain('gateway.listen: found "0.0.0.0:0": other machines reach it');
    expect(stderr).toContain("[auth]");
  });

  test("is listened on with tokens, and the start says which way callers are known", async () => {
    await using place = new Workspace("[auth]\ntokens = true\n");
    const { port } = new URL(await place.up("0.0.0.0:0"));
    expect((await post(`http://127.0.0.1:${port}/mcp`, GREET)).status).toBe(401);
    await expect.poll(() => place.log).toContain("tokens of this gateway");
    await expect.poll(() => place.log).toContain("credentials travel in the clear");
  });

  test("the start of an open gateway says so", async () => {
    await using place = new Workspace("");
    await place.up("127.0.0.1:0");
    await expect.poll(() => place.log).toContain("everybody on this machine is the local user");
  });
});
