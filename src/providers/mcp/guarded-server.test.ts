import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { FakeOut, fakeCall, fakeSession, toolCall } from "../../../tests/kit/fake-host.ts";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { type Call, GatewayError, LOCAL, type Provider, payload, type SessionRef } from "../../contract/index.ts";
import { FakeCredentials } from "./fixtures/fake-credentials.ts";
import { type Handler, type HttpFixture, startHttpFixture } from "./fixtures/http-server.ts";
import { openProvider } from "./fixtures/setup.ts";

const ANN = fakeSession("a", { protocol: "2025-11-25" });
const BOB = fakeSession("b", { protocol: "2025-11-25" });
const PAGES = fakeSession("a", { protocol: "2025-11-25", capabilities: { elicitation: { url: {} } } });
const holderOf = ({ principal, id }: SessionRef) => ({ principal, session: id });

/** Lets in whoever has a token that begins so. */
function guarded(answer: Handler, start = "good"): Handler {
  return (exchange) => {
    const { authorization = "" } = exchange.request.headers;
    if (authorization.startsWith(`Bearer ${start}`)) return answer(exchange);
    exchange.json({ error: "invalid_token" }, 401, { "www-authenticate": 'Bearer scope="s"' });
  };
}

function startGuarded(toList = "good"): Promise<HttpFixture> {
  const fixture = startHttpFixture({
    initialize: guarded((exchange) =>
      exchange.result({
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "g", version: "1" },
      }),
    ),
    "tools/list": guarded(
      (exchange) => exchange.result({ tools: [{ name: "echo", inputSchema: { type: "object" } }] }),
      toList,
    ),
    "tools/call": guarded((exchange) =>
      exchange.result({ content: [{ type: "text", text: exchange.request.headers.authorization ?? "" }] }),
    ),
  });
  return fixture;
}

