import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeMeter, silentLog } from "../../../tests/kit/fake-host.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import {
  type Block,
  type Blocks,
  GatewayError,
  type Principal,
  type TokenRow,
  type UpstreamCredentials,
  untracked,
} from "../../contract/index.ts";
import { principalOfToken } from "../../mechanisms/identity/index.ts";
import type { Config } from "../config/index.ts";
import { loadConfig } from "../config/load-config.ts";
import { readConfig } from "../config/read-config.ts";
import { type GatewayState, openState } from "../state/index.ts";
import { OwnIssuer } from "./fixtures/own-issuer.ts";
import { createVault, type GovernedVault } from "./vault.ts";
import { consentCheck } from "./vault-settings.ts";

const NO_BLOCKS: Blocks = {
  version: 0,
  size: 0,
  of: () => [],
  isBlocked: () => undefined,
  isRevoked: () => undefined,
  isUpstreamRevoked: () => false,
};

const OWN = 'type = "client_credentials"\nclientId = "me"\nclientSecret = { fromEnv = "SECRET" }\n';
const EXCHANGED = 'type = "exchange"\nrisk = "medium"\nclientId = "me"\nclientSecret = { fromEnv = "SECRET" }\n';

let folder = "";
let issuer: OwnIssuer;
let time: ManualTime;
let vault: GovernedVault;
let config: Config;

function configWith(auth: string): Config {
  const file = join(folder, "isthmus.toml");
  const table = `[servers.auth]\nissuer = "${issuer.url}"\n${auth}`;
  writeFileSync(file, `[[servers]]\nid = "crm"\nurl = "${issuer.url}/mcp"\n${table}`);
  return loadConfig(readConfig([file]), { env: { SECRET: "s" } });
}

async function openVault(state?: GatewayState): Promise<GovernedVault> {
  const ports = { clock: time, timers: time, log: silentLog, meter: new FakeMeter() };
  const audit = untracked(async (changes) => (await state?.records.write(changes)) ?? false);
  const opened = createVault({ ...ports, config, audit, blocks: NO_BLOCKS, bearerOf: async () => undefined, state });
  await opened.open();
  return opened;
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-vault-"));
  issuer = new OwnIssuer();
  time = new ManualTime();
  await issuer.listen();
  config = configWith(OWN);
  vault = await openVault();
});

afterEach(async () => {
  await vault.close();
  await issuer.close();
  rmSync(folder, { recursive: true });
  expect(time.pending).toBe(0);
});

function credentials(of = vault): UpstreamCredentials {
  const [server] = config.servers;
  const made = server && of.credentialsFor(server);
  if (!made) throw new Error("the server gets no tokens");
  return made;
}

const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");

const block = (changes: Partial<Block>): Block => ({
  id: "b",
  subject: "everybody",
  key: "",
  tenant: "",
  server: "",
  protocol: "",
  primitive: "",
  reason: "test",
  createdAt: 0,
  createdBy: "ops",
  until: Number.MAX_SAFE_INTEGER,
  ...changes,
});

