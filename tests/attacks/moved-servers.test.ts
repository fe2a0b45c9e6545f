/** A yes to a call of one server, used at another one that has taken its name: all that it says of its tools is the same. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const PROGRAM = fileURLToPath(new URL("./kit/placed-server.mjs", import.meta.url));
const TOOLS = [{ name: "deploy", inputSchema: { type: "object" }, annotations: { destructiveHint: true } }];

/** Says where it was done: at which server, and for which account. */
async function webServer(place: string): Promise<{ readonly url: string; readonly http: Server }> {
  const http = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { id, method } = JSON.parse(body || "{}") as { id?: number; method?: string };
    if (id === undefined) return void response.writeHead(method ? 202 : 405).end();
    const text = `DONE at ${place} for ${request.headers["x-account"]}`;
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "w", version: "1" },
      },
      "tools/list": { tools: TOOLS },
      "tools/call": { content: [{ type: "text", text }] },
    };
    response
      .setHeader("content-type", "application/json")
      .end(JSON.stringify({ jsonrpc: "2.0", id, result: results[method ?? ""] }));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, http };
}

const [staging, production] = [await webServer("staging"), await webServer("production")];
afterAll(() => {
  for (const { http } of [staging, production]) http.closeAllConnections();
  for (const { http } of [staging, production]) http.close();
});

const config = `[auth]
tokens = true
[gate]
hold = "50ms"
evidence = "operator"
[access]
defaultPolicy = "opt-out"
[[servers]]
id = "web"
url = ${JSON.stringify(staging.url)}
headers = { x-account = "mine" }
[[servers]]
id = "program"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(PROGRAM)}, "staging"]
env = { PLACE = "here" }
[[servers]]
id = "other"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(PROGRAM)}, "untouched"]
timeout = "50s"
`;
const tokens = {
  ann: ["--user", "ann"],
  op: ["--user", "op", "--role", "operator"],
  root: ["--user", "root", "--role", "admin"],
};

describeAttacks("a yes to a call", { config, tokens }, (field) => {
  const written = () => Array.from({ length: field.processes }, (_, at) => join(field.folder(at), "isthmus.toml"));
  let before: readonly string[] | undefined;
  const write = async (change: (text: string, at: number) => string) => {
    before ??= written().map((file) => readFileSync(file, "utf8"));
    for (const [at, file] of written().entries()) {
      writeFileSync(file, change(readFileSync(file, "utf8"), at));
      expect((await field.api("POST", "/api/config/reload", undefined, { as: "root", at })).status).toBe(204);
    }
  };
  afterEach(() => write((_text, at) => before?.[at] ?? ""));

  let number = 0;
  /** The text of the answer; one that the server could not be reached for yet is none. */
  async function call(server: string, version: number): Promise<string> {
    const ask = async () => {
      const { messages } = await field.rpc(toolCall(1, `${server}.deploy`, { version }), { as: "ann" });
      return JSON.stringify(messages.at(-1));
    };
    let answer = "";
    await expect
      .poll(
        async () => {
          answer = await ask();
          return answer;
        },
        { timeout: 10_000 },
      )
      .toMatch(/DONE|confirmation_id/);
    return answer;
  }

  async function approved(server: string): Promise<{ readonly version: number; readonly id: string }> {
    const version = ++number;
    const [, id = ""] = /confirmation_id\W+([\w-]{36})/.exec(await call(server, version)) ?? [];
    expect((await field.api("POST", `/api/approvals/${id}/approve`, {}, { as: "op" })).status).toBe(200);
    return { version, id };
  }

  describe("is not used where calls of that name go by then", () => {
    test.each<[string, string, string, string]>([
      ["to another address", "web", staging.url, production.url],
      ["to another path of the same one", "web", staging.url, `${staging.url}?to=production`],
      ["with another header", "web", 'x-account = "mine"', 'x-account = "theirs"'],
      ["with one more header", "web", 'x-account = "mine"', 'x-account = "mine", x-as = "root"'],
      ["to a program with other arguments", "program", '"staging"]', '"production"]'],
      ["to another program", "program", '"]\nenv', '"]\ncwd = "/"\nenv'],
      ["to a program with another variable", "program", 'PLACE = "here"', 'PLACE = "there"'],
      ["to a program with a variable of another name", "program", "{ PLACE =", '{ MODE = "x", PLACE ='],
    ])("%s", async (_where, server, from, to) => {
      const { version, id } = await approved(server);
      await write((text) => text.replace(from, to));
      const answer = await call(server, version);
      expect(answer).toContain("confirmation_id");
      expect(answer).not.toContain(id);
    });
  });

  test.each<[string, string, string]>([
    ["of another server changes", '"untouched"', '"moved"'],
    ["is written in another order", 'id = "program"\n', 'timeout = "77s"\nid = "program"\n'],
    ["says how long its calls may take", 'env = { PLACE = "here" }', 'env = { "PLACE" = "here" }\ntimeout = "40s"'],
  ])("is used when the table %s", async (_what, from, to) => {
    const { version } = await approved("program");
    await write((text) => text.replace(from, to));
    expect(await call("program", version)).toContain("DONE at staging in here");
  });
});
