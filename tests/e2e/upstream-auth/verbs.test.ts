/** What the verbs say of a server that each user signs in to. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, Workspace } from "../identity/workspace.ts";
import { SessionClient } from "./client.ts";
import { Issuer, signIn } from "./issuer.ts";
import { ProtectedServer } from "./protected-server.ts";

type Finding = { level: string; what: string; found: string; advice?: string };

let issuer: Issuer;
let crm: ProtectedServer;
beforeAll(async () => {
  issuer = await Issuer.start();
  crm = await ProtectedServer.start(issuer.url);
});
afterAll(async () => {
  await crm[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

const server = (more: string) => `[[servers]]\nid = "crm"\nurl = "${crm.url}"\n${more}`;
const OAUTH = '[servers.auth]\ntype = "oauth"\n';
const AUTH = '[auth]\ntokens = true\nlocal = false\n[access]\ndefaultPolicy = "opt-out"\n';

async function gatewayWith(config: (listen: string) => string): Promise<{ workspace: Workspace; listen: string }> {
  const listen = `127.0.0.1:${await freePort()}`;
  return { workspace: new Workspace(`[gateway]\nlisten = "${listen}"\n${config(listen)}`), listen };
}

async function findingOf(workspace: Workspace): Promise<{ code: number | null; finding: Finding | undefined }> {
  const { code, stdout } = await workspace.run(["doctor", "--json"]);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return { code, finding: findings.find(({ what }) => what === "servers.crm") };
}

async function signedIn(url: string, name: string, token?: string): Promise<void> {
  const client = await SessionClient.open(url, token);
  await signIn(await client.linkOf("crm.sign_in"), name);
  await client.sees("crm.whoami");
}

describe("a server that waits for a sign-in", () => {
  test("is no problem to doctor, and nothing to speak of once the running gateway may use it", async () => {
    const made = await gatewayWith(() => server(OAUTH));
    await using workspace = made.workspace;
    const what = "servers.crm";
    const advice = "call the tool crm.sign_in: it is done once";
    const waits = { level: "warning", what, found: "it waits for a sign-in", advice };
    expect(await findingOf(workspace)).toEqual({ code: 0, finding: waits });
    await workspace.up(made.listen);
    expect(await findingOf(workspace)).toEqual({ code: 0, finding: waits });
    await signedIn(`http://${made.listen}/mcp`, "ann");
    const well = { level: "ok", what, found: "the running gateway may use it" };
    expect(await findingOf(workspace)).toEqual({ code: 0, finding: well });
  });

  test("works for a user who has signed in, and waits for the others", async () => {
    const made = await gatewayWith(() => AUTH + server(OAUTH));
    await using workspace = made.workspace;
    const [ann, bob] = [await workspace.createToken("--user", "ann"), await workspace.createToken("--user", "bob")];
    await workspace.up(made.listen);
    await signedIn(`http://${made.listen}/mcp`, "ann", ann);
    const listed = async (token: string, ...more: string[]) =>
      (await workspace.run(["list", ...more], { ISTHMUS_TOKEN: token })).stdout;
    const seen = await listed(ann);
    expect(seen).toContain("crm.whoami");
    expect(seen).not.toContain("Not working");
    expect(await listed(ann, "--prompts")).not.toContain("Not working");
    expect(await listed(bob)).toMatch(/crm\.sign_in[\s\S]*Not working:\n {2}crm +auth_required/);
    expect((await findingOf(workspace)).finding).toEqual({
      level: "ok",
      what: "servers.crm",
      found: "each user signs in once: call the tool crm.sign_in",
    });
  });
});

test("doctor advises to sign in to a server that refuses us and says where that is done", async () => {
  const made = await gatewayWith(() => server(""));
  await using workspace = made.workspace;
  const { code, finding } = await findingOf(workspace);
  expect(finding).toMatchObject({
    level: "problem",
    advice: expect.stringMatching(
      /Authorization = "Bearer \$\{NAME\}".*or let each user sign in: \[servers\.auth\] type = "oauth"$/,
    ),
  });
  expect(code).toBe(8);
});

test("token create says so where nobody is known by a token", async () => {
  const made = await gatewayWith(() => server(OAUTH));
  await using workspace = made.workspace;
  const create = () => workspace.run(["token", "create", "--user", "ann"]);
  const warning = "isthmus: nobody is known by this token yet: write tokens = true under [auth]";
  expect(await create()).toMatchObject({ code: 0, stderr: expect.stringContaining(warning) });
  await workspace.up(made.listen, { HOME: workspace.folder });
  expect(await create()).toMatchObject({ code: 0, stderr: expect.stringContaining(warning) });
  const known = await gatewayWith(() => AUTH + server(OAUTH));
  await using other = known.workspace;
  expect((await other.run(["token", "create", "--user", "ann"])).stderr).not.toContain("nobody is known");
});
