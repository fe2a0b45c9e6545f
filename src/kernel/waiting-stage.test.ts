import { describe, expect, test } from "vitest";
import { ScriptedProvider } from "../../tests/kit/scripted-provider.ts";
import { flush, testKernel } from "../../tests/kit/test-kernel.ts";
import type { CallEvent, GatewayError, Stage } from "../contract/index.ts";

function reader() {
  const events: CallEvent[] = [];
  return { events, keeps: true, take: (event: CallEvent) => events.push(event) > 0 };
}

const codeOf = (event: CallEvent | undefined) => (event?.type === "error" ? event.error.code : event?.type);

describe("a run that ends while a stage waits", () => {
  test("tells the stages of a call that was cancelled while one of them waited, and sends nothing", async () => {
    const gate = Promise.withResolvers<void>();
    const seen: string[] = [];
    const watch: Stage = async (call, out, next) => {
      await next(call, out).catch((error: GatewayError) => {
        seen.push(`${error.code} ${error.details.reason}`);
        throw error;
      });
    };
    const slow: Stage = async (call, out, next) => {
      await gate.promise;
      await next(call, out);
    };
    const provider = new ScriptedProvider("p", ["tool"]);
    const { kernel, order } = await testKernel([provider], { stages: [() => watch, () => slow] });
    const heard = reader();
    const run = kernel.runs.start(order("p.tool"), heard);
    run.cancel("revoked");
    expect(heard.events.map(codeOf)).toEqual(["CANCELLED"]);
    gate.resolve();
    await flush();
    expect([seen, provider.calls.size]).toEqual([["CANCELLED revoked"], 0]);
  });

  test("tells the witness of a run that ends without its stages before the reader, and only then", async () => {
    const order: string[] = [];
    const witness: Stage = async (call, out, next) => {
      if (call.run) call.run.witness = { ending: ({ code }) => void order.push(`witness ${code}`) };
      await next(call, out);
    };
    const stuck: Stage = () => new Promise(() => undefined);
    const provider = new ScriptedProvider("p", ["tool"]);
    const { kernel, order: orderOf } = await testKernel([provider], { stages: [() => witness, () => stuck] });
    const heard = { ...reader(), take: (event: CallEvent) => order.push(`reader ${event.type}`) > 0 };
    kernel.runs.start(orderOf("p.tool"), heard).cancel("enough");
    expect(order).toEqual(["witness CANCELLED", "reader error"]);
  });
});
