import { describe, expect, test } from "vitest";
import { FakeOut, fakeSession, toolCall } from "../../../tests/kit/fake-host.ts";
import { bytesHeldAfter } from "../../../tests/kit/held-memory.ts";
import { openProvider, stdioConfig } from "./fixtures/setup.ts";

const MIB = 1024 * 1024;

describe("a task of a server", () => {
  test("keeps nothing of the call that made it but the progress token", async () => {
    await using setup = await openProvider(stdioConfig());
    const session = fakeSession("a", { capabilities: { elicitation: {} } });
    const make = async (size: number) => {
      const input = { task: { ttl: 60_000 }, _meta: { progressToken: "a-token-of-36-characters-0123456789" } };
      await setup.provider.run(toolCall("task", { x: "x".repeat(size) }, { session, input }), new FakeOut());
    };
    await make(1);
    const held = await bytesHeldAfter(async () => {
      for (let count = 0; count < 20; count++) await make(2 * MIB);
    });
    expect(held).toBeLessThan(10 * MIB);
  });
});
