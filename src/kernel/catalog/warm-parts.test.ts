import { describe, expect, test } from "vitest";
import { ScriptedProvider, toolNamed } from "../../../tests/kit/scripted-provider.ts";
import { flush, testKernel } from "../../../tests/kit/test-kernel.ts";
import { LOCAL, type Slices, type Steps } from "../../contract/index.ts";

const TOOLS = 500;

/** Does nothing until the test says so, one step at a time. */
class HeldSlices implements Slices {
  isHeld = false;
  readonly #waiting: (() => boolean)[] = [];

  run<Result>(steps: Steps<Result>): Result | Promise<Result> {
    const { promise, resolve } = Promise.withResolvers<Result>();
    const step = (): boolean => {
      const { done, value } = steps.next();
      if (done) resolve(value);
      return done === true;
    };
    if (this.isHeld) this.#waiting.push(step);
    else while (!step());
    return promise;
  }

  /** Answers how many steps the oldest work had. */
  async finishOne(): Promise<number> {
    const step = this.#waiting.shift();
    let steps = 0;
    while (step && !step()) steps++;
    await flush();
    return steps;
  }
}

function offerOf(name: string) {
  const names = Array.from({ length: TOOLS - 1 }, (_, index) => `tool_${index}`);
  return [{ kind: "tool" as const, primitives: [name, ...names].map((one) => toolNamed(one)), extras: "" }];
}

async function rig() {
  const slices = new HeldSlices();
  const provider = new ScriptedProvider("p", []);
  const { kernel } = await testKernel([provider], { slices });
  await provider.host?.offer("shared", offerOf("first"));
  const names = () => {
    const view = kernel.catalog.view("", LOCAL);
    const list = view.list("tool");
    return (JSON.parse(`[${list.slice(0, list.count)}]`) as { name: string }[]).map(({ name }) => name);
  };
  return { slices, provider, kernel, names };
}

describe("an offer that is worked on in slices", () => {
  test("is seen when all of it is ready, and not before: the former one is seen until then", async () => {
    const { slices, provider, names } = await rig();
    slices.isHeld = true;
    void provider.host?.offer("shared", offerOf("second"));
    await flush();
    expect(names()[0]).toBe("p.first");
    expect(await slices.finishOne()).toBeGreaterThan(TOOLS);
    expect(names()[0]).toBe("p.second");
  });

  test("comes into force before one that was made later", async () => {
    const { slices, provider, names } = await rig();
    slices.isHeld = true;
    void provider.host?.offer("shared", offerOf("second"));
    void provider.host?.offer("shared", []);
    await flush();
    await slices.finishOne();
    expect(names()).toHaveLength(TOOLS);
    await slices.finishOne();
    expect(names()).toEqual([]);
  });

  test("has its names and texts made ready with it, where those of the former one were looked at", async () => {
    const looked = await rig();
    const unseen = await rig();
    looked.names();
    const steps = async ({ slices, provider }: typeof looked) => {
      slices.isHeld = true;
      void provider.host?.offer("shared", offerOf("second"));
      await flush();
      return await slices.finishOne();
    };
    expect(await steps(looked)).toBeGreaterThan((await steps(unseen)) + 2 * TOOLS);
    expect(looked.names()).toEqual(unseen.names());
  });
});
