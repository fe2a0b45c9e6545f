/** Headers that speak of arguments, in front of a server that believes them: rules, the trail and people see the body alone. */
import { afterAll, expect, test } from "vitest";
import { complete, startModern } from "../../src/providers/mcp/fixtures/modern-http.ts";
import { modernBody } from "../kit/modern-client.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const text = { type: "string" };
const tool = (name: string, path: object) => ({ name, inputSchema: { type: "object", properties: { path } } });
/** Of the second one every caller must repeat the argument in a header. */
const tools = [tool("read", text), tool("told", { ...text, "x-mcp-header": "Path" })];

const server = await startModern({ "tools/list": (exchange) => exchange.result(complete({ tools })) });
afterAll(() => server[Symbol.asyncDispose]());

const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[[access.rules]]
match = "disk.*"
when = '!glob(args.path, "/srv/*")'
effect = "deny"
[[servers]]
id = "disk"
url = "${server.url}"
`;

describeAttacks("a rule about arguments", { config, tokens: { eve: ["--user", "eve"] } }, (field) => {
  /** The names of headers about arguments with which the server was called; undefined: it was not. */
  async function call(name: string, path: string, headers: Record<string, string>) {
    const before = server.count("tools/call");
    const response = await fetch(`${field.origin()}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": `disk.${name}`,
        ...field.as("eve"),
        ...headers,
      },
      body: modernBody("tools/call", { name: `disk.${name}`, arguments: { path } }),
    });
    await response.text();
    if (server.count("tools/call") === before) return undefined;
    const sent = server.seen.findLast(({ rpc }) => rpc.method === "tools/call")?.headers ?? {};
    return Object.fromEntries(Object.entries(sent).filter(([key]) => key.startsWith("mcp-param-")));
  }

  const forged: [string, Record<string, string>][] = [
    ["in the name of the argument", { "Mcp-Param-Path": "/etc/shadow" }],
    ["in lower case", { "mcp-param-path": "/etc/shadow" }],
    ["in another spelling of it", { "MCP-PARAM-PATH": "=?base64?L2V0Yy9zaGFkb3c=?=" }],
    ["of arguments that nobody knows", { "Mcp-Param-As": "root", "Mcp-Param-Authorization": "Bearer x" }],
  ];

  test.each(forged)("is not passed by a header %s", async (_, headers) => {
    expect(await call("read", "/etc/shadow", headers)).toBeUndefined();
    expect(await call("read", "/srv/ok", headers)).toEqual({});
  });

  test("is not passed by a header that the tool wants and that says something else", async () => {
    expect(await call("told", "/srv/ok", { "Mcp-Param-Path": "/etc/shadow" })).toBeUndefined();
    expect(await call("told", "/srv/ok", { "Mcp-Param-Path": "/srv/ok", "Mcp-Param-As": "root" })).toEqual({
      "mcp-param-path": "/srv/ok",
    });
  });
});
