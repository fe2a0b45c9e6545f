/** Paths of servers and catalogs of which a caller may see nothing: by no request can they be told from paths of nothing. */
import { expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { modern } from "../kit/modern-client.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const config = `[auth]
tokens = true
[[access.grants]]
agent = "ann"
server = "hello"
[[access.grants]]
agent = "bob"
server = "*"
[[access.exposure]]
server = "offteam"
enabled = false
[[catalogs]]
id = "offteam"
include = ["hello.*"]
[[catalogs]]
id = "sekretz"
include = ["sekrets.*"]
${helloServer()}
${helloServer("sekrets")}`;

const tokens = { root: ["--user", "root", "--role", "admin"], ann: ["--user", "ann"], bob: ["--user", "bob"] };

const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const body = (method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
const opening = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } };
const asked = modern("tools/list", {}, { id: 1 });

const REQUESTS: Readonly<Record<string, RequestInit & { readonly path?: string }>> = {
  initialize: { method: "POST", headers: json, body: body("initialize", opening) },
  "a list without a session": { method: "POST", headers: json, body: body("tools/list", {}) },
  "a call in a session that is not there": {
    method: "POST",
    headers: { ...json, "mcp-session-id": "0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f" },
    body: body("tools/call", { name: "greet", arguments: {} }),
  },
  "a list of 2026": { method: "POST", headers: { ...json, ...asked.headers }, body: String(asked.body) },
  "what is no JSON": { method: "POST", headers: json, body: "{" },
  "a stream": { headers: { accept: "text/event-stream" } },
  "the end of a session": { method: "DELETE", headers: { "mcp-session-id": "x" } },
  "another method": { method: "PUT", headers: json, body: "{}" },
  "another version": { method: "POST", headers: { ...json, "mcp-protocol-version": "x" }, body: body("ping", {}) },
  "a stream of 2024": { path: "sse", headers: { accept: "text/event-stream" } },
};

describeAttacks("a path of something concealed", { gateway: "sse = true", config, tokens }, (field) => {
  const ask = async (segment: string, request: keyof typeof REQUESTS, as: string) => {
    const { path = "mcp", ...init } = REQUESTS[request] ?? {};
    const life = new AbortController();
    const response = await fetch(`${field.origin(0)}/${segment}/${path}`, {
      ...init,
      headers: { ...init.headers, ...field.as(as) },
      signal: life.signal,
    });
    const { status, headers } = response;
    const isStream = headers.get("content-type") === "text/event-stream";
    const text = isStream ? "" : (await response.text()).replaceAll(/"callId":"[^"]*"/g, "");
    life.abort();
    const told = [...headers].filter(([name]) => name !== "date" && name !== "mcp-session-id").sort();
    return { status, text, told };
  };

  for (const segment of ["sekrets", "sekretz", "offteam", "sekret%73", "%73ekretz"]) {
    test.each(Object.keys(REQUESTS))(`${segment} is none for who may see nothing of it: %s`, async (request) => {
      expect(await ask(segment, request, "ann")).toEqual(await ask("nothing", request, "ann"));
    });
  }

  test("is one for who may", async () => {
    for (const segment of ["sekrets", "sekretz", "hello"])
      expect((await ask(segment, "initialize", "bob")).status, segment).toBe(200);
    expect((await ask("hello", "initialize", "ann")).status).toBe(200);
  });
});
