/** A tenant's admin uses the account that somebody of its tenant has at a server, by tokens that bear their names. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SessionClient } from "../e2e/upstream-auth/client.ts";
import { Issuer, signIn } from "../e2e/upstream-auth/issuer.ts";
import { ProtectedServer } from "../e2e/upstream-auth/protected-server.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const issuer = await Issuer.start();
const crm = await ProtectedServer.start(issuer.url);

afterAll(async () => {
  await crm[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

const config = `
[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[[servers]]
id = "crm"
url = "${crm.url}"
[servers.auth]
type = "oauth"
`;

const acme = ["--tenant", "acme"];
const tokens = {
  boss: ["--user", "boss", "--role", "admin", ...acme],
  ann: ["--user", "ann", "--client", "editor", ...acme],
  "ann's other token": ["--user", "ann", "--client", "editor", ...acme],
  kim: ["--user", "kim", ...acme],
  lou: ["--user", "lou", "--client", "editor", ...acme],
  "lou's other token": ["--user", "lou", "--client", "editor", ...acme],
  late: ["--user", "late", "--client", "editor", ...acme],
};

type Made = { readonly id: string; readonly token: string };

describeAttacks("accounts of others", { config, tokens }, (field) => {
  const open = (token: string, at?: number) => SessionClient.open(`${field.origin(at)}/mcp`, token);
  const signedIn = async (token: string, name: string) => {
    const client = await open(token);
    await signIn(await client.linkOf("crm.sign_in"), name);
    await client.sees("crm.whoami");
    expect(await client.call("crm.whoami")).toBe(name);
  };
  const make = async (path: string, body: object, bearer = field.token("boss")) => {
    const headers = { authorization: `Bearer ${bearer}` };
    const made = await field.api("POST", path, body, { headers });
    expect(made.status).toBe(201);
    return (made.body as Made).token;
  };
  /** Whom the server takes somebody for, in each process; "": it wants to know who they are. */
  const accountsOf = (token: string) =>
    Promise.all(
      Array.from({ length: field.processes }, async (_none, at) => {
        const client = await open(token, at);
        const names = await client.names();
        return names.includes("crm.sign_in") ? "" : await client.call("crm.whoami");
      }),
    );
  const everywhere = (name: string) => Array.from({ length: field.processes }, () => name);
  const hashOf = (user: string) => createHash("sha256").update(field.token(user)).digest("hex");
  const hers = { user: "ann", client: "editor" };

  beforeAll(async () => {
    await signedIn(field.token("ann"), "ann-at-crm");
    await signedIn(field.token("kim"), "kim-at-crm");
    await signedIn(field.token("lou"), "lou-at-crm");
  });

  test("are those of every token by which the platform names the same user and client", async () => {
    expect(await accountsOf(field.token("ann's other token"))).toEqual(everywhere("ann-at-crm"));
  });

  test.each([
    ["the names of somebody", () => make("/api/tokens", hers)],
    ["the hash of somebody's token for a client", () => make("/api/tokens", { user: "kim", client: hashOf("kim") })],
    [
      "the names of somebody, by a puppet",
      async () => make("/api/tokens", hers, await make("/api/tokens", { ...hers, role: "admin" })),
    ],
    [
      "somebody's other token, rotated",
      () => make(`/api/tokens/${hashOf("lou's other token").slice(0, 12)}/rotate`, {}),
    ],
  ])("are not those of a tenant's admin with %s", async (_what, taken) => {
    expect(await accountsOf(await taken())).toEqual(everywhere(""));
  });

  test("are not shared by two tokens that a tenant's admin has made", async () => {
    await signedIn(await make("/api/tokens", { user: "max", client: "editor" }), "max-at-crm");
    expect(await accountsOf(await make("/api/tokens", { user: "max", client: "editor" }))).toEqual(everywhere(""));
  });

  test("are not put under somebody whom the platform names", async () => {
    await signedIn(await make("/api/tokens", { user: "late", client: "editor" }), "boss-at-crm");
    expect(await accountsOf(field.token("late"))).toEqual(everywhere(""));
  });
});
