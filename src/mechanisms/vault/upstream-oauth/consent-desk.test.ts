import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { GatewayError, type Principal } from "../../../contract/index.ts";
import { createSeal } from "../seal.ts";
import { holder, OAuthRig, refusal } from "./fixtures/oauth-rig.ts";
import type { UpstreamOAuth } from "./upstream-oauth.ts";

const ANN = holder("ann");
const BOB = holder("bob");
const RESOURCE = "https://crm.example/.well-known/oauth-protected-resource/mcp";
const METADATA = "https://issuer.example/.well-known/oauth-authorization-server";

let rig: OAuthRig;
let server: UpstreamOAuth;

beforeEach(() => {
  rig = new OAuthRig();
  server = rig.create();
});

const linkFor = async (who = ANN, challenge?: string) => String((await refusal(server, who, challenge)).details.url);
const ticketIn = (link: string) => new URL(link).searchParams.get("ticket") ?? "";

/** What the issuer's page is asked with. */
async function asked(link: string, browser = "browser"): Promise<Record<string, string>> {
  const visit = await rig.desk.visit("crm", ticketIn(link));
  if (!visit) throw new Error("the link is not good");
  return Object.fromEntries(new URL(await rig.desk.begin(visit, browser)).searchParams);
}

const kept = () => rig.rows.find({}, 0, 9);

