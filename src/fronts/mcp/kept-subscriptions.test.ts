import { expect, test } from "vitest";
import { FakeView, okProvider } from "../../../tests/kit/fake-catalog.ts";
import { bytesHeldAfter } from "../../../tests/kit/held-memory.ts";
import { endWith, mcpRig } from "../../../tests/kit/mcp-rig.ts";

const MIB = 1024 * 1024;

test("a subscription keeps its URI, and nothing else of its request", async () => {
  const entries = Array.from({ length: 401 }, (_, n) => ({ kind: "resource", name: uriOf(n) }) as const);
  await using rig = await mcpRig({ view: new FakeView(1, [okProvider("files")], entries) });
  rig.runs.onStart = (run) => run.write(endWith({}));
  const headers = await rig.initialize();
  async function subscribe(number: number, size: number): Promise<void> {
    const params = { uri: uriOf(number), _meta: { "x/padding": "x".repeat(size) } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/subscribe", params });
    expect((await rig.send({ headers, body })).json()).toMatchObject({ result: {} });
    rig.runs.started.length = 0;
  }
  await subscribe(400, 1);
  const held = await bytesHeldAfter(async () => {
    for (let number = 0; number < 400; number++) await subscribe(number, 60_000);
  });
  expect(held).toBeLessThan(8 * MIB);
});

function uriOf(number: number): string {
  return `doc://a-folder/and-a-file-${number}`;
}
