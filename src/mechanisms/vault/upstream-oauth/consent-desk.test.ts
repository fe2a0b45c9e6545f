import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
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
  const visit = rig.desk.visit("crm", ticketIn(link));
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
    expect(rig.desk.visit("crm", ticket)?.ticket.holder.user).toBe("ann");
    expect(rig.desk.visit("files", ticket)).toBeUndefined();
    expect(rig.desk.visit("crm", `${ticket.slice(0, -2)}AA`)).toBeUndefined();
    expect(rig.desk.visit("crm", undefined)).toBeUndefined();
    expect(rig.desk.visit("nobody", ticket)).toBeUndefined();
    rig.time.advance(10 * 60_000);
    expect(rig.desk.visit("crm", ticket)).toBeUndefined();
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
