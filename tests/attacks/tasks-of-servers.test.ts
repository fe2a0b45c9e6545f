/** Tasks that a server runs: having what they found out, and ending them, without anybody knowing, and without end. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { openSession, post, type RpcMessage } from "../e2e/kit/rpc.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";

const SERVER = fileURLToPath(new URL("./kit/told-task-server.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "isthmus-told-tasks-"));
const file = join(folder, "asked.log");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// A client that can be asked has a server process of its own, whose tasks are the server's own for all to see.
const CAPABILITIES = { elicitation: {}, tasks: {} };
const config = `[audit]
plain = "all"
[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[[servers]]
id = "told"
command = ${JSON.stringify(process.execPath)}
args = ["${SERVER}", "${file}"]
`;
const tokens = {
  ann: ["--user", "ann"],
  tom: ["--user", "tom"],
  eve: ["--user", "eve"],
  root: ["--user", "root", "--role", "admin"],
};
const FLOOD = 300;
/** As many as come at once, and those that come while the test runs. */
const MOST = 150;

type Told = {
  readonly id: string;
  ask(method: string): Promise<RpcMessage | undefined>;
  leave(method: string): Promise<void>;
};

async function makeTask(field: Attacked, how: string): Promise<Told> {
  const url = `${field.origin(0)}/mcp`;
  const headers = { ...(await openSession(url, CAPABILITIES, field.as("ann"))), ...field.as("ann") };
  let next = 1;
  const send = async (message: object) => (await post(url, { id: next++, ...message }, headers)).messages.at(-1);
  const made = await send({
    method: "tools/call",
    params: { name: "told.dump", arguments: { how }, task: { ttl: 600_000 } },
  });
  const { taskId: id } = (made?.result?.task ?? {}) as { taskId: string };
  return {
    id,
    ask: (method) => send({ method, params: { taskId: id } }),
    async leave(method) {
      const message = { id: "left", method, params: { taskId: id } };
      const leaving = AbortSignal.timeout(1);
      const body = JSON.stringify({ jsonrpc: "2.0", ...message });
      const more = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      await fetch(url, { method: "POST", body, headers: { ...more, ...headers }, signal: leaving }).catch(
        () => undefined,
      );
      const cancel = { method: "notifications/cancelled", params: { requestId: "left" } };
      await post(url, cancel, headers);
    },
  };
}

type Noted = {
  event_type: string;
  result: string;
  actor: { id: string };
  target: object;
  details: Record<string, string>;
};

async function notesOf(field: Attacked, { id }: Told): Promise<string[]> {
  const { text } = await field.api("GET", "/api/audit?limit=1000", undefined, { as: "root" });
  const { events } = JSON.parse(text) as { events: Noted[] };
  const own = events.filter(
    ({ event_type, details }) => event_type.startsWith("dev.isthmus.task.") && details.task_id === id,
  );
  expect(own.every(({ details }) => details.user === "ann")).toBe(true);
  expect(own.every(({ target }) => JSON.stringify(target) === '{"server_id":"told","tool_name":"dump"}')).toBe(true);
  return own
    .map(({ event_type, result, details: { status } }) =>
      [event_type.slice(17), result, status].filter(Boolean).join(" "),
    )
    .sort();
}

const asked = (method: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.startsWith(`${method} `)).length;

