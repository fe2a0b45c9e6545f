/** Being somebody whom one is not, or whom one is not any more: by another spelling, another issuer, another name. */
import { createHash, randomBytes } from "node:crypto";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { twinOf } from "../../src/mechanisms/identity/token-twin.ts";
import { Workspace } from "../e2e/identity/workspace.ts";
import { helloServer } from "../e2e/kit/gateway.ts";
import { toolCall } from "../e2e/kit/rpc.ts";
import { SessionClient } from "../e2e/upstream-auth/client.ts";
import { Issuer, signIn } from "../e2e/upstream-auth/issuer.ts";
import { ProtectedServer } from "../e2e/upstream-auth/protected-server.ts";
import { eventually } from "../kit/eventually.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";
import { Doorway } from "./kit/doorway.ts";
import { KeyIssuer } from "./kit/key-issuer.ts";

// Their addresses stand in the config, which is made before any hook runs.
const [first, second, third, byClaim] = (await Promise.all(Array.from({ length: 4 }, () => KeyIssuer.start()))) as [
  KeyIssuer,
  KeyIssuer,
  KeyIssuer,
  KeyIssuer,
];
const doorway = await Doorway.open();
const upstreamIssuer = await Issuer.start();
const crm = await ProtectedServer.start(upstreamIssuer.url);
const parts = [first, second, third, byClaim, doorway, crm, upstreamIssuer];

afterAll(async () => {
  for (const part of parts) await part[Symbol.asyncDispose]();
});

const config = `
[auth]
tokens = true
resource = "${doorway.url}"
samePeople = ["tokens", "${first.url}", "${second.url}"]
${first.table()}
${second.table()}
${byClaim.table('claims = { tenant = "org" }')}
[gateway.edge]
token = { capacity = 40, refill = "1/s" }
[access]
defaultPolicy = "opt-out"
[[servers]]
id = "crm"
url = "${crm.url}"
[servers.auth]
type = "oauth"
${helloServer()}
`;

const tokens = {
  root: ["--user", "root", "--role", "admin"],
  // At the edge each has a bucket of its own.
  chief: ["--user", "chief", "--role", "admin"],
  edge: ["--user", "edge"],
  gone: ["--user", "gone"],
  ann: ["--user", "ann", "--client", "app"],
};

const GREET = toolCall(1, "hello.greet", { name: "Ada" });
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const [ADMIN, NOBODY] = [{ as: "root" }, 401];

const ofTwoTenants = first.table() + third.table('tenant = "other"');
const binding = (type: string) =>
  `[[access.bindings]]\ntarget = { type = "${type}", pattern = "ann" }\nprimitive = "hello.*"`;

/** The same bytes with other unused bits, of which a signature of 64 or 256 bytes has four. */
function withUnusedBits(token: string, bits = 1): string {
  return token.slice(0, -1) + ALPHABET[ALPHABET.indexOf(token.at(-1) ?? "") + bits];
}

function inOtherAlphabet(token: string): string {
  const end = token.lastIndexOf(".");
  return token.slice(0, end) + token.slice(end).replaceAll("-", "+").replaceAll("_", "/");
}

const SPELLINGS: readonly [string, (token: string) => string][] = [
  ["with padding", (token) => `${token}==`],
  ["with half of its padding", (token) => `${token}=`],
  ["with padding behind its claims", (token) => token.replace(/\.([^.]*)$/, "=.$1")],
  ["with unused bits", withUnusedBits],
  ["with unused bits and padding", (token) => `${withUnusedBits(token)}==`],
  ["with all of its unused bits", (token) => withUnusedBits(token, 15)],
  ["in the other alphabet, padded", (token) => `${inOtherAlphabet(token)}==`],
  ["with a blank behind its scheme", (token) => ` ${token}`],
  ["with the other signature that fits", (token) => twinOf(token, "ES256") ?? token],
];

