/** Official clients through our front against a real authorization server. */

import { describe, expect, test } from "vitest";
import { modern } from "../../kit/modern-client.ts";
import { post, toolCall } from "../kit/rpc.ts";
import { REGISTERED_CLIENT } from "./authorization-server.ts";
import { IssuerRig } from "./issuer-rig.ts";
import { AuthorizedClient, type SdkName } from "./sdk-clients.ts";

describe.each<SdkName>(["v1", "v2"])("the client of SDK %s", (sdk) => {
  test.each(["/mcp", "/hello/mcp"])("finds the issuer of %s, logs in and calls", async (path) => {
    await using rig = await IssuerRig.start();
    await using client = await AuthorizedClient.make(sdk);
    const connected = await client.connect(rig.origin + path, (url) => rig.issuer.logIn(url, "ada"));
    const name = path === "/mcp" ? "hello.greet" : "greet";
    const result = await connected.callTool({ name, arguments: { name: "Ada" } });
    expect(result.isError).not.toBe(true);
    expect(JSON.stringify(result.content)).toContain("Ada");
    const [asked] = client.auth.sentTo;
    expect(asked?.searchParams.get("resource")).toBe(rig.origin + path);
    expect(asked?.searchParams.get("scope")).toContain("tools");
    const token = client.auth.tokens()?.access_token ?? "none";
    expect(rig.log).not.toContain(token);
    expect(rig.log).not.toContain(token.split(".")[2]);
  });
});

describe.each<SdkName>(["v1", "v2"])("the client of SDK %s whose token lacks a scope", (sdk) => {
  test("is told which, logs in for it and calls, and keeps the scopes it had", async () => {
    await using rig = await IssuerRig.start();
    await using client = await AuthorizedClient.make(sdk);
    client.auth.saveClientInformation({ client_id: REGISTERED_CLIENT });
    const url = `${rig.origin}/mcp`;
    const logIn = (address: string) => rig.issuer.logIn(address, "ada");
    const add = { name: "hello.add", arguments: { a: 1, b: 2 } };
    const first = await client.connect(url, logIn);
    await expect(first.callTool(add)).rejects.toThrow();
    const asked = client.auth.sentTo.at(-1)?.searchParams.get("scope")?.split(" ");
    expect(asked).toEqual(expect.arrayContaining(["tools", "write"]));
    const again = await client.finish(url, logIn);
    expect((await again.callTool(add)).content).toEqual([{ type: "text", text: "3" }]);
  });
});

describe("a token that the issuer gave out", () => {
  test("lacks a scope in both eras alike: 403, with all that another one would need", async () => {
    await using rig = await IssuerRig.start();
    await using client = await AuthorizedClient.make("v1");
    await client.connect(`${rig.origin}/mcp`, (url) => rig.issuer.logIn(url, "ada"));
    const authorization = `Bearer ${client.auth.tokens()?.access_token}`;
    const add = { name: "hello.add", arguments: { a: 1, b: 2 } };
    const old = await post(`${rig.origin}/mcp`, toolCall(1, add.name, add.arguments), { authorization });
    const { body, headers } = modern("tools/call", add, { headers: { authorization } });
    const accept = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const now = await fetch(`${rig.origin}/mcp`, {
      method: "POST",
      headers: { ...accept, ...headers },
      body: body ?? "",
    });
    for (const { status, headers: lines } of [old, now]) {
      expect(status).toBe(403);
      expect(lines.get("www-authenticate")).toBe(
        `Bearer resource_metadata="${rig.origin}/.well-known/oauth-protected-resource/mcp", error="insufficient_scope", scope="tools write"`,
      );
    }
  });
});
