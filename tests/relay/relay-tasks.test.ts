/** A task bears one id on each side of the gateway; everything else about it passes as it is. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LANES, type Lane, NAMES, openLane } from "./kit/lane.ts";
import { message, objectWith, request } from "./kit/mcp-text.ts";
import { fill, hole } from "./kit/template.ts";

const RELATED = "io.modelcontextprotocol/related-task";

const answerWith = (result: fc.Arbitrary<string>) =>
  result.chain((text) =>
    message([
      ["id", hole("id")],
      ["result", text],
    ]),
  );

const taskText = objectWith([
  ["taskId", hole("task")],
  ["status", '"working"'],
  ["ttl", "60000.0"],
]);

const related = objectWith([["taskId", hole("task")]]).chain((text) => objectWith([[RELATED, text]]));

const exchanges = fc.record({
  call: objectWith([["ttl", "6e4"]]).chain((task) =>
    request("tools/call", [
      ["name", hole("name")],
      ["task", task],
    ]),
  ),
  created: answerWith(taskText.chain((task) => objectWith([["task", task]]))),
  get: request("tasks/get", [["taskId", hole("task")]]),
  state: answerWith(taskText),
  result: request("tasks/result", [["taskId", hole("task")]]),
  outcome: answerWith(related.chain((meta) => objectWith([["_meta", meta]]))),
});

describe.each(LANES)("tasks, %s", (kind) => {
  let lane: Lane;
  let tasks = 0;

  beforeAll(async () => {
    lane = await openLane(kind, "");
  });

  afterAll(() => lane?.close());

  type Exchange = { template: string; answer: string; theirs: string; ours: string | undefined };

  /** Sends a request about a task and answers it; gives what the client got. */
  async function play({ template, answer, theirs, ours }: Exchange): Promise<string> {
    const name = JSON.stringify(NAMES.tool);
    const { inbox } = lane.client.request(fill(template, { id: '"c"', token: '"t"', name, task: ours ?? "" }));
    const received = await lane.upstream.received.next();
    const id = JSON.stringify(received.message.id);
    const meta = (received.message.params as { _meta?: { progressToken?: unknown } })._meta;
    const token = JSON.stringify(meta?.progressToken ?? null);
    expect(received.text).toBe(lane.up(fill(template, { id, token, name, task: theirs })));
    received.answer(fill(answer, { id, task: theirs }));
    return await inbox.next();
  }

  test("keeps every byte of what is said about one but its id", async () => {
    const property = fc.asyncProperty(exchanges, async ({ call, created, get, state, result, outcome }) => {
      const theirs = JSON.stringify(`secret ${++tasks}`);
      const text = await play({ template: call.template, answer: created, theirs, ours: undefined });
      const parsed = JSON.parse(Buffer.from(text, "latin1").toString("utf8"));
      const ours = JSON.stringify(parsed.result.task.taskId);
      expect(text).toBe(lane.down(fill(created, { id: '"c"', task: ours })));
      const shown = (answer: string) => lane.down(fill(answer, { id: '"c"', task: ours }));
      expect(await play({ template: get.template, answer: state, theirs, ours })).toBe(shown(state));
      expect(await play({ template: result.template, answer: outcome, theirs, ours })).toBe(shown(outcome));
    });
    await fc.assert(property, { numRuns: 60, endOnFailure: true });
  });
});
