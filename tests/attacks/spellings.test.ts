/**
 * Members of a message that no judge reads, in front of a server that reads them: beside those of JSON-RPC, or under names of the
 * protocol in other spellings.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { openSession, type RpcMessage } from "../e2e/kit/rpc.ts";
import { modernBody } from "../kit/modern-client.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";

const SERVER = fileURLToPath(new URL("./kit/loose-server.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "isthmus-spellings-"));
const file = join(folder, "read.jsonl");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const config = `[audit]
[[audit.capture]]
tools = ["loose.*"]
arguments = ["path"]
[gate]
hold = "50ms"
evidence = "operator"
[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[[access.rules]]
match = "loose.secret"
effect = "deny"
[[access.rules]]
match = "loose.closed"
effect = "deny"
[[access.rules]]
match = "loose.*"
when = 'has(args.path) && glob(args.path, "/etc/*")'
effect = "deny"
[[servers]]
id = "loose"
command = ${JSON.stringify(process.execPath)}
args = ["${SERVER}", "${file}"]
`;
const tokens = {
  eve: ["--user", "eve"],
  op: ["--user", "op", "--role", "operator"],
  root: ["--user", "root", "--role", "admin"],
};
const ACCEPT = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** What the server has read. */
const read = () => readFileSync(file, "utf8");

/** Another text each time, so that it can be looked for in what the server has read. */
let number = 0;
const mark = () => `mark ${++number} of ${process.pid}`;

const ETC = { path: "/etc/passwd" };
const call = (params: object, method = "tools/call") => ({ id: 1, method, params });
const ref = (more: object) => ({ ref: { type: "ref/prompt", name: "loose.open", ...more } });
const argument = { name: "x", value: "" };

const RESPELLED: readonly [what: string, message: object][] = [
  ["Arguments", call({ name: "loose.read", Arguments: ETC })],
  ["ARGUMENTS", call({ name: "loose.read", ARGUMENTS: ETC })],
  ["arguments with a long s", call({ name: "loose.read", argument\u017f: ETC })],
  ["Arguments of a prompt", call({ name: "loose.open", Arguments: ETC }, "prompts/get")],
  ["RequestState", call({ name: "loose.read", RequestState: "forged" })],
  ["input_responses", call({ name: "loose.read", input_responses: {} })],
  ["Task", call({ name: "loose.read", Task: { ttl: 1 } })],
  ["_Meta", call({ name: "loose.read", _Meta: { progressToken: 4 } })],
  ["meta", call({ name: "loose.read", meta: { progressToken: 4 } })],
  ["ProgressToken", call({ name: "loose.read", _meta: { ProgressToken: 4 } })],
  ["progress_token beside the real one", call({ name: "loose.read", _meta: { progressToken: 1, progress_token: 4 } })],
  ["Name in a reference", call({ ...ref({ Name: "closed" }), argument }, "completion/complete")],
  ["TYPE in a reference", call({ ...ref({ TYPE: "ref/resource" }), argument }, "completion/complete")],
  ["Value of what is completed", call({ ...ref({}), argument: { ...argument, Value: "y" } }, "completion/complete")],
  ["Params", { ...call({ name: "loose.read" }), Params: { name: "secret" } }],
  ["Result", { ...call({ name: "loose.read" }), Result: {} }],
];

/** A session of eve's with a call that has asked her for a name, and the question's id. */
async function askedFor(field: Attacked, at: number): Promise<{ headers: Record<string, string>; id: unknown }> {
  const url = `${field.origin(at)}/mcp`;
  const session = await openSession(url, { elicitation: {} }, field.as("eve"));
  const headers = { ...ACCEPT, ...field.as("eve"), ...session };
  const body = JSON.stringify({ jsonrpc: "2.0", ...call({ name: "loose.ask", arguments: {} }) });
  const response = await fetch(url, { method: "POST", headers, body });
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const found = /^data: ?(\{.*elicitation\/create.*\})$/m.exec(text)?.[1];
    if (found) return { headers, id: (JSON.parse(found) as RpcMessage).id };
  }
  throw new Error(`no question: ${text}`);
}

