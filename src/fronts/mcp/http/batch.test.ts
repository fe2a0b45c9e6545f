import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../../tests/kit/manual-time.ts";
import { call, endWith, mcpRig, until } from "../../../../tests/kit/mcp-rig.ts";

const ids = Array.from({ length: 4 }, (_none, at) => at + 1);
const body = `[${ids.map((id) => call(id)).join()}]`;
const HALF = "x".repeat(600 * 1024);
const JSON_ONLY = { accept: "application/json" };

type Answers = { id: number; result: { text: string } }[];

describe("the answers of a batch", () => {
  test("that are short are one array, of which nothing goes out before all are there", async () => {
    await using rig = await mcpRig();
    const session = await rig.initialize("2025-03-26");
    rig.runs.onStart = (run) => run.write(endWith({ text: "x" }));
    const answer = await rig.send({ body, headers: { ...session, ...JSON_ONLY } });
    expect(answer.headers["content-length"]).toBe(String(answer.text.length));
    expect(answer.json<Answers>().map(({ id }) => id)).toEqual(ids);
  });

  test("that are long go out as they come, as one array where the client takes nothing else", async () => {
    await using rig = await mcpRig();
    const session = await rig.initialize("2025-03-26");
    const opening = rig.open({ body, headers: { ...session, ...JSON_ONLY } });
    await until(() => rig.runs.started.length === ids.length);
    for (const run of rig.runs.started.slice(0, 3)) run.write(endWith({ text: HALF }));
    const stream = await opening;
    // The last one still runs.
    await stream.until(() => stream.text.length > 3 * HALF.length);
    rig.runs.last.write(endWith({ text: "the last" }));
    await stream.ended();
    const answers = JSON.parse(stream.text) as Answers;
    expect(answers.map(({ id, result }) => [id, result.text.length])).toEqual(
      ids.map((id) => [id, id === ids.length ? "the last".length : HALF.length]),
    );
  });

  test("that are long go out as a stream where the client takes one", async () => {
    await using rig = await mcpRig();
    const session = await rig.initialize("2025-03-26");
    const opening = rig.open({ body, headers: session });
    await until(() => rig.runs.started.length === ids.length);
    for (const run of rig.runs.started.slice(0, 2)) run.write(endWith({ text: HALF }));
    const stream = await opening;
    expect(await stream.message(1)).toMatchObject({ id: 2 });
    for (const run of rig.runs.started.slice(2)) run.write(endWith({ text: "x" }));
    await stream.ended();
    expect(await stream.message(3)).toMatchObject({ id: 4 });
  });

  test("are not kept for a client that is gone", async () => {
    await using rig = await mcpRig();
    const session = await rig.initialize("2025-03-26");
    const opening = rig.open({ body, headers: { ...session, ...JSON_ONLY } });
    await until(() => rig.runs.started.length === ids.length);
    for (const run of rig.runs.started.slice(0, 2)) run.write(endWith({ text: HALF }));
    (await opening).close();
    await until(() => !rig.runs.last.isRead);
  });

  /** Each call takes longer than a turn, so that the next one waits. */
  async function slowRig(text = "x") {
    const time = new ManualTime();
    const rig = await mcpRig({ time });
    rig.runs.onStart = (run) => {
      time.advance(10);
      run.write(endWith({ text }));
    };
    return rig;
  }

  test("are made in turns: others are served between the messages, which keep their order", async () => {
    await using rig = await slowRig();
    const session = await rig.initialize("2025-03-26");
    const answer = rig.send({ body, headers: { ...session, ...JSON_ONLY } });
    await until(() => rig.runs.started.length === 1);
    await until(() => rig.runs.started.length === ids.length);
    expect((await answer).json<Answers>().map(({ id }) => id)).toEqual(ids);
  });

  test("come to nothing where the session ends meanwhile, and no further call is begun", async () => {
    await using rig = await slowRig();
    const session = await rig.initialize("2025-03-26");
    const answer = rig.send({ body, headers: { ...session, ...JSON_ONLY } });
    await until(() => rig.runs.started.length === 1);
    await rig.send({ method: "DELETE", headers: session });
    await answer;
    expect(rig.runs.started.length).toBeLessThan(ids.length);
  });

  test("are not made any more for a client that is gone", async () => {
    // Long enough to go out before all are there.
    await using rig = await slowRig(HALF);
    const session = await rig.initialize("2025-03-26");
    const many = Array.from({ length: 40 }, (_none, at) => call(at + 1));
    const opening = rig.open({ body: `[${many.join()}]`, headers: { ...session, accept: "text/event-stream" } });
    await until(() => rig.runs.started.length === 1);
    (await opening).close();
    for (let turn = 0; turn < 2 * many.length; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(rig.runs.started.length).toBeLessThan(many.length);
  });
});
