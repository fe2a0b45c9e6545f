/** More running at once than a limit allows, as tasks that the server itself runs. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openSession, post } from "../e2e/kit/rpc.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";

const SERVER = fileURLToPath(new URL("./kit/task-server.mjs", import.meta.url));
const USERS = ["ada", "bob", "cleo", "dan", "eve", "fay", "gus", "hal"] as const;
const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[[limits]]
primitive = "jobs.work"
per = ["user"]
concurrency = 2
[[servers]]
id = "jobs"
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([SERVER])}
`;
/** The time after which a process counts no call any more of which it hears nothing. */
const CUT_OFF_MS = 15_000;
const tokens = Object.fromEntries(USERS.map((user) => [user, ["--user", user]]));

type Line = { readonly who: string; readonly url: string; readonly headers: Record<string, string> };

async function lineOf(field: Attacked, user: string): Promise<Line> {
  const url = `${field.origin()}/mcp`;
  const headers = field.as(user);
  return { who: user, url, headers: { ...headers, ...(await openSession(url, { tasks: {} }, headers)) } };
}

let lastId = 0;
const ask = async ({ url, headers }: Line, method: string, params: object, more: Record<string, string> = {}) =>
  (await post(url, { id: ++lastId, method, params }, { ...headers, ...more })).messages.at(-1)?.result;
const call = async (line: Line, name: string, params: object = {}, more: Record<string, string> = {}) =>
  JSON.stringify(
    await ask(line, "tools/call", { name: `jobs.${name}`, ...params, arguments: { who: line.who } }, more),
  );
const finish = (line: Line) => call(line, "finish");
/** How often the server was made to work for this user. */
const made = async (line: Line) => Number(/(\d+) times/.exec(await call(line, "made"))?.[1]);

describeAttacks("tasks that a server runs", { config, tokens }, (field) => {
  test.each<[string, (typeof USERS)[number], object, boolean, boolean]>([
    ["for a minute", "ada", { ttl: 60_000 }, false, false],
    ["for a moment", "bob", { ttl: 1 }, false, false],
    ["for a time that nobody names", "cleo", {}, false, false],
    ["with idempotency keys", "dan", { ttl: 60_000 }, true, false],
    ["each in a session of its own", "eve", { ttl: 60_000 }, false, true],
  ])("hold their places: %s", async (_name, user, task, hasKeys, isApart) => {
    const first = await lineOf(field, user);
    for (let at = 0; at < 6; at++) {
      const line = isApart ? await lineOf(field, user) : first;
      await call(line, "work", { task }, hasKeys ? { "idempotency-key": `key-${user}-${at}` } : {});
    }
    await expect.poll(() => made(first)).toBe(2);
    for (let at = 0; at < 3; at++) expect(await call(await lineOf(field, user), "work")).toContain("LIMITED");
    expect(await made(first)).toBe(2);
  });
});

const soonCutOff = `${config}timeout = "${CUT_OFF_MS / 1000}s"\n`;
describeAttacks("tasks that a server has ended", { config: soonCutOff, tokens }, (field) => {
  test.each<[string, (typeof USERS)[number], (line: Line, taskId: string) => Promise<unknown>]>([
    ["it was cancelled", "fay", (line, taskId) => ask(line, "tasks/cancel", { taskId })],
    [
      "it is told to be over",
      "gus",
      async (line, taskId) => {
        await finish(line);
        await expect.poll(() => ask(line, "tasks/get", { taskId })).toMatchObject({ status: "completed" });
      },
    ],
    [
      "its result was had",
      "hal",
      async (line, taskId) => {
        await finish(line);
        await ask(line, "tasks/result", { taskId });
      },
    ],
  ])("give their places back when %s", { timeout: 4 * CUT_OFF_MS }, async (_name, user, end) => {
    const line = await lineOf(field, user);
    // One process hears of the end; of three, that one does in which the server is, and the others wait for the time.
    const [ttl, patience] = field.processes === 1 ? [60_000, CUT_OFF_MS - 5_000] : [CUT_OFF_MS, 3 * CUT_OFF_MS];
    const task = { ttl };
    const taskId = /"taskId":"([^"]+)"/.exec(await call(line, "work", { task }))?.[1] ?? "";
    await call(line, "work", { task });
    await expect.poll(() => made(line)).toBe(2);
    expect(await ask(line, "tasks/get", { taskId })).toMatchObject({ status: "working" });
    expect(await call(line, "work")).toContain("LIMITED");
    await end(line, taskId);
    const again = async () => {
      await call(line, "work", { task });
      return await made(line);
    };
    await expect.poll(again, { timeout: patience }).toBeGreaterThan(2);
  });
});
