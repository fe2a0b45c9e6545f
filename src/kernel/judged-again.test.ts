import { describe, expect, test } from "vitest";
import { ScriptedProvider, toolNamed } from "../../tests/kit/scripted-provider.ts";
import { flush, testKernel } from "../../tests/kit/test-kernel.ts";
import { type Call, GatewayError, type Host, type Reader, type Run, type Stage } from "../contract/index.ts";

function reader() {
  const codes: string[] = [];
  const one: Reader = {
    keeps: false,
    take(event) {
      codes.push(event.type === "error" ? event.error.code : event.type);
      return true;
    },
  };
  return { codes, one };
}

/** A call of it that was lost may be sent once more. */
class Repeatable extends ScriptedProvider {
  override async open(host: Host): Promise<void> {
    await super.open(host);
    void host.offer("shared", [{ kind: "tool", primitives: [toolNamed("tool", { repeatable: true })], extras: "" }]);
  }
}

async function rig(options: { stages?: (() => Stage)[]; concurrency?: number } = {}) {
  const provider = new Repeatable("p", ["tool"]);
  const judged = { now: undefined as GatewayError | undefined, calls: 0 };
  const refusal = (_call: Call) => {
    judged.calls++;
    return judged.now;
  };
  const kit = await testKernel([provider], { concurrency: 1, refusal, ...options });
  const start = () => {
    const { codes, one } = reader();
    return { run: kit.kernel.runs.start(kit.order("p.tool"), one), codes };
  };
  const isSent = (run: Run) => provider.calls.has(run.id);
  return { ...kit, provider, judged, start, isSent };
}