describeAttacks("tasks that a server runs", { config, tokens }, (field) => {
  test.each([
    ["completed", "read SUCCESS", "ended SUCCESS completed"],
    ["failed", "read SUCCESS", "ended FAILURE failed"],
    ["late", "read SUCCESS", "ended FAILURE failed"],
    ["fault", "read FAILURE"],
  ])("whose result is read are on the trail: %s", async (how, read, ...more) => {
    const task = await makeTask(field, how);
    await task.ask("tasks/result");
    await expect.poll(() => notesOf(field, task)).toEqual([read, ...more].sort());
    await task.ask("tasks/result");
    await expect.poll(() => notesOf(field, task)).toEqual([read, read, ...more].sort());
  });

  test.each([
    ["completed", ["tasks/get", "tasks/get"], ["ended SUCCESS completed"]],
    ["failed", ["tasks/list", "tasks/get"], ["ended FAILURE failed"]],
    ["late", ["tasks/get", "tasks/result"], ["ended FAILURE failed", "ended SUCCESS completed", "read SUCCESS"]],
    ["slow", ["tasks/get", "tasks/list"], []],
  ])("that are over have their end on the trail, however it is heard of: %s by %j", async (how, methods, notes) => {
    const task = await makeTask(field, how);
    for (const method of methods) await task.ask(method);
    await expect.poll(() => notesOf(field, task)).toEqual(notes);
  });

  test("that somebody ends are on the trail, with who it was", async () => {
    const task = await makeTask(field, "slow");
    expect((await task.ask("tasks/cancel"))?.result).toMatchObject({ status: "cancelled" });
    await expect.poll(() => notesOf(field, task)).toEqual(["cancelled SUCCESS", "ended FAILURE cancelled"]);
  });

  test("that somebody ends who does not wait for the answer are on the trail, too", async () => {
    const task = await makeTask(field, "slow");
    const before = asked("tasks/cancel");
    for (let at = 0; at < 20; at++) await task.leave("tasks/cancel");
    await expect.poll(() => asked("tasks/cancel")).toBeGreaterThan(before);
    await expect.poll(async () => (await notesOf(field, task)).join()).toContain("cancelled");
  });

  // Clients that cannot be asked share one process of the server, and so its tasks.
  const RELATED = "io.modelcontextprotocol/related-task";
  test.each<[string, (id: string) => object]>([
    ["alone", (id) => ({ [RELATED]: { taskId: id } })],
    ["beside other words", (id) => ({ "example.com/k": 1, [RELATED]: { taskId: id, more: true } })],
    ["with a progress token", (id) => ({ progressToken: 7, [RELATED]: { taskId: id } })],
  ])("are named to the server by those who made them only: %s", async (_how, meta) => {
    const call = {
      method: "tools/call",
      params: { name: "told.dump", arguments: { how: "slow" }, task: { ttl: 60_000 } },
    };
    const send = async (as: string, message: object) =>
      (await field.rpc({ id: 1, ...message }, { as, headers: { "mcp-protocol-version": "2025-11-25" } })).messages.at(
        -1,
      );
    let calls = asked("tools/call");
    const arrived = () => expect.poll(() => asked("tools/call")).toBe(++calls);
    const { taskId } = ((await send("tom", call))?.result?.task ?? {}) as { taskId: string };
    expect(taskId).toEqual(expect.any(String));
    await arrived();
    const told = async (as: string) => {
      expect((await send(as, { ...call, params: { ...call.params, _meta: meta(taskId) } }))?.result).toBeDefined();
      await arrived();
      const lines = readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line.startsWith("tools/call"));
      return /^tools\/call \d+-\d+$/.test(lines.at(-1) ?? "");
    };
    expect(await told("eve")).toBe(false);
    // Where the server runs in another process, the gateway keeps the task, and the server is told of none.
    if (field.processes === 1) expect(await told("tom")).toBe(true);
    await send("tom", { method: "tasks/cancel", params: { taskId } });
  });

  test.each(["tasks/result", "tasks/get", "tasks/list", "tasks/cancel"])(
    "are asked about with %s within bounds",
    async (method) => {
      const task = await makeTask(field, method === "tasks/cancel" ? "slow" : "completed");
      const at = method === "tasks/list" ? "tasks/get" : method;
      const about = (line: string) => line.startsWith(`${at} `);
      const counts = () => {
        const of = new Map<string, number>();
        for (const line of readFileSync(file, "utf8").split("\n").filter(about)) of.set(line, (of.get(line) ?? 0) + 1);
        return of;
      };
      const before = counts();
      const answers: string[] = [];
      for (let time = 0; time < FLOOD; time++) answers.push(JSON.stringify(await task.ask(method)));
      for (const [line, count] of counts())
        expect([line, count - (before.get(line) ?? 0) < MOST]).toEqual([line, true]);
      if (method !== "tasks/list") expect(answers.at(-1)).toContain('"code":"LIMITED"');
      const other = await makeTask(field, "completed");
      expect((await other.ask("tasks/result"))?.result).toMatchObject({ content: [{ text: "ALL THE RECORDS" }] });
    },
  );
});
