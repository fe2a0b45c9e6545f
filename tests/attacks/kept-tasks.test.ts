/** Reading what a task has found out, with a token or at a place that could not have made its call. */
import { afterAll, expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { openSession, post, type RpcMessage } from "../e2e/kit/rpc.ts";
import { modern } from "../kit/modern-client.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";
import { KeyIssuer } from "./kit/key-issuer.ts";
import { SlowServer } from "./kit/slow-server.ts";

// Its address stands in the config, which is made before any hook runs.
const issuer = await KeyIssuer.start();
afterAll(() => issuer[Symbol.asyncDispose]());
const slow = await SlowServer.start();
afterAll(() => slow[Symbol.asyncDispose]());

const RESOURCE = "https://gateway.example";
const config = `
[auth]
tokens = true
samePeople = ["tokens"]
resource = "${RESOURCE}"
${issuer.table()}
[audit]
plain = "all"
[access]
defaultPolicy = "opt-out"
[[access.scopes]]
match = "paid.*"
scopes = ["pay"]
[[catalogs]]
id = "ops"
include = ["free.*"]
${helloServer("free")}
${helloServer("paid", 'task = "auto"')}
[[servers]]
id = "slow"
url = "${slow.url}"
task = "auto"
`;
const tokens = { root: ["--user", "root", "--role", "admin"] };
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const JSON_BODY = { "content-type": "application/json", accept: "application/json, text/event-stream" };

type Headers = Record<string, string>;
const bearer = (claims: object): Headers => ({ authorization: `Bearer ${issuer.token(claims)}` });
const good = () => bearer({ scope: "pay" });

/** A task of `paid.greet` that is over; its id. */
async function finishedTask(field: Attacked, as = good()): Promise<string> {
  const url = `${field.origin()}/mcp`;
  const session = { ...(await openSession(url, { tasks: {} }, as)), ...as };
  const params = { name: "paid.greet", arguments: { name: "Ada" }, task: { ttl: 600_000 } };
  const { messages } = await post(url, { id: 1, method: "tools/call", params }, session);
  const { taskId } = (messages.at(-1)?.result?.task ?? {}) as { taskId: string };
  const result = await post(url, { id: 2, method: "tasks/result", params: { taskId } }, session);
  expect(JSON.stringify(result.messages)).toContain("Hello, Ada!");
  return taskId;
}

/** What each way to read it answers. */
const WAYS: readonly [string, (url: string, as: Headers, taskId: string) => Promise<RpcMessage | undefined>][] = [
  ...["tasks/get", "tasks/result", "tasks/cancel", "tasks/list"].map((method): (typeof WAYS)[number] => [
    `${method} of 2025-11-25`,
    async (url, as, taskId) => {
      const session = { ...(await openSession(url, { tasks: {} }, as)), ...as };
      return (await post(url, { id: 3, method, params: { taskId } }, session)).messages.at(-1);
    },
  ]),
  ...["tasks/get", "tasks/update", "tasks/cancel"].map((method): (typeof WAYS)[number] => [
    `${method} of 2026-07-28`,
    async (url, as, taskId) => {
      const params = { taskId, ...(method === "tasks/update" && { inputResponses: {} }) };
      const { body, headers } = modern(method, params, { capabilities: TASKS });
      const all = { ...JSON_BODY, ...(headers as Headers), ...as };
      return JSON.parse(await (await fetch(url, { method: "POST", body: body as string, headers: all })).text());
    },
  ]),
];

const list = (WAYS.find(([name]) => name.startsWith("tasks/list")) as (typeof WAYS)[number])[1];

/** As one that is not there: not even that there is one. */
async function isNotThere(url: string, as: Headers, taskId: string): Promise<void> {
  for (const [name, read] of WAYS) {
    const answer = await read(url, as, taskId);
    if (name.startsWith("tasks/list")) expect(answer?.result, name).toEqual({ tasks: [] });
    else expect(answer?.error, name).toEqual((await read(url, as, "no-such-task"))?.error);
    expect(answer?.error?.code ?? -32602, name).toBe(-32602);
    expect(JSON.stringify(answer), name).not.toContain("Ada");
  }
}

async function blocked(field: Attacked): Promise<string> {
  return (await field.api("GET", "/api/audit?limit=1000", undefined, { as: "root" })).text;
}

describeAttacks("the result of a task", { config, tokens }, (field) => {
  test("is its caller's, wherever and however it is asked for", async () => {
    const taskId = await finishedTask(field);
    const url = `${field.origin()}/mcp`;
    for (const [name, read] of WAYS.filter(([name]) => !name.includes("cancel"))) {
      expect(await read(url, good(), taskId), name).toHaveProperty("result");
    }
  });

  test("is on the trail whenever it is handed out, in both eras, with who got it", async () => {
    const taskId = await finishedTask(field);
    const told = ["tasks/result of 2025-11-25", "tasks/get of 2026-07-28"];
    for (const [, read] of WAYS.filter(([name]) => told.includes(name)))
      for (let at = 0; at < field.processes; at++) await read(`${field.origin(at)}/mcp`, good(), taskId);
    const methods = async () => {
      const path = "/api/audit?event_type=dev.isthmus.task.read&limit=1000";
      const { text } = await field.api("GET", path, undefined, { as: "root" });
      const { events } = JSON.parse(text) as {
        events: { details: { method: string; task_id: string; user: string } }[];
      };
      const own = events.filter(({ details }) => details.task_id === taskId && details.user === "ann");
      return own.map(({ details }) => details.method).sort();
    };
    const gets = Array.from({ length: field.processes }, () => "tasks/get");
    const results = Array.from({ length: field.processes + 1 }, () => "tasks/result");
    await expect.poll(methods).toEqual([...gets, ...results]);
  });

  test("is not there for a token without the scope of its tool, which is on the trail", async () => {
    const taskId = await finishedTask(field);
    for (const claims of [{}, { scope: "" }, { scope: "other" }]) {
      await isNotThere(`${field.origin()}/mcp`, bearer(claims), taskId);
    }
    await expect.poll(() => blocked(field)).toContain('"source":"scope"');
  });

  test("is not there at an endpoint whose catalog does not show its tool", async () => {
    const taskId = await finishedTask(field);
    for (const as of [good(), bearer({ scope: "pay", aud: `${RESOURCE}/ops/mcp` })]) {
      await isNotThere(`${field.origin()}/ops/mcp`, as, taskId);
    }
    await isNotThere(`${field.origin()}/free/mcp`, good(), taskId);
  });

  test("is not there when its tool is denied meanwhile, by a switch, a binding or a grant", async () => {
    const taskId = await finishedTask(field);
    const target = { type: "user", idOrPattern: "ann" };
    const switched = (enabled: boolean) => ({ server: "paid", protocol: "mcp", enabled });
    const bound = (allowed: boolean) => ({ target, primitive: { name: "paid.*" }, allowed });
    const granted = (may: boolean) => ({ agent_id: "ann", server_id: "paid", permission: may ? "allow" : "deny" });
    const spellings: readonly [string, string, (isOpen: boolean) => object][] = [
      ["PUT", "/api/policy/orgs/default/exposure", switched],
      ["PUT", "/api/policy/orgs/default/bindings", bound],
      ["POST", "/api/access/grant", (isOpen) => ({ entry_type: "server_grant", ...granted(isOpen) })],
    ];
    const isListed = async (at: number) =>
      JSON.stringify(await list(`${field.origin(at)}/mcp`, good(), "")).includes(taskId);
    for (const [method, path, body] of spellings) {
      for (const isOpen of [false, true]) {
        const { status, text } = await field.api(method, path, body(isOpen), { as: "root" });
        expect([path, status < 300 || text]).toEqual([path, true]);
        for (let at = 0; at < field.processes; at++) {
          await expect.poll(() => isListed(at), { message: path }).toBe(isOpen);
          if (!isOpen) await isNotThere(`${field.origin(at)}/mcp`, good(), taskId);
        }
      }
    }
  });

  const target = { type: "user", idOrPattern: "ann" };
  const exposure = "/api/policy/orgs/default/exposure";
  const denials: readonly [string, string, string, (tool: string, isOpen: boolean) => object][] = [
    ["a switch", "PUT", exposure, (_tool, enabled) => ({ server: "slow", protocol: "mcp", enabled })],
    [
      "a switch of its own",
      "PUT",
      exposure,
      (primitive, enabled) => ({ server: "slow", primitive, protocol: "mcp", enabled }),
    ],
    [
      "a binding",
      "PUT",
      "/api/policy/orgs/default/bindings",
      (tool, allowed) => ({ target, primitive: { name: `slow.${tool}` }, allowed }),
    ],
    [
      "a grant",
      "POST",
      "/api/access/grant",
      (tool, may) => ({
        entry_type: "tool_grant",
        agent_id: "ann",
        server_id: "slow",
        tool_name: tool,
        permission: may ? "allow" : "deny",
      }),
    ],
  ];
  // A job is a task of the server's own: all that is asked of a server ends when that is switched off.
  const waitedFor = [
    ...denials.map((denial) => ["work", ...denial] as const),
    ...denials.slice(1).map((denial) => ["job", ...denial] as const),
  ];
  test.each(waitedFor)(
    "of %s that is waited for is not told when its tool is denied meanwhile, by %s",
    async (...given) => {
      const [tool, _by, method, path, body] = given;
      const url = `${field.origin(0)}/mcp`;
      const session = { ...(await openSession(url, { tasks: {} }, good())), ...good() };
      const params = { name: `slow.${tool}`, arguments: {}, task: { ttl: 600_000 } };
      const { messages } = await post(url, { id: 1, method: "tools/call", params }, session);
      const { taskId } = (messages.at(-1)?.result?.task ?? {}) as { taskId: string };
      const isListed = async () => JSON.stringify(await list(url, good(), "")).includes(taskId);
      expect(await isListed()).toBe(true);
      const waiting = post(url, { id: 2, method: "tasks/result", params: { taskId } }, session);
      // It is the next message of its session that is answered: so the one before it waits.
      await post(url, { id: 3, method: "tasks/get", params: { taskId } }, session);
      await expect.poll(() => slow.running).toBe(1);
      expect((await field.api(method, path, body(tool, false), { as: "root" })).status).toBeLessThan(300);
      await expect.poll(isListed).toBe(false);
      slow.endAll();
      const answer = (await waiting).messages.at(-1);
      expect(answer).not.toHaveProperty("result");
      const missing = { id: 4, method: "tasks/result", params: { taskId: "no-such-task" } };
      expect(answer?.error).toEqual((await post(url, missing, session)).messages.at(-1)?.error);
      expect((await field.api(method, path, body(tool, true), { as: "root" })).status).toBeLessThan(300);
      await expect.poll(isListed).toBe(true);
    },
  );

  test("is told on no stream to a token without the scope of its tool", async () => {
    const taskId = await finishedTask(field);
    const params = { notifications: { taskIds: [taskId], toolsListChanged: true } };
    for (let at = 0; at < field.processes; at++) {
      const { body, headers } = modern("subscriptions/listen", params, { capabilities: TASKS });
      const all = { ...JSON_BODY, ...(headers as Headers), ...bearer({}) };
      const leaving = new AbortController();
      const init = { method: "POST", body: body as string, headers: all, signal: leaving.signal };
      const answer = await fetch(`${field.origin(at)}/mcp`, init);
      const first = await answer.body?.getReader().read();
      leaving.abort();
      const text = new TextDecoder().decode(first?.value);
      expect(text).toContain("acknowledged");
      expect(text).not.toContain(taskId);
    }
  });
});