describe("a call that had to wait", () => {
  test("in line is not sent when its caller may not make it any more", async () => {
    const { provider, judged, start, isSent } = await rig();
    const first = start();
    const [denied, next] = [start(), start()];
    await flush();
    judged.now = new GatewayError("NO_SUCH_TARGET");
    provider.calls.get(first.run.id)?.settle();
    await flush();
    expect([isSent(denied.run), isSent(next.run)]).toEqual([false, false]);
    expect([denied.codes, next.codes]).toEqual([["NO_SUCH_TARGET"], ["NO_SUCH_TARGET"]]);
    judged.now = undefined;
    const later = start();
    await flush();
    expect(isSent(later.run)).toBe(true);
  });

  test("in line is not sent when a stage says so, and gives its slot to the next", async () => {
    const waits: Stage = (call, out, next) => {
      if (call.run) call.run.beforeSending = () => Promise.resolve(answers.shift());
      return next(call, out);
    };
    const answers = [new GatewayError("NOT_ALLOWED"), undefined];
    const { provider, start, isSent } = await rig({ stages: [() => waits] });
    const first = start();
    const [denied, next] = [start(), start()];
    await flush();
    provider.calls.get(first.run.id)?.settle();
    await flush();
    expect([denied.codes, isSent(denied.run), isSent(next.run)]).toEqual([["NOT_ALLOWED"], false, true]);
  });

  test("in a stage is judged again, and one that came through at once is not", async () => {
    let wake = () => {};
    let isSlow = false;
    const slow: Stage = async (call, out, next) => {
      if (isSlow)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      await next(call, out);
    };
    const { judged, time, start, isSent } = await rig({ stages: [() => slow], concurrency: 9 });
    const quick = start();
    await flush();
    expect([isSent(quick.run), judged.calls]).toEqual([true, 0]);
    isSlow = true;
    const kept = start();
    await flush();
    time.advance(500);
    judged.now = new GatewayError("NOT_ALLOWED");
    wake();
    await flush();
    expect([kept.codes, isSent(kept.run)]).toEqual([["NOT_ALLOWED"], false]);
  });

  test("in a stage is not sent when that or another one says so", async () => {
    let answer: GatewayError | undefined = new GatewayError("CONFIRMATION_REQUIRED");
    const waits: Stage = async (call, out, next) => {
      time.advance(500);
      if (call.run) call.run.beforeSending = () => Promise.resolve(answer);
      await next(call, out);
    };
    const { time, start, isSent } = await rig({ stages: [() => waits], concurrency: 9 });
    const refused = start();
    await flush();
    expect([refused.codes, isSent(refused.run)]).toEqual([["CONFIRMATION_REQUIRED"], false]);
    answer = undefined;
    const good = start();
    await flush();
    expect([good.codes, isSent(good.run)]).toEqual([[], true]);
  });

  test("in a stage is not sent when its caller goes while another one is asked", async () => {
    const asked = Promise.withResolvers<undefined>();
    const waits: Stage = async (call, out, next) => {
      time.advance(500);
      if (call.run) call.run.beforeSending = () => asked.promise;
      await next(call, out);
    };
    const { time, start, isSent } = await rig({ stages: [() => waits] });
    const { run, codes } = start();
    await flush();
    run.cancel();
    asked.resolve(undefined);
    await flush();
    expect([codes, isSent(run)]).toEqual([["CANCELLED"], false]);
  });

  test("for a provider that was lost is not sent again when a stage says so, and lets go of its slot", async () => {
    const answers = [new GatewayError("CONFIRMATION_REQUIRED"), undefined];
    const asks: Stage = (call, out, next) => {
      if (call.run) call.run.beforeSending = () => Promise.resolve(answers.shift());
      return next(call, out);
    };
    const { provider, start } = await rig({ stages: [() => asks] });
    const lose = async () => {
      const { run, codes } = start();
      await flush();
      provider.calls.get(run.id)?.crash(new GatewayError("OUTCOME_UNKNOWN"));
      await flush();
      return [codes, run.call.timing?.repeats];
    };
    expect(await lose()).toEqual([["CONFIRMATION_REQUIRED"], 0]);
    expect(await lose()).toEqual([[], 1]);
  });

  test("for a provider that was lost is not sent again when its caller goes while a stage is asked", async () => {
    const asked = Promise.withResolvers<undefined>();
    const asks: Stage = (call, out, next) => {
      if (call.run) call.run.beforeSending = () => asked.promise;
      return next(call, out);
    };
    const { provider, start, isSent } = await rig({ stages: [() => asks] });
    const { run, codes } = start();
    await flush();
    provider.calls.get(run.id)?.crash(new GatewayError("OUTCOME_UNKNOWN"));
    await flush();
    run.cancel();
    asked.resolve(undefined);
    await flush();
    expect([codes, run.call.timing?.repeats]).toEqual([["CANCELLED"], 0]);
    const next = start();
    await flush();
    expect(isSent(next.run)).toBe(true);
  });

  test("for a provider that was lost is not sent again", async () => {
    const { provider, judged, start } = await rig();
    const lost = start();
    await flush();
    judged.now = new GatewayError("NOT_ALLOWED");
    provider.calls.get(lost.run.id)?.crash(new GatewayError("OUTCOME_UNKNOWN"));
    await flush();
    expect([lost.codes, lost.run.call.timing?.repeats]).toEqual([["NOT_ALLOWED"], 0]);
    judged.now = undefined;
    const repeated = start();
    await flush();
    provider.calls.get(repeated.run.id)?.crash(new GatewayError("OUTCOME_UNKNOWN"));
    await flush();
    expect([repeated.codes, repeated.run.call.timing?.repeats]).toEqual([[], 1]);
  });

  test("is refused where it cannot be said whether it may be made", async () => {
    const { provider, judged, start, isSent } = await rig();
    const first = start();
    const second = start();
    await flush();
    Object.defineProperty(judged, "now", {
      get() {
        throw new GatewayError("STATE_UNAVAILABLE");
      },
    });
    provider.calls.get(first.run.id)?.settle();
    await flush();
    expect([second.codes, isSent(second.run)]).toEqual([["STATE_UNAVAILABLE"], false]);
  });
});
