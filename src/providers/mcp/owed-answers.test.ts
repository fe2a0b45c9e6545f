import { expect, test } from "vitest";
import { OwedAnswers } from "./owed-answers.ts";
import type { UpstreamFailure } from "./transport.ts";

function rig() {
  const sent: { text: string; end: (failure?: UpstreamFailure) => void }[] = [];
  const told: string[] = [];
  const answers = new OwedAnswers(
    (text) => {
      const { promise, resolve } = Promise.withResolvers<UpstreamFailure | undefined>();
      sent.push({ text, end: resolve });
      return promise;
    },
    () => told.push("too many"),
  );
  return { sent, told, answers, texts: () => sent.map(({ text }) => text) };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test("four are under way, the others follow in their order", async () => {
  const it = rig();
  for (const text of ["1", "2", "3", "4", "5", "6"]) void it.answers.send(text);
  expect(it.texts()).toEqual(["1", "2", "3", "4"]);
  it.sent[2]?.end();
  await settled();
  expect(it.texts()).toEqual(["1", "2", "3", "4", "5"]);
  it.sent[0]?.end({ kind: "lost", message: "gone" });
  await settled();
  expect(it.texts()).toEqual(["1", "2", "3", "4", "5", "6"]);
});

test("who waits hears what became of it", async () => {
  const it = rig();
  for (const text of ["1", "2", "3", "4"]) void it.answers.send(text);
  const fifth = it.answers.send("5");
  it.sent[0]?.end();
  await settled();
  it.sent[4]?.end({ kind: "lost", message: "gone" });
  expect(await fifth).toEqual({ kind: "lost", message: "gone" });
});

test("what waits has an end", async () => {
  const it = rig();
  const long = "x".repeat(1024 * 1024);
  for (let number = 0; number < 7; number++) void it.answers.send(long);
  expect(it.told).toEqual([]);
  const last = it.answers.send(long);
  expect(it.told).toEqual(["too many"]);
  it.answers.close();
  expect(await last).toBeUndefined();
  it.sent[0]?.end();
  await settled();
  expect(it.sent).toHaveLength(4);
});
