import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeMeter, silentLog } from "../../../tests/kit/fake-host.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { type HttpRequest, identityOf, LOCAL, type Principal, type UpstreamCredentials } from "../../contract/index.ts";
import type { Config } from "../config/index.ts";
import { loadConfig } from "../config/load-config.ts";
import { readConfig } from "../config/read-config.ts";
import { RecentLines } from "../recent-lines.ts";
import { type GatewayState, openState } from "../state/index.ts";
import { OwnIssuer } from "./fixtures/own-issuer.ts";
import { createGovernance, type Governance } from "./governance.ts";

const GATEWAY = "https://gateway.example";

let folder = "";
let issuer: OwnIssuer;
let time: ManualTime;
let config: Config;
let state: GatewayState;
let governance: Governance;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-revoked-"));
  issuer = new OwnIssuer();
  time = new ManualTime();
  await issuer.listen();
  config = configOf(`[auth]
tokens = true
samePeople = ["tokens"]
resource = "${GATEWAY}"

[[auth.issuers]]
url = "${issuer.url}"

[[servers]]
id = "crm"
url = "${issuer.url}/mcp"

[servers.auth]
type = "exchange"
issuer = "${issuer.url}"
risk = "low"
clientId = "me"
clientSecret = { fromEnv = "SECRET" }
`);
  const opened = await openState(config.state, silentLog);
  if (!opened) throw new Error("there is no state folder");
  state = opened;
  governance = govern();
  await governance.open();
});

afterEach(async () => {
  await governance.close();
  await state.close();
  await issuer.close();
  rmSync(folder, { recursive: true });
  expect(time.pending).toBe(0);
});

function configOf(text: string): Config {
  const file = join(folder, "isthmus.toml");
  writeFileSync(file, text);
  return loadConfig(readConfig([file]), { env: { SECRET: "s" } });
}

/** Nothing lives in this process but what governs it. */
function govern(): Governance {
  return createGovernance({
    clock: time,
    timers: time,
    log: silentLog,
    meter: new FakeMeter(),
    config,
    state,
    onChange: () => undefined,
    onReach: () => undefined,
    live: {
      sessions: { list: () => [], endWhere: () => 0, finish: async () => undefined },
      recent: { list: () => [], find: () => undefined },
      runs: () => [],
      servers: () => [],
      offered: () => [],
      find: () => undefined,
      config: () => config,
      lines: new RecentLines(),
      following: () => undefined,
      member: () => "",
      dropStreams: () => undefined,
    },
  });
}

async function operate(id: string, input: object): Promise<Record<string, string>> {
  const found = (await governance.operations()).find((one) => one.id === id);
  const answer = await found?.run(input as never, { principal: LOCAL });
  return answer?.body as Record<string, string>;
}

async function arrive(token: string): Promise<Principal> {
  const request: HttpRequest = {
    method: "POST",
    url: "/mcp",
    headers: Object.freeze({ host: "gateway.example", authorization: `Bearer ${token}` }),
    principal: LOCAL,
    clientAddress: undefined,
    body: () => undefined,
    discard: () => undefined,
  };
  const principal = await governance.authenticator?.authenticate(request);
  if (!principal) throw new Error("nobody is asked who they are");
  return principal;
}

/** They call the server, for which the gateway gets a token of theirs: whatever they came with is exchanged. */
async function use(principal: Principal): Promise<void> {
  governance.vault.onProven({ ...principal, identity: { ...identityOf(principal), proof: "oidc" } }, "shown");
  const [server] = config.servers;
  const credentials: UpstreamCredentials | undefined = server && governance.vault.credentialsFor(server);
  await credentials?.headersFor({ principal, session: "" });
}

async function signed(claims: object): Promise<string> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  issuer.keys.push({ ...(await exportJWK(publicKey)), kid: "one" });
  const now = Math.floor(Date.now() / 1_000);
  return new SignJWT({ iss: issuer.url, aud: GATEWAY, exp: now + 600, ...claims })
    .setProtectedHeader({ alg: "ES256", kid: "one" })
    .sign(privateKey);
}

const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");
const order = (token: string) => ({ body: { type: "client", hash: hashOf(token), reason: "lost" } });

describe("[AP-139] the tokens of servers are taken back", () => {
  test("when a token is revoked that names its client, and those of other users of that client are not", async () => {
    const [ann, bob] = [
      await operate("tokens.create", { body: { user: "ann", client: "editor", groups: [], scopes: [] } }),
      await operate("tokens.create", { body: { user: "bob", client: "editor", groups: [], scopes: [] } }),
    ];
    await use(await arrive(String(ann.token)));
    await use(await arrive(String(bob.token)));
    await operate("tokens.revoke", { id: ann.id });
    await vi.waitFor(() => expect(issuer.revoked).toEqual(["at-1"]));
    expect(await state.records.upstreamTokens.find({}, 0, 9)).toMatchObject([{ user: "bob", client: "editor" }]);
  });

  test("when a named token is blocked by its hash at a process that has not seen its bearer", async () => {
    const { token = "" } = await operate("tokens.create", {
      body: { user: "ann", client: "editor", groups: [], scopes: [] },
    });
    await use(await arrive(token));
    await governance.close();
    governance = govern();
    await governance.open();
    await operate("revocations.add", order(token));
    await vi.waitFor(async () => expect(await state.records.upstreamTokens.find({}, 0, 9)).toEqual([]));
  });

  test("when an issuer's token is blocked by its hash, whose bearer this process knows", async () => {
    const token = await signed({ sub: "ann", azp: "agent" });
    await use(await arrive(token));
    await operate("revocations.add", order("another"));
    expect(issuer.revoked).toEqual([]);
    await operate("revocations.add", order(token));
    await vi.waitFor(() => expect(issuer.revoked).toEqual(["at-1"]));
    await expect(arrive(token)).rejects.toMatchObject({ details: { reason: "revoked" } });
  });
});
