import { describe, expect, test } from "vitest";
import { type Principal, payload } from "../../contract/index.ts";
import { RELATED_TASK } from "../../wire/mcp/index.ts";
import { TaskTable } from "./task-table.ts";

const principal = (id: string) => ({ id }) as Principal;
const about = (taskId: unknown, more: object = {}) =>
  payload(JSON.stringify({ name: "t", _meta: { [RELATED_TASK]: { taskId }, ...more } }));

function table() {
  const tasks = new TaskTable(
    () => {},
    () => {},
  );
  tasks.add({ id: "call-1", upstreamId: "theirs", principal: "ann", expiresAt: 10, token: undefined });
  return tasks;
}

describe("what a client says of a task", () => {
  const towards = (body: ReturnType<typeof about>, who: string) =>
    JSON.parse(table().towardsServer(body, principal(who)).text) as unknown;

  test("reaches the server by the server's own id, where the task is theirs", () => {
    expect(towards(about("call-1", { k: 1 }), "ann")).toEqual({
      name: "t",
      _meta: { [RELATED_TASK]: { taskId: "theirs" }, k: 1 },
    });
  });

  test("does not reach it, where the task is somebody else's", () => {
    expect(towards(about("call-1", { k: 1 }), "eve")).toEqual({ name: "t", _meta: { k: 1 } });
    expect(towards(about("call-1"), "eve")).toEqual({ name: "t", _meta: {} });
  });

  test.each(["theirs", "unknown", 7, null])(
    "does not reach it, where nobody here knows the task by that: %j",
    (taskId) => {
      expect(towards(about(taskId, { k: 1 }), "ann")).toEqual({ name: "t", _meta: { k: 1 } });
    },
  );
});