describe("createVault", () => {
  test("[AP-144] [AP-148] forgets the tokens of a server that is switched off, and takes them back from their issuer", async () => {
    const crm = credentials();
    const holder = crm.common ?? { principal: { id: "x" }, session: "" };
    expect(await crm.headersFor(holder)).toContain("at-1");
    await vault.revokeTokensOf(block({ server: "another" }));
    expect(crm.headersFor(holder)).toContain("at-1");
    await vault.revokeTokensOf(block({ server: "crm" }));
    expect(issuer.revoked).toEqual(["at-1"]);
    expect(await crm.headersFor(holder)).toContain("at-2");
  });

  test.each([
    ["a client", { subject: "client", key: "gateway" }, ["at-1"]],
    ["another client", { subject: "client", key: "other" }, []],
    ["everybody everywhere, who keep what they have", { subject: "everybody" }, []],
    ["one token", { subject: "upstream", key: hashOf("at-1") }, ["at-1"]],
    ["another token", { subject: "upstream", key: hashOf("at-9") }, []],
  ] as const)("takes back the tokens of %s", async (_who, changes, revoked) => {
    const crm = credentials();
    await crm.headersFor(crm.common ?? { principal: { id: "x" }, session: "" });
    await vault.revokeTokensOf(block(changes));
    expect(issuer.revoked).toEqual(revoked);
  });

  test("[AP-145] tells the other processes at once which token they must not use any more", async () => {
    await using state = await openTestState();
    const [one, two] = [await openVault(state.opened), await openVault(state.opened)];
    const [here, there] = [credentials(one), credentials(two)];
    const holder = here.common ?? { principal: { id: "x" }, session: "" };
    expect([await here.headersFor(holder), await there.headersFor(holder)].join("")).toMatch(/(at-1.*){2}/s);
    await one.revokeTokensOf(block({ server: "crm" }));
    expect(await there.headersFor(holder)).toContain("at-2");
    await Promise.all([one.close(), two.close()]);
  });

  test("[AP-139] takes back what a principal has, who may not any more", async () => {
    config = configWith(EXCHANGED);
    const own = await openVault();
    const crm = credentials(own);
    own.onProven(ANN, "shown");
    await crm.headersFor({ principal: ANN, session: "s1" });
    await own.revokeTokensOf(block({ subject: "principal", key: "oidc:bob" }));
    expect(issuer.revoked).toEqual([]);
    await own.revokeTokensOf(block({ subject: "principal", key: ANN.id }));
    expect(issuer.revoked).toEqual(["at-1"]);
    await own.close();
  });

  test("[AP-128] [AP-146] forgets with a session the token of it, here and in the store", async () => {
    config = configWith(EXCHANGED);
    await using state = await openTestState();
    const own = await openVault(state.opened);
    const crm = credentials(own);
    const holder = { principal: ANN, session: "s1" };
    own.onProven(ANN, "shown");
    expect(await crm.headersFor(holder)).toContain("at-1");
    const rows = () => state.opened.records.upstreamTokens.find({}, 0, 9);
    expect(await rows()).toMatchObject([{ session: "s1", riskClass: 2, user: "ann" }]);
    crm.release("s1");
    await vi.waitFor(async () => expect(await rows()).toEqual([]));
    expect(await crm.headersFor(holder)).toContain("at-2");
    await own.close();
  });

  test("[AP-144] forgets all that is meant, however many, also what does not open, before any issuer has answered", async () => {
    config = configWith(EXCHANGED);
    await using state = await openTestState();
    const { records } = state.opened;
    const own = await openVault(state.opened);
    const crm = credentials(own);
    own.onProven(ANN, "shown");
    for (let session = 0; session < 20; session++) await crm.headersFor({ principal: ANN, session: `s${session}` });
    const [sample] = await records.upstreamTokens.find({}, 0, 1);
    if (!sample) throw new Error("nothing was kept");
    const { version: _version, leasedUntil: _leasedUntil, ...token } = sample;
    const closed = Array.from({ length: 250 }, (_, index) => ({ ...token, id: `closed-${index}` }));
    await records.write(closed.map((one) => ({ table: "upstreamTokens", type: "put", token: one }) as const));
    const { promise, resolve } = Promise.withResolvers<void>();
    issuer.gate = promise;
    const revoked = own.revokeTokensOf(block({ subject: "principal", key: ANN.id }));
    await vi.waitFor(() => expect(issuer.revoked).toHaveLength(8));
    expect(await records.upstreamTokens.find({}, 0, 1)).toEqual([]);
    resolve();
    await revoked;
    expect(new Set(issuer.revoked).size).toBe(20);
    expect(issuer.mostAtOnce).toBe(8);
    await own.close();
  });

  test("gives nothing to a server without a table of its own", () => {
    const [server] = config.servers;
    if (!server) throw new Error("there is no server");
    const { auth: _auth, ...plain } = server;
    expect(vault.credentialsFor(plain)).toBeUndefined();
  });
});

describe("consentCheck", () => {
  const row: TokenRow = {
    ...{ hash: hashOf("isth_ann"), id: "0123456789ab", tenant: "t", user: "ann", client: "c" },
    ...{ groups: [], scopes: [], role: undefined, makers: [], makerNames: [], namedBy: "platform" },
    ...{ createdAt: 0, createdBy: "ops", expiresAt: undefined, lastUsedAt: undefined },
  };
  const bearer = principalOfToken(row);
  const checkWith = (found: TokenRow | undefined, isBlocked: Blocks["isBlocked"] = () => undefined) =>
    consentCheck({ blocks: { isBlocked }, tokens: { find: async () => found }, now: () => 1_000 });

  test("lets in a token of the gateway's while its row is there and has not expired, and nobody where none are taken", async () => {
    expect(await checkWith(row)(bearer, "crm")).toBe(true);
    expect(await checkWith({ ...row, expiresAt: 1_001 })(bearer, "crm")).toBe(true);
    expect(await checkWith({ ...row, expiresAt: 1_000 })(bearer, "crm")).toBe(false);
    expect(await checkWith(undefined)(bearer, "crm")).toBe(false);
    const none = consentCheck({ blocks: NO_BLOCKS, tokens: undefined, now: () => 1_000 });
    expect([await none(bearer, "crm"), await none(ANN, "crm")]).toEqual([false, true]);
  });

  test("asks blocks about the whole server, and about a token as its row has it now, with those who made it", async () => {
    const maker = { id: "token:t/boss/1", user: "boss", client: "", groups: [], scopes: [] };
    const asked: unknown[] = [];
    const check = checkWith({ ...row, makerNames: [maker] }, (...about) => {
      asked.push(about);
      return block({});
    });
    expect(await check(bearer, "crm")).toBe(false);
    expect(await check(ANN, "crm")).toBe(false);
    const present = principalOfToken({ ...row, makerNames: [maker] });
    expect(asked).toEqual([
      [present, "crm", "", ""],
      [ANN, "crm", "", ""],
    ]);
  });

  test("rejects where the rows cannot be read", async () => {
    const find = () => Promise.reject(new GatewayError("STATE_UNAVAILABLE"));
    const check = consentCheck({ blocks: NO_BLOCKS, tokens: { find }, now: () => 0 });
    await expect(check(bearer, "crm")).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
  });
});

const ANN: Principal = {
  id: "oidc:ann",
  identity: { tenant: "t", user: "ann", client: "c", groups: [], scopes: [], role: undefined, proof: "oidc" },
};

/** Records in a file of their own. */
async function openTestState(): Promise<AsyncDisposable & { opened: GatewayState }> {
  const opened = await openState(config.state, silentLog);
  if (!opened) throw new Error("there is no state folder");
  return { opened, [Symbol.asyncDispose]: () => opened.close() };
}