describe("ConsentDesk", () => {
  test("asks with PKCE, a state, the resource as the server spells it, and its own address", async () => {
    const parameters = await asked(await linkFor());
    expect(parameters).toMatchObject({
      response_type: "code",
      client_id: "registered",
      redirect_uri: "https://gateway.example/oauth/callback",
      code_challenge_method: "S256",
      resource: "https://crm.example/mcp",
    });
    await rig.desk.finish(new URLSearchParams({ ...parameters, code: "c", iss: "https://issuer.example" }), "browser");
    const [request] = rig.issuer.tokenRequests("authorization_code");
    const challenge = createHash("sha256")
      .update(request?.form.code_verifier ?? "")
      .digest("base64url");
    expect(challenge).toBe(parameters.code_challenge);
    expect(request?.form.resource).toBe("https://crm.example/mcp");
  });

  test("carries nothing readable through the browser", async () => {
    const link = await linkFor();
    const { state = "" } = await asked(link);
    for (const text of [link, Buffer.from(state.split(".")[1] ?? "", "base64url").toString("latin1")])
      expect(text).not.toMatch(/ann|s3cret|verifier/);
  });

  test.each([
    ["wants what the challenge names", 'Bearer scope="b a"', {}, "a b"],
    ["else what the server's document names", "Bearer", { scopes_supported: ["x"] }, "x"],
    ["else nothing", "Bearer", {}, undefined],
  ])("%s", async (_what, challenge, document, expected) => {
    Object.assign(rig.issuer.documents[RESOURCE] ?? {}, document);
    expect((await asked(await linkFor(ANN, challenge))).scope).toBe(expected);
  });

  test("asks for a way to refresh where the issuer offers it", async () => {
    Object.assign(rig.issuer.documents[METADATA] ?? {}, { scopes_supported: ["offline_access"] });
    expect(await asked(await linkFor())).toMatchObject({ scope: "offline_access", prompt: "consent" });
  });

  test("is its metadata document where the issuer reads such documents", async () => {
    server = rig.create({ metadataUrl: "https://gateway.example/oauth/client.json" });
    expect((await asked(await linkFor())).client_id).toBe("registered");
    Object.assign(rig.issuer.documents[METADATA] ?? {}, { client_id_metadata_document_supported: true });
    expect((await asked(await linkFor())).client_id).toBe("https://gateway.example/oauth/client.json");
  });

  test("registers once for all who come within an hour, and anew after that", async () => {
    const registrations = () => rig.issuer.asked.filter(({ url }) => url.endsWith("/register")).length;
    await asked(await linkFor(ANN));
    await asked(await linkFor(BOB));
    expect(registrations()).toBe(1);
    rig.time.advance(60 * 60_000);
    await asked(await linkFor(ANN));
    expect(registrations()).toBe(2);
  });

  test("a link is good for ten minutes, for one server, and as it was given", async () => {
    rig.create({ server: "files" });
    const ticket = ticketIn(await linkFor());
    expect((await rig.desk.visit("crm", ticket))?.ticket.holder.user).toBe("ann");
    expect(await rig.desk.visit("files", ticket)).toBeUndefined();
    expect(await rig.desk.visit("crm", `${ticket.slice(0, -2)}AA`)).toBeUndefined();
    expect(await rig.desk.visit("crm", undefined)).toBeUndefined();
    expect(await rig.desk.visit("nobody", ticket)).toBeUndefined();
    rig.time.advance(10 * 60_000);
    expect(await rig.desk.visit("crm", ticket)).toBeUndefined();
  });

  test("takes an answer once, and only from the browser that began", async () => {
    const answer = await rig.open(await linkFor(), "mine");
    await expect(rig.desk.finish(answer, "another")).rejects.toThrow("no sign-in of this browser");
    await rig.desk.finish(answer, "mine");
    await expect(rig.desk.finish(answer, "mine")).rejects.toThrow("no sign-in of this browser");
    expect(rig.issuer.tokenRequests("authorization_code")).toHaveLength(1);
  });

  test("keeps what comes back for whom the link was made, whoever else waits", async () => {
    const [ann, bob] = [await rig.open(await linkFor(ANN), "a"), await rig.open(await linkFor(BOB), "b")];
    await rig.desk.finish(bob, "b");
    expect(await kept()).toMatchObject([{ user: "bob" }]);
    await rig.desk.finish(ann, "a");
    expect(await server.headersFor(BOB)).toContain("at-1");
    expect(await server.headersFor(ANN)).toContain("at-2");
  });

  describe("for somebody who may not use the gateway any more", () => {
    const NOT_GOOD = "may not use the gateway any more";
    const REFUSED = {
      type: "dev.isthmus.consent_refused",
      tenant: "acme",
      actor: { id: "ann" },
      target: { server: "crm" },
      result: "DENIED",
    };
    const isAnn = ({ id }: Principal) => id === ANN.principal.id;
    const turnAwayAnn = () => {
      rig.mayConsent = async (principal, at) => !(isAnn(principal) && at === "crm");
    };

    test("opens no link that they were given before, and notes it, so many times in a minute", async () => {
      const [ann, bob] = [ticketIn(await linkFor(ANN)), ticketIn(await linkFor(BOB))];
      turnAwayAnn();
      expect(await rig.desk.visit("crm", ann)).toBeUndefined();
      expect((await rig.desk.visit("crm", bob))?.ticket.holder.user).toBe("bob");
      expect(rig.noted).toMatchObject([REFUSED]);
      for (let tries = 0; tries < 100; tries++) await rig.desk.visit("crm", ann);
      expect(rig.noted).toHaveLength(60);
    });

    test("sends no browser to the issuer from a page that was open before, and notes it", async () => {
      const visit = await rig.desk.visit("crm", ticketIn(await linkFor()));
      if (!visit) throw new Error("the link is not good");
      turnAwayAnn();
      rig.issuer.asked.length = 0;
      await expect(rig.desk.begin(visit, "browser")).rejects.toThrow(NOT_GOOD);
      expect(rig.issuer.asked).toEqual([]);
      expect(rig.noted).toMatchObject([REFUSED]);
    });

    test("takes no answer of a sign-in that began before, sends its code nowhere, and notes it", async () => {
      const answer = await rig.open(await linkFor());
      turnAwayAnn();
      await expect(rig.desk.finish(answer, "browser")).rejects.toThrow(NOT_GOOD);
      expect(rig.issuer.tokenRequests("authorization_code")).toEqual([]);
      expect(await kept()).toEqual([]);
      expect(rig.noted).toMatchObject([REFUSED]);
    });

    test("puts nothing in the place of what is kept where it happened while the issuer was asked", async () => {
      await rig.grant(server, ANN);
      const [sent, challenge] = [await server.headersFor(ANN), 'Bearer error="insufficient_scope", scope="more"'];
      const { details } = await server.refused(ANN, { status: 403, challenge, sent, isRepeat: false }).catch((e) => e);
      const answer = await rig.open(details.url);
      const [before] = await kept();
      const { promise, resolve } = Promise.withResolvers<void>();
      rig.issuer.gate = promise;
      const finished = rig.desk.finish(answer, "browser");
      finished.catch(() => undefined);
      await expect.poll(() => rig.issuer.tokenRequests("authorization_code")).toHaveLength(2);
      turnAwayAnn();
      resolve();
      await expect(finished).rejects.toThrow(NOT_GOOD);
      expect(await kept()).toEqual([before]);
    });

    test("forgets what came back where it happened while that was written", async () => {
      const answer = await rig.open(await linkFor());
      let isWritten = false;
      rig.mayConsent = async () => {
        isWritten ||= (await kept()).length > 0;
        return !isWritten;
      };
      await expect(rig.desk.finish(answer, "browser")).rejects.toThrow(NOT_GOOD);
      expect([isWritten, await kept()]).toEqual([true, []]);
      expect(await server.headersFor(ANN)).toBe("");
    });

    test("goes nowhere either while that cannot be found out", async () => {
      const link = await linkFor();
      const [visit, answer] = [await rig.desk.visit("crm", ticketIn(link)), await rig.open(link)];
      if (!visit) throw new Error("the link is not good");
      rig.mayConsent = () => Promise.reject(new GatewayError("STATE_UNAVAILABLE"));
      const away = { code: "STATE_UNAVAILABLE" };
      await expect(rig.desk.visit("crm", ticketIn(link))).rejects.toMatchObject(away);
      await expect(rig.desk.begin(visit, "browser")).rejects.toMatchObject(away);
      await expect(rig.desk.finish(answer, "browser")).rejects.toMatchObject(away);
      expect(await kept()).toEqual([]);
    });

    test("knows them by all that blocks and rows of tokens are about", async () => {
      const { principal, session } = ANN;
      const known = { proof: "token", tokenHash: "7d1f", twinHash: "7d20" } as const;
      const who = { principal: { ...principal, identity: { ...principal.identity, ...known } as never }, session };
      const asked: Principal[] = [];
      rig.mayConsent = async (one) => asked.push(one) > 0;
      await rig.grant(server, who);
      for (const one of asked)
        expect(one).toMatchObject({
          id: principal.id,
          identity: { tenant: "acme", user: "ann", client: "client", ...known },
        });
      expect(asked).toHaveLength(5);
    });

    test("opens no link of an older version, which does not say how its holder was known", async () => {
      const seal = createSeal({ master: Buffer.alloc(32, 5) });
      const held = { id: "oidc:ann/client", tenant: "acme", client: "client", user: "ann", session: "s1" };
      const old = (holder: object) =>
        seal.seal(
          "oauth ticket",
          "crm",
          JSON.stringify({ server: "crm", holder, scopes: [], expiresAt: rig.now() + 1 }),
        );
      expect(await rig.desk.visit("crm", old(held))).toBeUndefined();
      expect(await rig.desk.visit("crm", old({ ...held, proof: "oidc" }))).toBeDefined();
    });
  });

  test.each([
    ["of another issuer", { iss: "https://evil.example" }],
    ["of the issuer in another spelling", { iss: "https://issuer.example/" }],
    ["without the issuer's name, though it gives that", { iss: undefined }],
    ["with a state that nobody made", { state: "k00000000.AAAA" }],
    ["without a state", { state: undefined }],
    ["that says no", { code: undefined, error: "access_denied" }],
  ])("refuses an answer %s, sends no code anywhere, and notes it", async (_what, changes) => {
    const answer = await rig.open(await linkFor());
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) answer.delete(name);
      else answer.set(name, value);
    }
    await expect(rig.desk.finish(answer, "browser")).rejects.toMatchObject({ name: "OAuthFault" });
    expect(rig.issuer.tokenRequests("authorization_code")).toEqual([]);
    expect(await kept()).toEqual([]);
    expect(rig.noted).toMatchObject([{ type: "dev.isthmus.consent_refused", result: "DENIED" }]);
  });

  test("notes of answers that belong to nothing only so many in a minute", async () => {
    const strange = () => rig.desk.finish(new URLSearchParams({ state: "x" }), "b").catch(() => undefined);
    for (let tries = 0; tries < 100; tries++) await strange();
    expect(rig.noted).toHaveLength(60);
    rig.time.advance(60_000);
    await strange();
    expect(rig.noted).toHaveLength(61);
  });

  test("an issuer's words are not shown as they came", async () => {
    const answer = await rig.open(await linkFor());
    answer.delete("code");
    answer.set("error", "<script>alert(1)</script>");
    await expect(rig.desk.finish(answer, "browser")).rejects.toThrow("(no code)");
  });

  test("the sentence with which an issuer says no is passed on, without what steers a terminal or turns a text", async () => {
    const answer = await rig.open(await linkFor());
    answer.delete("code");
    answer.set("error", "access_denied");
    answer.set("error_description", "You are \x1b[31mnot\u202e in\u2066 the\x07 group.");
    await expect(rig.desk.finish(answer, "browser")).rejects.toThrow(
      "The authorization server did not agree (access_denied: You are [31mnot in the group.).",
    );
  });

  test.each([
    ["a document about another resource", RESOURCE, { resource: "https://evil.example/mcp" }],
    ["a document about a part of the server", RESOURCE, { resource: "https://crm.example/mcp/part" }],
    ["a document about a sibling", RESOURCE, { resource: "https://crm.example/mc" }],
    ["metadata of another issuer", METADATA, { issuer: "https://evil.example" }],
    ["an issuer without PKCE", METADATA, { code_challenge_methods_supported: ["plain"] }],
    ["an issuer that does not speak of PKCE", METADATA, { code_challenge_methods_supported: undefined }],
    ["a page that is no page", METADATA, { authorization_endpoint: "javascript:alert(1)" }],
    ["a page without TLS", METADATA, { authorization_endpoint: "http://issuer.example/authorize" }],
    ["an issuer that registers nobody", METADATA, { registration_endpoint: undefined }],
    ["a document of another form", METADATA, { token_endpoint: 5 }],
  ])("goes nowhere with %s", async (_what, url, changes) => {
    Object.assign(rig.issuer.documents[url] ?? {}, changes);
    await expect(asked(await linkFor())).rejects.toMatchObject({ name: "OAuthFault" });
  });

  const ELSEWHERE: [endpoint: string, url: string][] = [
    ["authorization_endpoint", "https://login.example/authorize"],
    ["authorization_endpoint", "https://issuer.example@login.example/authorize"],
    ["authorization_endpoint", "https://issuer.example.login.example/authorize"],
    ["token_endpoint", "https://issuer.example:8443/token"],
    ["registration_endpoint", "https://login.example/register"],
    ["revocation_endpoint", "https://login.example/revoke"],
  ];

  test.each(ELSEWHERE)(
    "an issuer that the server has named speaks for its own origin alone (%s %s)",
    async (name, url) => {
      Object.assign(rig.issuer.documents[METADATA] ?? {}, { [name]: url });
      const link = await linkFor();
      const said = `has its ${name} at ${new URL(url).host}. If that is right, set issuer = "https://issuer.example"`;
      await expect(asked(link)).rejects.toThrow(said);
      expect(rig.issuer.asked.filter(({ url: to }) => !to.includes("/.well-known/"))).toEqual([]);
    },
  );

  test.each(ELSEWHERE)("one that the operator has named may say otherwise (%s %s)", async (name, url) => {
    server = rig.create({ issuer: "https://issuer.example" });
    Object.assign(rig.issuer.documents[METADATA] ?? {}, { [name]: url });
    expect((await asked(await linkFor())).response_type).toBe("code");
  });

  test("refuses an answer that names another issuer, also where the asked one does not say that it names itself", async () => {
    Object.assign(rig.issuer.documents[METADATA] ?? {}, { authorization_response_iss_parameter_supported: undefined });
    const answer = await rig.open(await linkFor());
    answer.set("iss", "https://login.example");
    await expect(rig.desk.finish(answer, "browser")).rejects.toThrow("comes from another authorization server");
    expect(rig.issuer.tokenRequests("authorization_code")).toEqual([]);
  });

  test("uses no other issuer than the configured one", async () => {
    server = rig.create({ issuer: "https://other.example" });
    await expect(asked(await linkFor())).rejects.toThrow("configured issuer");
  });

  test("reads where tokens come from anew for each consent", async () => {
    await rig.grant(server, ANN);
    rig.issuer.documents["https://next.example/.well-known/oauth-authorization-server"] = {
      ...rig.issuer.documents[METADATA],
      issuer: "https://next.example",
      authorization_endpoint: "https://next.example/authorize",
      token_endpoint: "https://next.example/token",
      registration_endpoint: "https://next.example/register",
      revocation_endpoint: "https://next.example/revoke",
    };
    Object.assign(rig.issuer.documents[RESOURCE] ?? {}, { authorization_servers: ["https://next.example"] });
    const link = await linkFor(BOB);
    rig.issuer.asked.length = 0;
    await asked(link);
    expect(rig.issuer.asked.map(({ url }) => url)).toContain("https://next.example/register");
  });
});
