/** Having the gateway keep more and more for one caller. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSession, post, type RpcResponse, toolCall } from "../e2e/kit/rpc.ts";
import { openTo, PEOPLE } from "./kit/config-parts.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";
import { openTables } from "./kit/kept-trail.ts";

const config = openTo("wordy", "wordy-server.mjs", 'task = "auto"');
/** Of results of one caller, in MiB. */
const MOST = 64;
const MIB = 2;
const TASKS = 40;

async function makeTask(field: Attacked, user: string, ttl: unknown, at?: number): Promise<string> {
  const url = `${field.origin(at)}/mcp`;
  const session = { ...(await openSession(url, { tasks: {} }, field.as(user))), ...field.as(user) };
  const params = { name: "wordy.say", arguments: { mib: MIB }, task: { ttl } };
  const { messages } = await post(url, { id: 1, method: "tools/call", params }, session);
  const { taskId } = (messages.at(-1)?.result?.task ?? {}) as { taskId: string };
  await post(url, { id: 2, method: "tasks/result", params: { taskId } }, session);
  return taskId;
}

/** Of these tasks of one user, those that are kept: one process locks its file, and of three each keeps some for itself, too. */
async function kept(field: Attacked, user: string, ids: readonly string[]): Promise<readonly string[]> {
  if (field.processes === 1) {
    const url = `${field.origin()}/mcp`;
    const session = { ...(await openSession(url, { tasks: {} }, field.as(user))), ...field.as(user) };
    const found = ids.map(async (taskId, id) => {
      const { messages } = await post(url, { id, method: "tasks/get", params: { taskId } }, session);
      return messages.at(-1)?.result ? [taskId] : [];
    });
    return (await Promise.all(found)).flat();
  }
  const [url = ""] = /postgres:\/\/[^"]+/.exec(readFileSync(join(field.folder(0), "isthmus.toml"), "utf8")) ?? [];
  const tables = await openTables({ url });
  const rows = await tables.query("select id from tasks");
  await tables.close();
  return ids.filter((id) => rows.some((row) => row.id === id));
}

describeAttacks("tasks with long results", { config, tokens: PEOPLE }, (field) => {
  test.each([
    ["for ever", null],
    ["for a day", 24 * 60 * 60_000],
    ["for an hour", undefined],
  ])("that are to be kept %s are kept up to a bound for each caller", async (_name, ttl) => {
    const others = await makeTask(field, "bob", ttl);
    const made: string[] = [];
    for (let number = 0; number < TASKS; number++) made.push(await makeTask(field, "ann", ttl));
    await expect.poll(async () => (await kept(field, "ann", made)).length).toBeLessThanOrEqual(MOST / MIB);
    expect(await kept(field, "ann", made)).toContain(made.at(-1));
    expect(await kept(field, "bob", [others])).toEqual([others]);
  });
});

/** Long enough to be kept, and for 64 MiB of them to be few. */
const LONG = { mib: 0.95 };
const KEYED = 70;

describeAttacks("answers that are kept for a repeat", { config, tokens: PEOPLE }, (field) => {
  const IN_META = "dev.isthmus/idempotencyKey";
  type Ask = (user: string, key: string) => Promise<unknown>;
  const numberIn = ({ messages }: RpcResponse) => JSON.stringify(messages.at(-1)?.result?._meta);

  const byHeader: Ask = async (user, key) =>
    numberIn(await field.rpc(toolCall(1, "wordy.say", LONG), { as: user, headers: { "idempotency-key": key } }));
  const byMeta: Ask = async (user, key) =>
    numberIn(await field.rpc(toolCall(1, "wordy.say", LONG, { [IN_META]: key }), { as: user }));
  const sessions = new Map<string, Promise<Record<string, string>>>();
  const inSessions: Ask = async (user, key) => {
    const [session = "", number = ""] = key.split(":");
    const url = `${field.origin(0)}/mcp`;
    const opened = sessions.get(user + session) ?? openSession(url, {}, field.as(user));
    sessions.set(user + session, opened);
    const headers = { ...(await opened), ...field.as(user), "idempotency-key": number };
    return numberIn(await post(url, toolCall(1, "wordy.say", LONG), headers));
  };

  test.each<[string, Ask, readonly string[], (number: number) => string]>([
    ["in the header", byHeader, ["ann"], (number) => `key-${number}`],
    ["in the message", byMeta, ["cat"], (number) => `key-${number}`],
    ["with two tokens of one user", byHeader, ["dan", "dans"], (number) => `key-${number}`],
    ["in many sessions", inSessions, ["gil"], (number) => `s${number % 7}:${number}`],
  ])("are bounded for each caller, the oldest go first: keys %s", async (_name, ask, users, keyOf) => {
    const others = await byHeader("bob", "mine");
    const made: (readonly [user: string, key: string, number: unknown])[] = [];
    for (let number = 0; number < KEYED; number++) {
      const [user, key] = [users[number % users.length] ?? "", keyOf(number)];
      made.push([user, key, await ask(user, key)]);
    }
    const isKept = async ([user, key, number]: (typeof made)[number]) => (await ask(user, key)) === number;
    expect(await Promise.all(made.slice(-5).map(isKept))).toEqual([true, true, true, true, true]);
    expect(await isKept(made[0] ?? ["", "", 0])).toBe(false);
    expect(await byHeader("bob", "mine")).toBe(others);
    const told = field
      .log()
      .split("\n")
      .filter((line) => line.includes("are forgotten before") && line.includes(users[0] ?? ""));
    expect(told.length).toBeGreaterThan(0);
    expect(told.length).toBeLessThanOrEqual(field.processes);
  });
});
