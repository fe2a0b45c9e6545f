import { describe, expect, test } from "vitest";
import { FakeOut, fakeCall, fakeSession, toolCall } from "../../../../tests/kit/fake-host.ts";
import { openProvider, stdioConfig } from "../fixtures/setup.ts";

describe("mcpProvider", () => {
  test("speaks about a task that another process was told of, by the server's own name for it", async () => {
    await using setup = await openProvider(stdioConfig());
    const session = fakeSession("a", { capabilities: { elicitation: {} } });
    const made = new FakeOut();
    await setup.provider.run(toolCall("task", {}, { session, input: { task: { ttl: 60_000 } } }), made);
    expect(made.ends).toMatchObject([{ outcome: "task", handle: "up-1" }]);
    const target = { provider: "p", kind: "tool", name: "task" } as const;
    const expiresAt = performance.now() + 60_000;
    const task = { id: "of-another", principal: { id: "local" }, target, handle: "up-1", expiresAt };
    const about = { session, resumes: task.id, task, verb: "raw", input: { taskId: task.id } } as const;
    const got = new FakeOut();
    await setup.provider.run(fakeCall({ ...about, method: "tasks/get" }), got);
    expect(got.result).toEqual({ taskId: "of-another", status: "working" });
  });
});
