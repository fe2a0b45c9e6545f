/**
 * The client under test of the suite's OAuth scenarios: a gateway in front of the suite's own server, an SDK client on the
 * gateway, and a user who opens every link that the client is given.
 *
 *   auth-driver.ts --sdk v1|v2 URL
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { UserAgent } from "../kit/user-agent.ts";
import { type ClientPeer, connectV1, connectV2, type Json } from "./clients.ts";
import { type Running, startGateway } from "./servers.ts";

const SIGN_IN = "sign_in";
const TOOL = "test-tool";
/** A user gives up some time. */
const MAX_LINKS = 5;
const MAX_LOOKS = 40;

// Shorter than the suite's own limit, which would kill us and leave the gateway behind.
setTimeout(() => process.exit(1), 25_000).unref();

const { values, positionals } = parseArgs({
  options: { sdk: { type: "string", default: "v1" } },
  allowPositionals: true,
});
const context: Json = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const folder = await mkdtemp(join(tmpdir(), "isthmus-auth-scenario-"));
let gateway: Running | undefined;
try {
  gateway = await startGateway({ url: positionals[0] ?? "", auth: await authTable() }, folder);
  await use(gateway.url);
} finally {
  await gateway?.close();
  // The suite keeps our stderr with its report.
  process.stderr.write(await readFile(join(folder, "gateway.log"), "utf8").catch(() => ""));
  await rm(folder, { recursive: true });
}

/** What an operator would write for the server of this scenario. */
async function authTable(): Promise<Json> {
  const { client_id: clientId, client_secret: secret, private_key_pem: pem } = context;
  const known = {
    ...(typeof secret === "string" && { issuer: await issuerOf(positionals[0] ?? "") }),
    ...(typeof clientId === "string" && { clientId }),
    ...(typeof secret === "string" && { clientSecret: await fileWith("secret", secret) }),
    ...(typeof pem === "string" && { privateKey: await fileWith("key.pem", pem) }),
  };
  if (scenario.includes("client-credentials")) return { type: "client_credentials", ...known };
  if (scenario === "auth/basic-cimd")
    return { type: "oauth", clientMetadataUrl: "https://conformance-test.local/client-metadata.json" };
  return { type: "oauth", ...known };
}

/** Who may be sent the secret: operators know, and write it down. Where the suite does not tell us, its server does. */
async function issuerOf(server: string): Promise<unknown> {
  if (context.issuer !== undefined) return context.issuer;
  const { origin, pathname } = new URL(server);
  const answer = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const { authorization_servers: issuers } = (await answer.json()) as { authorization_servers?: unknown[] };
  return issuers?.[0];
}

async function fileWith(name: string, text: string): Promise<{ fromFile: string }> {
  await writeFile(join(folder, name), text);
  return { fromFile: name };
}

async function use(url: string): Promise<void> {
  const { client, close } = await (values.sdk === "v2" ? connectV2 : connectV1)(url);
  const tools = await namesOf(client);
  if (tools.includes(SIGN_IN)) await callAllowed(client, SIGN_IN);
  if (await isListed(client, TOOL)) await callAllowed(client, TOOL);
  await close();
}

async function namesOf(client: ClientPeer): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

/** The gateway lists anew as soon as it may: clients hear of that, this one just looks. */
async function isListed(client: ClientPeer, name: string): Promise<boolean> {
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    if ((await namesOf(client)).includes(name)) return true;
    await sleep(50);
  }
  return false;
}

/** Opens each link that the call is answered with, and calls again. */
async function callAllowed(client: ClientPeer, name: string): Promise<void> {
  for (let links = 0; links < MAX_LINKS; links++) {
    const answer = await client.callTool({ name, arguments: {} }).catch((error: unknown) => {
      // Signing in is no tool any more as soon as the gateway has listed what it led to.
      if (name === SIGN_IN && links > 0) return undefined;
      throw error;
    });
    const link = answer && linkIn(answer);
    if (link === undefined) return;
    const user = new UserAgent();
    const { status } = await user.submit(await user.open(link));
    if (status !== 200) return;
  }
}

function linkIn({ content }: Json): string | undefined {
  const [{ text = "" } = {}] = content as { text?: string }[];
  return /http:\S+\/oauth\/start\/\S+/.exec(text)?.[0];
}