describeAttacks("a server that reads keys in any spelling", { config, tokens }, (field) => {
  const secretCall = () => ({ name: "secret", arguments: { by: mark() } });

  test("is no server that a control cannot reach", async () => {
    const plain = mark();
    const { messages } = await field.rpc(call({ name: "loose.read", arguments: { plain } }), { as: "eve" });
    expect(JSON.stringify(messages)).toContain("DONE read");
    expect(read()).toContain(plain);
    const denied = await field.rpc(call({ name: "loose.read", arguments: ETC }), { as: "eve" });
    expect(JSON.stringify(denied.messages)).toContain("NOT_ALLOWED");
  });

  test.each(RESPELLED)("gets no message with %s", async (_what, message) => {
    const before = read();
    const { status, messages } = await field.rpc(message, { as: "eve" });
    expect([status, messages[0]?.error?.code]).toEqual([400, -32600]);
    expect(JSON.stringify(messages)).not.toContain("DONE");
    expect(read().slice(before.length)).not.toMatch(/tools\/call|prompts\/get|completion/);
  });

  test.each(["Arguments", "ARGUMENTS", "argument\u017f"])("gets no message of 2026-07-28 with %s", async (key) => {
    const body = modernBody("tools/call", { name: "loose.read", [key]: ETC });
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "loose.read" };
    const { status, messages } = await field.rpc(JSON.parse(body) as object, { as: "eve", headers });
    expect([status, messages[0]?.error?.code]).toEqual([400, -32600]);
  });

  test.each<[string, (params: object) => object]>([
    ["Method and Params", (Params) => ({ Method: "tools/call", Params })],
    ["METHOD and PARAMS", (PARAMS) => ({ METHOD: "tools/call", PARAMS })],
    ["a method with a stroke, params with a long s", (params) => ({ me_thod: "tools/call", param\u017f: params })],
  ])("gets no call inside an answer: %s", async (_what, hidden) => {
    const { headers, id } = await askedFor(field, 0);
    const params = secretCall();
    const answer = { id, result: { action: "accept", content: { name: "x" } }, ...hidden(params) };
    const { status } = await field.rpc(answer, { headers, at: 0 });
    expect(status).toBe(400);
    const honest = mark();
    const plain = { id, result: { action: "accept", content: { name: honest } } };
    expect((await field.rpc(plain, { headers, at: 0 })).status).toBe(202);
    await expect.poll(read).toContain(honest);
    expect(read()).not.toContain(params.arguments.by);
  });

  test("gets an answer without what stands beside it", async () => {
    const { headers, id } = await askedFor(field, 0);
    const [rider, name] = [mark(), mark()];
    await field.rpc(
      { rider, id, result: { action: "accept", content: { name } }, more: { rider } },
      { headers, at: 0 },
    );
    await expect.poll(read).toContain(name);
    expect(read()).not.toContain(rider);
  });

  test.each<[string, (rider: string) => object]>([
    ["a member that nobody knows", (rider) => ({ rider })],
    ["_meta beside params", (rider) => ({ _meta: { rider } })],
    ["arguments beside params", (rider) => ({ arguments: { rider } })],
  ])("gets nothing that rides on a yes: %s", async (_what, beside) => {
    const [rider, wanted] = [mark(), mark()];
    const message = call({ name: "loose.wipe", arguments: { wanted } });
    const asked = await field.rpc({ ...message, ...beside(rider) }, { as: "eve" });
    const id = /"confirmation_id":"([^"]+)"/.exec(JSON.stringify(asked.messages))?.[1];
    const path = `/api/approvals/${id}/approve`;
    expect((await field.api("POST", path, {}, { as: "op" })).status).toBe(200);
    const made = await field.rpc({ ...beside(rider), ...message }, { as: "eve" });
    expect(JSON.stringify(made.messages)).toContain("DONE wipe");
    expect(read()).toContain(wanted);
    expect(read()).not.toContain(rider);
  });

  test.each([
    ["one escaped key", (path: string) => `{"path":"${path}","\\u0078":1}`],
    ["an escaped name", (path: string) => `{"p\\u0061th":"${path}"}`],
    ["a name in another case", (path: string) => `{"Path":"${path}"}`],
    ["a name twice", (path: string) => `{"path":"/srv/other","path":"${path}"}`],
  ])("is told nothing that a rule wants on the trail without it being there: %s", async (_what, args) => {
    const path = `/srv/${mark()}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"loose.read","arguments":${args(path)}}}`;
    await fetch(`${field.origin()}/mcp`, { method: "POST", headers: { ...ACCEPT, ...field.as("eve") }, body });
    const trail = async () => (await field.api("GET", "/api/audit?limit=1000", undefined, { as: "root" })).text;
    await expect.poll(trail).toContain(path);
  });
});
