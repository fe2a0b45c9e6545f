/** Our upstream leg against the authorization servers that the official SDKs bring. That of `oidc-provider` is in upstream-auth.test.ts. */
import { describe, expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { UserAgent } from "../../kit/user-agent.ts";
import { freePort, Workspace } from "../identity/workspace.ts";
import { SessionClient } from "./client.ts";
import { signIn } from "./issuer.ts";
import { PythonIssuer } from "./python-issuer.ts";
import { TypeScriptIssuer } from "./typescript-issuer.ts";

async function gatewayFor(url: string) {
  const workspace = new Workspace(`[[servers]]\nid = "crm"\nurl = "${url}"\n[servers.auth]\ntype = "oauth"\n`);
  const origin = await workspace.up(`127.0.0.1:${await freePort()}`);
  const client = await SessionClient.open(`${origin}/mcp`);
  return { client, origin, workspace, [Symbol.asyncDispose]: () => workspace[Symbol.asyncDispose]() };
}

const ISSUERS = [
  {
    name: "the Python SDK 1 (FastMCP)",
    start: (behaviour?: "refuses") => PythonIssuer.start(1, behaviour),
    answer: "mcp 1: refresh by client_secret_basic",
  },
  {
    name: "the Python SDK 2",
    start: (behaviour?: "refuses") => PythonIssuer.start(2, behaviour),
    answer: "mcp 2: refresh by client_secret_basic",
  },
  {
    name: "the TypeScript SDK",
    start: (behaviour?: "refuses") => TypeScriptIssuer.start(behaviour),
    answer: "refresh",
  },
];

describe.each(ISSUERS)("a server whose authorization server is that of $name", ({ start, answer }) => {
  test("registers us, gives a token for its resource, and new ones when that has ended", async () => {
    await using issuer = await start();
    await using gateway = await gatewayFor(issuer.url);
    const page = await signIn(await gateway.client.linkOf("crm.sign_in"), "ann");
    expect(page.text).toContain("can be used now");
    await gateway.client.sees("crm.whoami");
    expect(await gateway.client.call("crm.whoami")).toBe(`${answer} for ${issuer.url}`);
  });

  test("says why it refuses, to whoever signs in and on the trail, in bounds and without what is secret", async () => {
    await using issuer = await start("refuses");
    await using gateway = await gatewayFor(issuer.url);
    const agent = new UserAgent();
    const page = await signIn(await gateway.client.linkOf("crm.sign_in"), "ann", agent);
    const code = new URL(agent.visited.at(-1) ?? "").searchParams.get("code") ?? "";
    expect(code).toMatch(/^[0-9a-f-]{36,40}$/);
    expect(page.text).toContain("unauthorized_client: The licence of this [31mserver is over (…). xxx");
    expect(page.text).not.toContain("x".repeat(1000));
    expect(page.text).not.toContain(code);
    const trail = async () => await (await fetch(`${gateway.origin}/api/audit?limit=100`)).text();
    const noted = await eventually(trail, (text) => text.includes("The licence of this"), 5_000);
    expect(noted + gateway.workspace.log).not.toContain(code);
  });
});
