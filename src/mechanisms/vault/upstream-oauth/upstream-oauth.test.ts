import { beforeEach, describe, expect, test, vi } from "vitest";
import { ISSUER } from "./fixtures/fake-issuer.ts";
import { holder, OAuthRig, refusal } from "./fixtures/oauth-rig.ts";
import { hashOf } from "./kept-tokens.ts";

const ANN = holder("ann");
const BOB = holder("bob");
const OWN = { clientId: "me", clientSecret: "x", issuer: ISSUER };
const bearer = (token: string) => `Authorization: Bearer ${token}\r\n`;
const refused = (sent: string, challenge = "Bearer", status: 401 | 403 = 401) =>
  ({ status, challenge, sent, isRepeat: false }) as const;

let rig: OAuthRig;

beforeEach(() => {
  rig = new OAuthRig();
});

describe("UpstreamOAuth", () => {
  test("[AP-149] asks for consent when the server refuses somebody who has no token", async () => {
    const server = rig.create();
    expect(await server.headersFor(ANN)).toBe("");
    const error = await refusal(server, ANN);
    expect(error.code).toBe("CONSENT_REQUIRED");
    expect(error.details.url).toMatch(/^https:\/\/gateway\.example\/oauth\/start\/crm\?ticket=/);
    expect(error.message).toContain(error.details.url);
  });

  test("[AP-115] gives what was granted to its holder with each request, and reads it once", async () => {
    const server = rig.create();
    await rig.grant(server, ANN);
    expect(await server.headersFor(ANN)).toBe(bearer("at-1"));
    expect(server.headersFor(ANN)).toBe(bearer("at-1"));
    expect(rig.issuer.tokenRequests("authorization_code")).toHaveLength(1);
  });

  test("gives nobody the token of another user, client or tenant, nor that of another server", async () => {
    const server = rig.create();
    const other = rig.create({ server: "files", url: new URL("https://files.example/mcp") });
    await rig.grant(server, ANN);
    for (const stranger of [BOB, holder("ann", "s1", "other"), { ...ANN, principal: { id: "x" } }])
      expect(await server.headersFor(stranger)).toBe("");
    expect(await other.headersFor(ANN)).toBe("");
  });

  test("[AP-119] shares a token of low risk among the sessions of a user", async () => {
    const server = rig.create({ riskClass: 3 });
    await rig.grant(server, ANN);
    expect(await server.headersFor(holder("ann", "another session"))).toBe(bearer("at-1"));
    expect(await rig.rows.find({}, 0, 9)).toMatchObject([{ session: "", riskClass: 3 }]);
  });

  test("[AP-128] keeps a token of medium risk for one session", async () => {
    const server = rig.create({ riskClass: 2 });
    await rig.grant(server, ANN);
    expect(await server.headersFor(ANN)).toBe(bearer("at-1"));
    expect(await server.headersFor(holder("ann", "another session"))).toBe("");
    expect(await rig.rows.find({}, 0, 9)).toMatchObject([{ session: "s1", riskClass: 2 }]);
  });

  test("keeps no token of high risk: each request gets its own", async () => {
    const server = rig.create({ riskClass: 1, type: "client_credentials", ...OWN });
    expect([await server.headersFor(ANN), await server.headersFor(ANN)]).toEqual([bearer("at-1"), bearer("at-2")]);
    expect(await rig.rows.find({}, 0, 9)).toEqual([]);
  });

  test("refreshes a token that has ended, once for all who wait, and nobody opens a page", async () => {
    const server = rig.create();
    await rig.grant(server, ANN);
    rig.time.advance(3600_000);
    const lines = await Promise.all(Array.from({ length: 20 }, () => server.headersFor(ANN)));
    expect(new Set(lines)).toEqual(new Set([bearer("at-2")]));
    expect(rig.issuer.tokenRequests("refresh_token").map(({ form }) => form.refresh_token)).toEqual(["rt-1"]);
  });

  test.each(["at once", "one after the other"])(
    "two processes that want to refresh a token %s do so once",
    async (when) => {
      const [one, two] = [rig.create(), rig.create()];
      await rig.grant(two, ANN);
      rig.time.advance(3600_000);
      const { promise, resolve } = Promise.withResolvers<void>();
      const refreshes = () => rig.issuer.tokenRequests("refresh_token").length;
      rig.issuer.gate = promise;
      const first = one.headersFor(ANN);
      if (when !== "at once") await vi.waitFor(() => expect(refreshes()).toBe(1));
      const second = two.headersFor(ANN);
      await vi.waitFor(() => expect(rig.time.pending).toBe(1));
      resolve();
      expect(await Promise.race([first, second])).toBe(bearer("at-2"));
      rig.time.advance(100);
      expect(await Promise.all([first, second])).toEqual([bearer("at-2"), bearer("at-2")]);
      expect(refreshes()).toBe(1);
    },
  );

  test("[AP-149] tries once without anybody when the server refuses a token, and asks when that is refused as well", async () => {
    const server = rig.create();
    await rig.grant(server, ANN);
    await server.refused(ANN, refused(bearer("at-1")));
    const line = await server.headersFor(ANN);
    expect(line).toBe(bearer("at-2"));
    const again = server.refused(ANN, { ...refused(line), isRepeat: true });
    await expect(again).rejects.toMatchObject({ code: "CONSENT_REQUIRED" });
    expect(await server.headersFor(ANN)).toBe("");
  });

  test("a late refusal of a token that was replaced meanwhile costs nothing", async () => {
    const server = rig.create();
    await rig.grant(server, ANN);
    await Promise.all([server.refused(ANN, refused(bearer("at-1"))), server.refused(ANN, refused(bearer("at-1")))]);
    await server.refused(ANN, refused(bearer("at-1")));
    expect(rig.issuer.tokenRequests("refresh_token")).toHaveLength(1);
  });

  test("refreshes a token that was refused while another request was still reading it", async () => {
    const server = rig.create();
    await rig.grant(server, ANN);
    const { promise, resolve } = Promise.withResolvers<void>();
    const get = rig.rows.get.bind(rig.rows);
    vi.spyOn(rig.rows, "get").mockImplementationOnce(async (id) => {
      const row = await get(id);
      await promise;
      return row;
    });
    const reading = server.headersFor(ANN);
    const renewed = server.refused(ANN, refused(bearer("at-1")));
    setImmediate(resolve);
    await renewed;
    expect([await reading, await server.headersFor(ANN)]).toEqual([bearer("at-1"), bearer("at-2")]);
  });

  test("asks again when the issuer has taken back the right to refresh", async () => {
    const server = rig.create();
    await rig.grant(server, ANN);
    rig.time.advance(3600_000);
    rig.issuer.answer = { error: "invalid_grant" };
    expect(await server.headersFor(ANN)).toBe("");
    expect(await rig.rows.find({}, 0, 9)).toEqual([]);
    await expect(server.refused(ANN, refused(""))).rejects.toMatchObject({ code: "CONSENT_REQUIRED" });
  });

  test("forgets nothing while the issuer is away", async () => {
    const server = rig.create();
    await rig.grant(server, ANN);
    rig.time.advance(3600_000);
    rig.issuer.answer = "away";
    await expect(server.headersFor(ANN)).rejects.toMatchObject({ code: "PROVIDER_UNREACHABLE" });
    rig.issuer.answer = "tokens";
    expect(await server.headersFor(ANN)).toBe(bearer("at-2"));
  });

  test("asks for the scope that is missing beside those it has, and not for one that it was given", async () => {
    const server = rig.create();
    rig.issuer.scope = "read";
    await rig.grant(server, ANN);
    const challenge = 'Bearer error="insufficient_scope", scope="write"';
    const error = await server.refused(ANN, refused(bearer("at-1"), challenge, 403)).catch((thrown) => thrown);
    const state = await rig.open(String(error.details.url));
    expect(error.code).toBe("CONSENT_REQUIRED");
    await rig.desk.finish(state, "browser");
    expect(await rig.rows.find({}, 0, 9)).toMatchObject([{ scopes: "read write" }]);
    const again = server.refused(ANN, refused(bearer("at-2"), challenge, 403));
    await expect(again).rejects.toMatchObject({ code: "NOT_ALLOWED" });
  });

  test("does not use a token that was revoked, wherever it was read", async () => {
    const server = rig.create();
    await rig.grant(server, ANN);
    expect(await server.headersFor(ANN)).toBe(bearer("at-1"));
    rig.revoked.add(hashOf("at-1"));
    expect(await server.headersFor(ANN)).toBe("");
    expect(await rig.rows.find({}, 0, 9)).toEqual([]);
  });

  test("hears of what other processes do after five seconds, also when nobody says so", async () => {
    const [one, two] = [rig.create(), rig.create()];
    await rig.grant(two, ANN);
    expect(await one.headersFor(ANN)).toBe(bearer("at-1"));
    await two.forget(ANN, "test");
    expect(one.headersFor(ANN)).toBe(bearer("at-1"));
    rig.time.advance(5000);
    expect(await one.headersFor(ANN)).toBe("");
  });

  test("tells whom a consent is for", async () => {
    const server = rig.create();
    const heard: boolean[][] = [];
    const stop = server.onGranted((isFor) => heard.push([isFor(ANN), isFor(holder("ann", "s2")), isFor(BOB)]));
    await rig.grant(server, ANN);
    stop();
    await rig.grant(server, BOB);
    expect(heard).toEqual([[true, true, false]]);
  });

  test("gets a token of its own where the server knows the gateway itself", async () => {
    const server = rig.create({ type: "client_credentials", ...OWN, clientSecret: "s:ecret", scopes: ["all"] });
    expect([await server.headersFor(ANN), await server.headersFor(BOB)]).toEqual([bearer("at-1"), bearer("at-1")]);
    const [asked] = rig.issuer.tokenRequests("client_credentials");
    expect(asked).toMatchObject({
      form: { resource: "https://crm.example/mcp", scope: "all" },
      authorization: `Basic ${Buffer.from("me:s%3Aecret").toString("base64")}`,
    });
    await server.refused(ANN, refused(bearer("at-1")));
    expect(await server.headersFor(ANN)).toBe(bearer("at-2"));
    const again = server.refused(ANN, { ...refused(bearer("at-2")), isRepeat: true });
    await expect(again).rejects.toMatchObject({ code: "PROVIDER_UNREACHABLE" });
  });

  test("exchanges the caller's token, and never sends it to the server", async () => {
    const server = rig.create({ type: "exchange", ...OWN, audience: "crm" });
    await expect(server.headersFor(ANN)).rejects.toMatchObject({ message: expect.stringContaining("shown no token") });
    rig.subjects.show(ANN.principal, "subject");
    expect(await server.headersFor(ANN)).toBe(bearer("at-1"));
    const [asked] = rig.issuer.tokenRequests("urn:ietf:params:oauth:grant-type:token-exchange");
    expect(asked?.form).toMatchObject({
      subject_token: "subject",
      audience: "crm",
      resource: "https://crm.example/mcp",
    });
    await expect(server.headersFor(BOB)).rejects.toThrow();
  });

  test("keeps no secret of the config in a record, and the store holds no token's text", async () => {
    const server = rig.create({ ...OWN, clientSecret: "operators-secret" });
    await rig.grant(server, ANN);
    const dump = JSON.stringify(await rig.rows.find({}, 0, 9));
    expect(dump).not.toMatch(/at-1|rt-1|operators-secret/);
    rig.time.advance(3600_000);
    expect(await server.headersFor(ANN)).toBe(bearer("at-2"));
    const [asked] = rig.issuer.tokenRequests("refresh_token");
    expect(asked?.authorization).toBe(`Basic ${Buffer.from("me:operators-secret").toString("base64")}`);
  });
});
