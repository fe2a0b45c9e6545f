import { beforeEach, describe, expect, test } from "vitest";
import { ScriptedProvider } from "../../../tests/kit/scripted-provider.ts";
import { flush, type TestKernel, testKernel } from "../../../tests/kit/test-kernel.ts";
import { type CallEvent, payload, type Reader, type Run } from "../../contract/index.ts";
import type { LiveRun } from "./run.ts";

const LOG: CallEvent = { type: "log", payload: payload("{}") };
const END: CallEvent = { type: "end", outcome: "result", payload: payload("{}") };
const patient: Reader = { keeps: true, take: () => true };
const full: Reader = { keeps: true, take: () => false };

let provider: ScriptedProvider;
let kit: TestKernel;
/** How often whoever holds the run for its reader was told. */
let told: number;
beforeEach(async () => {
  provider = new ScriptedProvider("p", ["tool"]);
  kit = await testKernel([provider]);
  told = 0;
});

async function start(reader: Reader): Promise<Run> {
  const run = kit.kernel.runs.start(kit.order("p.tool"), reader);
  run.onFinished = () => {
    told++;
  };
  await flush();
  return run;
}

const write = (run: Run, event: CallEvent) => void provider.calls.get(run.id)?.write(event);

describe("whoever holds a run for its reader", () => {
  test("is told once that it has ended, however often somebody comes back for it", async () => {
    const run = await start(patient);
    write(run, LOG);
    expect(told).toBe(0);
    write(run, END);
    expect(told).toBe(1);
    run.attach(patient, -1).detach();
    expect(told).toBe(1);
  });

  test("is told when it ends that nobody reads", async () => {
    const run = await start(full);
    run.attach(patient, -1).detach();
    expect(told).toBe(0);
    write(run, END);
    expect(told).toBe(1);
  });

  test.each<[string, (attachment: ReturnType<Run["attach"]>) => void]>([
    ["has taken all of it", (attachment) => attachment.resume()],
    ["has gone", (attachment) => attachment.detach()],
  ])("is not told of the end before its reader %s", async (_what, go) => {
    const run = await start(patient);
    const attachment = run.attach(full, -1);
    write(run, LOG);
    write(run, END);
    expect([run.isEnded, told]).toEqual([true, 0]);
    go(attachment);
    expect(told).toBe(1);
  });
});

test("a run is read while a reader has it that is not gone", async () => {
  const run = (await start(patient)) as LiveRun;
  expect(run.isRead).toBe(true);
  const attachment = run.attach({ ...patient, isGone: true }, -1);
  expect(run.isRead).toBe(false);
  attachment.detach();
  expect(run.isRead).toBe(false);
  run.attach(patient, -1);
  expect(run.isRead).toBe(true);
});