async function rig(prepare: (credentials: FakeCredentials) => void = () => undefined) {
  const server = await startGuarded();
  const credentials = new FakeCredentials();
  prepare(credentials);
  const setup = await openProvider({ url: server.url, era: "2025" }, { credentials });
  return {
    server,
    credentials,
    ...setup,
    async [Symbol.asyncDispose]() {
      await setup[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}

/** A call, and what it ended with. */
async function run(provider: Provider, call: Call): Promise<{ out: FakeOut; error: unknown }> {
  const out = new FakeOut();
  const error = await provider.run(call, out).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { out, error };
}

const echo = (session: SessionRef) => toolCall("echo", {}, { session, principal: session.principal });
const textOf = ({ out }: { out: FakeOut }) => (out.result as { content: [{ text: string }] }).content[0].text;

describe("a server that wants credentials", () => {
  test("gets those of each caller, and never one's for another", async () => {
    await using guardedRig = await rig(({ tokens }) => {
      tokens.set(ANN.principal.id, "good-ann").set(BOB.principal.id, "good-bob");
    });
    const { provider } = guardedRig;
    const texts = await Promise.all([ANN, BOB, ANN].map(async (session) => textOf(await run(provider, echo(session)))));
    expect(texts).toEqual(["Bearer good-ann", "Bearer good-bob", "Bearer good-ann"]);
  });

  test.each([false, true])(
    "sends a request again that was refused, once, with what came of that (slow: %s)",
    async (isSlow) => {
      await using guardedRig = await rig((credentials) => {
        credentials.isSlow = isSlow;
        credentials.tokens.set(ANN.principal.id, "good-1");
      });
      const { provider, credentials, server } = guardedRig;
      await run(provider, echo(ANN));
      credentials.tokens.set(ANN.principal.id, "stale");
      credentials.renewals.set("stale", "good-2");
      const calls = server.count("tools/call");
      expect(textOf(await run(provider, echo(ANN)))).toBe("Bearer good-2");
      expect(server.count("tools/call") - calls).toBe(2);
      expect(credentials.refusals.at(-1)).toMatchObject({
        status: 401,
        challenge: 'Bearer scope="s"',
        isRepeat: false,
      });
      credentials.tokens.set(ANN.principal.id, "stale");
      credentials.renewals.set("stale", "stale as well");
      const { error } = await run(provider, echo(ANN));
      expect(error).toMatchObject({ code: "CONSENT_REQUIRED" });
      expect(credentials.refusals.at(-1)).toMatchObject({ isRepeat: true });
    },
  );

  test("is not listed where listing needs another yes, and the link to that is in no log", async () => {
    const log = new KeptLog();
    const server = await startGuarded("good-to-list");
    const credentials = new FakeCredentials();
    credentials.tokens.set(ANN.principal.id, "good-to-open");
    await using setup = await openProvider({ url: server.url, era: "2025" }, { credentials, log });
    const { error } = await run(setup.provider, echo(ANN));
    await vi.waitFor(() => expect(log.lines.map(({ message }) => message)).toContain("server could not be listed"));
    expect(credentials.refusals.length).toBeGreaterThan(0);
    expect(JSON.stringify(log.lines.map(({ message, fields }) => [message, inspect(fields)]))).not.toContain("/oauth/");
    expect(error).toBeUndefined();
    await server.stop();
  });

  test("offers a way to sign in where nobody has, to each session for itself", async () => {
    await using guardedRig = await rig(({ tokens }) => tokens.set(BOB.principal.id, "good-bob"));
    const { provider, host, credentials } = guardedRig;
    expect([host.status, host.names("tool")]).toEqual(["auth_required", ["sign_in"]]);
    expect(JSON.stringify(host.states)).not.toContain("/oauth/start/");
    const scopes = [await provider.scope(ANN), await provider.scope(BOB)] as const;
    expect(scopes.map((scope) => host.names("tool", scope))).toEqual([["sign_in"], ["echo"]]);
    const { error } = await run(provider, toolCall("sign_in", {}, { session: ANN, principal: ANN.principal }));
    expect(error).toMatchObject({ code: "CONSENT_REQUIRED", details: { url: expect.stringContaining("user-of-a") } });
    credentials.grant(holderOf(ANN), "good-ann");
    await vi.waitFor(() => expect(host.names("tool", scopes[0])).toEqual(["echo"]));
    expect(host.names("tool")).toEqual(["sign_in"]);
  });

  test("is tried again by itself where credentials cannot be had just now", async () => {
    const common = { principal: LOCAL, session: "" };
    let isAway = true;
    await using guardedRig = await rig((credentials) => {
      credentials.common = common;
      credentials.tokens.set(LOCAL.id, "good-local");
      const { headersFor } = credentials;
      credentials.headersFor = (holder) =>
        isAway ? Promise.reject(new GatewayError("STATE_UNAVAILABLE")) : headersFor.call(credentials, holder);
    });
    const { host } = guardedRig;
    expect([host.status, host.names("tool")]).toEqual(["unreachable", []]);
    isAway = false;
    await vi.waitFor(() => expect([host.status, host.names("tool")]).toEqual(["ok", ["echo"]]), 5000);
  });

  test.each([
    ["a refusal that another token would not change", "NOT_ALLOWED", 403],
    ["a token that cannot be had just now", "PROVIDER_UNREACHABLE", 401],
  ] as const)("keeps the session of everybody through %s for one call", async (_what, code, status) => {
    await using guardedRig = await rig((credentials) => {
      credentials.isPerCaller = false;
      credentials.common = { principal: LOCAL, session: "" };
      credentials.tokens.set(LOCAL.id, "good-local");
    });
    const { provider, host, server, credentials } = guardedRig;
    await run(provider, echo(ANN));
    credentials.refused = () => Promise.reject(new GatewayError(code, { message: "no" }));
    server.on["tools/call"] = (exchange) => exchange.json({}, status);
    expect((await run(provider, echo(ANN))).error).toMatchObject({ code });
    server.on["tools/call"] = guarded((exchange) => exchange.result({ content: [{ type: "text", text: "yes" }] }));
    expect(textOf(await run(provider, echo(BOB)))).toBe("yes");
    expect([host.status, server.count("initialize")]).toEqual(["ok", 1]);
  });

  test("tells where everybody may sign in who is the same here", async () => {
    const common = { principal: LOCAL, session: "" };
    await using guardedRig = await rig((credentials) => {
      credentials.common = common;
    });
    const { provider, host, credentials } = guardedRig;
    expect(host.names("tool")).toEqual(["sign_in"]);
    credentials.grant(common, "good-local");
    await vi.waitFor(() => expect([host.status, host.names("tool")]).toEqual(["ok", ["echo"]]));
    const session = fakeSession("l", { principal: LOCAL });
    expect(textOf(await run(provider, echo(session)))).toBe("Bearer good-local");
  });

  test("asks the user of a client that shows pages, and goes on with the call", async () => {
    await using guardedRig = await rig();
    const { provider, credentials } = guardedRig;
    const { call, out, ended } = asking(provider);
    const ask = await out.ask();
    expect(ask).toMatchObject({ kind: "elicit", method: "elicitation/create" });
    expect(ask.input.value()).toMatchObject({ mode: "url", url: expect.stringContaining("user-of-a") });
    provider.reply(call.id, answer(ask.key, { action: "accept" }));
    credentials.grant(holderOf(PAGES), "good-ann");
    expect(await ended).toBeUndefined();
    expect(textOf({ out })).toBe("Bearer good-ann");
    expect(out.events.map(({ type }) => type)).toEqual(["ask", "notice", "end"]);
  });

  test.each([
    ["the user declines", { action: "decline" }, "NOT_ALLOWED"],
    ["the user closes the question", { action: "cancel" }, "NOT_ALLOWED"],
  ])("ends the call when %s", async (_what, reply, code) => {
    await using guardedRig = await rig();
    const { provider, credentials } = guardedRig;
    const { call, out, ended } = asking(provider);
    const { key } = await out.ask();
    provider.reply(call.id, answer(key, reply));
    expect(await ended).toMatchObject({ code });
    // The provider's own, and nobody else's.
    expect(credentials.listenerCount).toBe(1);
  });

  test("leaves the page to a client that cannot be asked just now, in the words of its revision", async () => {
    await using guardedRig = await rig();
    const { call, out, ended } = asking(guardedRig.provider);
    const { key } = await out.ask();
    const refusal = { key, outcome: "fault", payload: payload("{}") } as const;
    guardedRig.provider.reply(call.id, { type: "answer", answers: [refusal] });
    await ended;
    const [, end] = out.events;
    expect(end).toMatchObject({ type: "end", outcome: "fault" });
    expect(end?.type === "end" && end.payload.value()).toMatchObject({
      code: -32042,
      data: { elicitations: [{ mode: "url", url: expect.stringContaining("user-of-a") }] },
    });
  });

  test("a call that is cancelled while its user is asked leaves nothing behind", async () => {
    await using guardedRig = await rig();
    const { provider, credentials } = guardedRig;
    const { call, out, ended } = asking(provider);
    await out.ask();
    provider.reply(call.id, { type: "cancel" });
    expect(await ended).toMatchObject({ code: "CANCELLED" });
    expect(credentials.listenerCount).toBe(1);
  });

  test("serves callers without a session in one session for each of them", async () => {
    await using guardedRig = await rig(({ tokens }) => tokens.set("p", "good-p").set("q", "good-q"));
    const { provider, server } = guardedRig;
    const calls = ["p", "q", "p"].map((id) =>
      fakeCall({ principal: { id }, session: fakeSession(`${id}-once`, { principal: { id }, isEphemeral: true }) }),
    );
    const texts = [];
    for (const call of calls) texts.push(textOf(await run(provider, { ...call, method: "tools/call" })));
    expect(texts).toEqual(["Bearer good-p", "Bearer good-q", "Bearer good-p"]);
    expect(server.seen.filter(({ rpc, headers }) => rpc.method === "initialize" && headers.authorization).length).toBe(
      2,
    );
  });

  test("[AP-146] forgets with a session what was kept for it", async () => {
    await using guardedRig = await rig(({ tokens }) => tokens.set(ANN.principal.id, "good-ann"));
    const { provider, credentials } = guardedRig;
    await run(provider, echo(ANN));
    provider.release(ANN, "moved");
    expect(credentials.released).toEqual([]);
    provider.release(ANN);
    expect(credentials.released).toEqual(["a"]);
  });
});

const answer = (key: string, body: object) =>
  ({
    type: "answer",
    answers: [{ key, outcome: "result", payload: payload(JSON.stringify(body)) }],
  }) as const;

/** A call whose client shows pages, and its first question. */
function asking(provider: Provider) {
  const call = echo(PAGES);
  const out = new AskedOut();
  const ended = provider.run(call, out).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { call, out, ended };
}

class AskedOut extends FakeOut {
  async ask() {
    return await vi.waitFor(() => {
      const [event] = this.events;
      if (event?.type !== "ask" || !event.asks[0]) throw new Error("nothing was asked");
      return event.asks[0];
    });
  }
}
