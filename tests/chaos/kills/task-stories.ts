import { expect } from "vitest";
import { post, type RpcMessage } from "../../e2e/kit/rpc.ts";
import { ask, callOf, codeOf, newMark, open, type Scenario, type Session, until } from "./story.ts";

type Task = { readonly taskId: string; readonly status: string };

const MODERN = "2026-07-28";
const PREFIX = "io.modelcontextprotocol/";
const OVER = ["completed", "failed"];

const get = (taskId: string) => ({ id: 2, method: "tasks/get", params: { taskId } });
const result = (taskId: string) => ({ id: 3, method: "tasks/result", params: { taskId } });

const statusOf = (message: RpcMessage | undefined) => String(message?.result?.status ?? JSON.stringify(message));
const taskOf = (message: RpcMessage | undefined) => (message?.result?.task as Task | undefined)?.taskId;

/** Polls until it is over; a task that was told of is known. */
async function expectEnd(url: string, taskId: string, headers: Session): Promise<string> {
  return await until(async () => {
    const { messages } = await ask(url, get(taskId), headers);
    const status = statusOf(messages.at(-1));
    expect(["working", "input_required", ...OVER]).toContain(status);
    return OVER.includes(status) ? status : undefined;
  });
}

/** The same end whoever is asked, and however often. */
async function expectHonest(url: string, taskId: string, told: { status?: string; answer?: unknown }): Promise<void> {
  const headers = await open(url);
  const status = await expectEnd(url, taskId, headers);
  expect(await expectEnd(url, taskId, headers)).toBe(status);
  if (told.status !== undefined && OVER.includes(told.status)) expect(status).toBe(told.status);
  const { messages } = await ask(url, result(taskId), headers);
  if (told.answer !== undefined) expect(messages.at(-1)?.result).toEqual(told.answer);
  if (status === "failed") expect(codeOf(messages.at(-1))).toBe("OUTCOME_UNKNOWN");
}

/** `tool` runs as a task for a client of 2025. */
function legacyTask(tool: string, point: string, timesOf: (mark: string) => number): ReturnType<Scenario> {
  const mark = newMark();
  let taskId: string | undefined;
  const told: { status?: string; answer?: unknown } = {};
  return {
    async run({ url, child }) {
      const headers = await open(url);
      const made = await post(url, callOf(tool, { mark, ms: 150 }, { task: { ttl: 60_000 } }), headers);
      const id = taskOf(made.messages.at(-1));
      expect(id, JSON.stringify(made.messages)).toBeTypeOf("string");
      taskId = id ?? "";
      await until(async () => {
        told.status = statusOf((await post(url, get(taskId ?? ""), headers)).messages.at(-1));
        return OVER.includes(told.status) ? true : undefined;
      });
      told.answer = (await post(url, result(taskId), headers)).messages.at(-1)?.result;
      child.kill("SIGTERM");
    },
    async check(url) {
      // Its end is written, though nobody was told.
      if (point === "tasks.end.after") told.status = "completed";
      if (taskId !== undefined) await expectHonest(url, taskId, told);
      expect(timesOf(mark)).toBeLessThanOrEqual(1);
    },
  };
}

/** A task that the gateway keeps. */
export const task: Scenario = ({ world, point }) =>
  legacyTask("modern.slow", point, (mark) => world.modernTimesOf(mark));

/** A task that the server itself runs. */
export const relayedTask: Scenario = ({ world, point }) =>
  legacyTask("tasks.slow", point, (mark) => world.tasks.timesOf(mark));

/** As `task`, for a client of 2026: its call takes long and becomes one. */
export const modernTask: Scenario = ({ world }) => {
  const mark = newMark();
  let taskId: string | undefined;
  let status: string | undefined;
  const send = async (url: string, method: string, params: { name?: string; taskId?: string; arguments?: object }) => {
    const _meta = {
      [`${PREFIX}protocolVersion`]: MODERN,
      [`${PREFIX}clientInfo`]: { name: "kills", version: "1" },
      [`${PREFIX}clientCapabilities`]: { extensions: { [`${PREFIX}tasks`]: {} } },
    };
    const named = params.name ?? params.taskId ?? "";
    const headers = { "mcp-protocol-version": MODERN, "mcp-method": method, "mcp-name": named };
    return (await ask(url, { id: 1, method, params: { ...params, _meta } }, headers)).messages.at(-1);
  };
  return {
    async run({ url }) {
      const made = await send(url, "tools/call", { name: "modern.slow", arguments: { mark, ms: 2500 } });
      taskId = String(made?.result?.taskId);
      expect(made?.result?.taskId, JSON.stringify(made)).toBeTypeOf("string");
      await until(async () => {
        status = statusOf(await send(url, "tasks/get", { taskId: taskId ?? "" }));
        return OVER.includes(status) ? true : undefined;
      });
    },
    async check(url) {
      expect(world.modernTimesOf(mark)).toBeLessThanOrEqual(1);
      if (taskId === undefined) return;
      const end = await until(async () => {
        const found = await send(url, "tasks/get", { taskId: taskId ?? "" });
        expect(["working", ...OVER]).toContain(statusOf(found));
        return OVER.includes(statusOf(found)) ? found : undefined;
      });
      if (status !== undefined && OVER.includes(status)) expect(statusOf(end)).toBe(status);
      if (statusOf(end) === "failed") expect(JSON.stringify(end)).toContain("OUTCOME_UNKNOWN");
      expect(statusOf(await send(url, "tasks/get", { taskId }))).toBe(statusOf(end));
    },
  };
};

/** The process that ran it is gone, and so is the first who was asked about it. */
export const lostTask: Scenario = ({ world }) => {
  const mark = newMark();
  let taskId = "";
  return {
    async before(url) {
      const call = callOf("modern.slow", { mark, ms: 60_000 }, { task: { ttl: 60_000 } });
      taskId = taskOf((await post(url, call, await open(url))).messages.at(-1)) ?? "";
      expect(taskId).not.toBe("");
      // The task is told of before its server has heard of it.
      await until(async () => (world.modernTimesOf(mark) > 0 ? true : undefined));
    },
    async run({ url }) {
      await expectEnd(url, taskId, await open(url));
    },
    async check(url) {
      await expectHonest(url, taskId, { status: "failed" });
      expect(world.modernTimesOf(mark)).toBe(1);
    },
  };
};