describeAttacks("identity", { config, tokens }, (field) => {
  const everywhere = Array.from({ length: field.processes }, (_, at) => at);
  const status = async (authorization: string, at: number) =>
    (await field.rpc(GREET, { at, headers: { authorization } })).status;

  const revoke = async (token: string): Promise<void> => {
    const hash = createHash("sha256").update(token).digest("hex");
    const { status: said } = await field.api(
      "POST",
      "/api/revocations",
      { type: "client", hash, tenant: "default" },
      ADMIN,
    );
    expect(said).toBe(201);
    for (const at of everywhere)
      expect(
        await eventually(
          () => status(`Bearer ${token}`, at),
          (found) => found === NOBODY,
        ),
      ).toBe(NOBODY);
  };

  describe("a revoked token", () => {
    test.each(SPELLINGS)("of an issuer is refused %s", async (_how, respell) => {
      for (const kind of ["RS256", "ES256"] as const) {
        const token = first.token({}, kind);
        expect(await status(`Bearer ${token}`, 0)).toBe(200);
        await revoke(token);
        for (const at of everywhere) expect(await status(`Bearer ${respell(token)}`, at)).toBe(NOBODY);
      }
    });

    test("of the gateway is refused in every spelling", async () => {
      const token = field.token("gone");
      expect(await status(`Bearer ${token}`, 0)).toBe(200);
      const { body } = await field.api("GET", "/api/tokens", undefined, ADMIN);
      const { id } =
        (body as { tokens: { id: string; user: string }[] }).tokens.find(({ user }) => user === "gone") ?? {};
      await field.api("DELETE", `/api/tokens/${id}`, undefined, ADMIN);
      for (const at of everywhere) {
        await eventually(
          () => status(`Bearer ${token}`, at),
          (found) => found === NOBODY,
        );
        const spelled = [token, `${token}=`, withUnusedBits(token), ` ${token}`, token.toUpperCase()];
        for (const one of spelled) expect(await status(`Bearer ${one}`, at)).toBe(NOBODY);
      }
    });
  });

  describe("a token that cannot be checked", () => {
    test.each<[string, () => string]>([
      ["with a key that is too small", () => first.token({}, "small")],
      ["for an object", () => first.token({ aud: {} })],
      ["for a number", () => first.token({ aud: 7 })],
      ["for nothing", () => first.token({ aud: null })],
      ["for a list of objects", () => first.token({ aud: [{}] })],
      ["of a subject that is a list", () => first.token({ sub: ["ann"] })],
      ["that ends beyond all time", () => first.token({ exp: 1e300 })],
      ["of the local user", () => first.token({ sub: "local", azp: "local" })],
    ])("%s is answered with 401, and is no fault of ours", async (_how, make) => {
      for (const at of everywhere) expect(await status(`Bearer ${make()}`, at)).toBe(NOBODY);
    });
  });

  describe("the tenant of all", () => {
    const NAMES = ["*", "ac*", " default", "Default", "ac\u200bme", "a\tb"];

    test.each(NAMES)("is no tenant that a token can be made for: %j", async (tenant) => {
      const { status: said } = await field.api("POST", "/api/tokens", { user: "eve", tenant }, { as: "chief" });
      expect(said).toBe(422);
      const { code, stdout } = await field.run(["token", "create", "--user", "eve", "--tenant", tenant], {
        ISTHMUS_TOKEN: field.token("chief"),
      });
      expect(code).not.toBe(0);
      expect(stdout).not.toContain("isth_");
    });

    test.each([...NAMES, "default", "", ["acme"]].map((org) => ({ org })))(
      "is no tenant that an issuer can say: %j",
      async ({ org }) => {
        expect(await status(`Bearer ${byClaim.token({ org: "acme" })}`, 0)).toBe(200);
        for (const at of everywhere) expect(await status(`Bearer ${byClaim.token({ org })}`, at)).toBe(NOBODY);
      },
    );
  });

  test("no spelling of a header gives a token a bucket of its own at the edge", async () => {
    const token = field.token("edge");
    const spelled = ["Bearer ", "bEaReR ", "BEARER  ", "bearer     ", "Bearer \t"].map((scheme) => `${scheme}${token}`);
    for (const at of everywhere) {
      const said: number[] = [];
      for (let count = 0; count < 80; count++) said.push(await status(spelled[count % spelled.length] ?? "", at));
      expect(said.filter((one) => one !== 429).length).toBeLessThan(60);
      for (const one of spelled) said.push(await status(one, at));
      expect(said.slice(-spelled.length)).toContain(429);
    }
  });

  test("no other signature that fits gives a token a bucket of its own at the edge", async () => {
    const token = first.token({}, "ES256");
    const twin = twinOf(token, "ES256") ?? "";
    for (const at of everywhere) {
      // Who knows what is signed, and not the signature, empties nobody's bucket.
      const guess = () => token.replace(/[^.]*$/, randomBytes(64).toString("base64url"));
      for (let count = 0; count < 60; count++) expect(await status(`Bearer ${guess()}`, at)).toBe(NOBODY);
      expect(await status(`Bearer ${token}`, at)).toBe(200);
      const said: number[] = [];
      for (let count = 0; count < 80; count++) said.push(await status(`Bearer ${count % 2 === 0 ? token : twin}`, at));
      expect(said.filter((one) => one !== 429).length).toBeLessThan(60);
    }
  });

  describe("somebody of the same name", () => {
    test("and client has nothing of what another source's user has allowed, wherever they come", async () => {
      doorway.to = field.origin(0);
      const ann = await SessionClient.open(`${field.origin(0)}/mcp`, first.token());
      await signIn(await ann.linkOf("crm.sign_in"), "ann");
      await ann.sees("crm.whoami");
      expect(await ann.call("crm.whoami")).toBe("ann");
      const others = { "another issuer": second.token(), "the gateway": field.token("ann") };
      for (const at of everywhere) {
        for (const [source, token] of Object.entries(others)) {
          const other = await SessionClient.open(`${field.origin(at)}/mcp`, token);
          expect(await other.names(), source).toContain("crm.sign_in");
          expect(await other.call("crm.whoami"), source).not.toBe("ann");
        }
        const again = await SessionClient.open(`${field.origin(at)}/mcp`, first.token());
        await again.sees("crm.whoami");
      }
    });

    test.each<[string, string]>([
      ["tokens of the gateway beside an issuer", `samePeople = []\n${first.table()}`],
      ["tokens of the gateway beside an issuer of a tenant", `samePeople = []\n${first.table('tenant = "a"')}`],
      [
        "tokens of the gateway beside issuers that know the same people",
        `samePeople = ["${first.url}", "${second.url}"]\n${first.table()}${second.table()}`,
      ],
      ["two issuers of one tenant", first.table() + third.table()],
      ["two issuers of one tenant by name", first.table('tenant = "a"') + third.table('tenant = "a"')],
      [
        "a claim that may say the tenant of another",
        first.table('tenant = "a"') + third.table('claims = { tenant = "o" }'),
      ],
      ["one issuer under two spellings", first.table() + first.table().replace(first.url, `${first.url}/`)],
      ["a grant for the name in all tenants", `${ofTwoTenants}\n[[access.grants]]\nagent = "ann"\nserver = "hello"`],
      ["a binding for the name in all tenants", `${ofTwoTenants}\n${binding("user")}`],
      ["a binding for a group in all tenants", `${ofTwoTenants}\n${binding("group")}`],
      [
        "a rule about callers of all tenants",
        `${ofTwoTenants}\n[[access.rules]]\nmatch = "*"\neffect = "allow"\nwhen = 'principal.user == "ann"'`,
      ],
    ])("is not let in by %s: the gateway does not start", async (_how, tables) => {
      const same = tables.startsWith("samePeople") ? "" : 'samePeople = ["tokens"]\n';
      await using place = new Workspace(`[auth]\ntokens = true\nresource = "${doorway.url}"\n${same}${tables}`);
      await expect(place.up("127.0.0.1:0")).rejects.toThrow(/the same person|cannot be told from|expected a tenant/);
    });

    test("is not let in by a config that changes while the gateway runs", async () => {
      for (const at of everywhere) {
        appendFileSync(join(field.folder(at), "isthmus.toml"), third.table());
        const wasRefused = await eventually(
          () => isStale(field, at),
          (stale) => stale,
        );
        expect(wasRefused).toBe(true);
        expect(await status(`Bearer ${third.token()}`, at)).toBe(NOBODY);
        expect(field.log()).toContain("would be the same person");
      }
    });
  });
});

async function isStale(field: Attacked, at: number): Promise<boolean> {
  const { text } = await field.api("GET", "/metrics", undefined, { ...ADMIN, at });
  return /^isthmus_config_stale 1$/m.test(text);
}
