import { describe, expect, test } from "vitest";
import { call, endWith, mcpRig, until } from "../../../../tests/kit/mcp-rig.ts";
import type { Slices, Steps } from "../../../contract/index.ts";

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

  test("are made in slices: others are served between the messages, which keep their order", async () => {
    const sliced: (() => void)[] = [];
    const slices: Slices = {
      run<Result>(steps: Steps<Result>) {
        return new Promise<Result>((resolve) => {
          const turn = () => {
            const { done, value } = steps.next();
            if (done) resolve(value);
            else sliced.push(turn);
          };
          sliced.push(turn);
        });
      },
    };
    await using rig = await mcpRig({ slices });
    const session = await rig.initialize("2025-03-26");
    rig.runs.onStart = (run) => run.write(endWith({ text: "x" }));
    const answer = rig.send({ body, headers: { ...session, ...JSON_ONLY } });
    await until(() => sliced.length === 1);
    for (const [at] of ids.entries()) {
      expect(rig.runs.started).toHaveLength(at);
      sliced.shift()?.();
    }
    sliced.shift()?.();
    expect((await answer).json<Answers>().map(({ id }) => id)).toEqual(ids);
  });
});
