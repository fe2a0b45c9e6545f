/** Words to a server outside any call, which nobody judges, counts or records as one: notifications, log levels. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { openSession, post, toolCall } from "../e2e/kit/rpc.ts";
import { modernBody } from "../kit/modern-client.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";

const SERVER = fileURLToPath(new URL("./kit/loose-server.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "isthmus-unjudged-"));
const file = join(folder, "read.jsonl");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const config = `[audit]
[gate]
mode = "strict"
[auth]
tokens = true
[access]
defaultPolicy = "opt-in"
[[access.grants]]
agent = "ann"
server = "loose"
tool = "read"
[[limits]]
server = "loose"
capacity = 1
refill = "1/d"
[[servers]]
id = "loose"
command = ${JSON.stringify(process.execPath)}
args = ["${SERVER}", "${file}"]
`;
const tokens = { ann: ["--user", "ann"], root: ["--user", "root", "--role", "admin"] };
const JSON_BODY = { "content-type": "application/json", accept: "application/json, text/event-stream" };
/** As many as come at once, and those that come while the test runs. */
const MOST = 80;
const FLOOD = 300;

/** Another text each time, so that it can be looked for in what the server has read. */
let number = 0;
const mark = () => `mark ${++number} of ${process.pid}`;

const lines = (text: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.includes(text)).length;

type Line = { readonly url: string; readonly headers: Record<string, string> };

/** A session with an upstream session of its own, which is open. */
async function open(field: Attacked, at: number | undefined, path = "mcp"): Promise<Line> {
  const url = `${field.origin(at)}/${path}`;
  const capabilities = { elicitation: {}, roots: { listChanged: true } };
  const headers = { ...(await openSession(url, capabilities, field.as("ann"))), ...field.as("ann") };
  const { messages } = await post(url, { id: 1, method: "tools/list" }, headers);
  expect(JSON.stringify(messages)).toContain("read");
  return { url, headers };
}

const send = ({ url, headers }: Line, body: string) =>
  fetch(url, { method: "POST", headers: { ...JSON_BODY, ...headers }, body });
const say = (line: Line, message: object) => send(line, JSON.stringify({ jsonrpc: "2.0", ...message }));

const WORDS = [
  "notifications/wipe/everything",
  "notifications/tools/call",
  "notifications/tasks/status",
  "notifications/message",
  "notifications/cancelled/x",
  "Notifications/roots/list_changed",
  "notifications/",
  "wipe/everything",
  "x",
];

async function trail(field: Attacked): Promise<string> {
  return (await field.api("GET", "/api/audit?limit=1000", undefined, { as: "root" })).text;
}

describeAttacks("words outside calls", { config, tokens }, (field) => {
  test.each(WORDS)("that are no judged ones do not reach a server, and are on the trail: %s", async (method) => {
    const words = mark();
    for (const path of ["mcp", "loose/mcp"]) {
      const line = await open(field, undefined, path);
      await say(line, { method, params: { path: words } });
      await send(
        line,
        `{"jsonrpc":"2.0","method":${JSON.stringify(method).replaceAll("/", "\\/")},"params":{"p":"${words}"}}`,
      );
      await send(line, modernBody(method, { path: words }).replace(/"id":1,/, ""));
      // What has come before this is through.
      await say(line, { method: "notifications/roots/list_changed" });
    }
    await expect.poll(() => trail(field)).toContain(`"tool_name":"${method}"`);
    expect(lines(words)).toBe(0);
  });

  test("that stand in a batch do not reach a server", async () => {
    const words = mark();
    const url = `${field.origin(0)}/mcp`;
    const params = {
      protocolVersion: "2025-03-26",
      capabilities: { roots: {} },
      clientInfo: { name: "x", version: "1" },
    };
    const { headers } = await post(url, { id: 0, method: "initialize", params }, field.as("ann"));
    const session = { "mcp-session-id": headers.get("mcp-session-id") ?? "", ...field.as("ann") };
    const line = { url, headers: session };
    await post(url, { id: 1, method: "tools/list" }, session);
    const batch = WORDS.map((method) => ({ jsonrpc: "2.0", method, params: { path: words } }));
    expect((await send(line, JSON.stringify(batch))).status).toBe(202);
    await post(url, { id: 2, method: "tools/list" }, session);
    expect(lines(words)).toBe(0);
  });

  test("that say that roots have changed reach it with nothing else in them, and not without end", async () => {
    const words = mark();
    const before = lines("roots/list_changed");
    const line = await open(field, 0);
    for (let at = 0; at < FLOOD; at++)
      await say(line, { method: "notifications/roots/list_changed", params: { path: words, _meta: { path: words } } });
    await expect.poll(() => lines("roots/list_changed")).toBeGreaterThan(before);
    expect(lines("roots/list_changed") - before).toBeLessThan(MOST);
    expect(lines(words)).toBe(0);
  });

  test.each([
    ["its own", { elicitation: {} }],
    ["the shared", {}],
  ])("that set the level of %s session reach the server within bounds", async (_whose, capabilities) => {
    const before = lines("logging/setLevel");
    const url = `${field.origin(0)}/mcp`;
    const headers = { ...(await openSession(url, capabilities, field.as("ann"))), ...field.as("ann") };
    const levels = ["debug", "error", "info"];
    for (let at = 0; at < FLOOD; at++) {
      const message = { id: 10 + at, method: "logging/setLevel", params: { level: levels[at % 3], more: "x" } };
      expect((await post(url, message, headers)).messages).toMatchObject([{ result: {} }]);
    }
    await post(url, { id: 5, method: "logging/setLevel", params: { level: "notice" } }, headers);
    // What was said last holds.
    const last = () =>
      readFileSync(file, "utf8")
        .split("\n")
        .findLast((line) => line.includes("logging/setLevel"));
    await expect.poll(last, { timeout: 5000 }).toContain("notice");
    expect(lines("logging/setLevel") - before).toBeLessThan(MOST);
  });

  test("leave the calls of a session as they are", async () => {
    const line = await open(field, 0);
    await say(line, { method: "notifications/wipe/everything" });
    const { messages } = await post(line.url, toolCall(3, "loose.read", {}), line.headers);
    expect(messages.at(-1)).toHaveProperty("result");
  });
});
