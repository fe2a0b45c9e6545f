import { expect } from "vitest";
import { post } from "../../e2e/kit/rpc.ts";
import { ask, callOf, expectAlive, newMark, open, type Scenario, type Session, until, untilDead } from "./story.ts";
import { timesIn } from "./world.ts";

/** It dies while it starts, or by itself while nobody asks for anything: others start and serve. */
export const start: Scenario = () => ({
  run: async () => undefined,
  check: (url) => expectAlive(url, undefined),
});

/** It is told to stop and dies before it has: its session is served by others. */
export const stop: Scenario = () => {
  let told: Session | undefined;
  return {
    async run({ url, child }) {
      const headers = await open(url, (one) => {
        told = one;
      });
      await post(url, callOf("up.add", { mark: newMark() }), headers);
      child.kill("SIGTERM");
    },
    check: (url) => expectAlive(url, told),
  };
};

/** It is told to stop while a call runs, and asked in another session: that request goes to another process. */
export const drain: Scenario = ({ world }) => {
  const mark = newMark();
  const told: Session[] = [];
  return {
    async run(doomed) {
      const { url, child } = doomed;
      const busy = await open(url);
      const idle = await open(url);
      told.push(busy, idle);
      const slow = post(url, callOf("up.slow", { mark, ms: 900 }), busy).catch(() => undefined);
      await until(async () => (world.up.timesOf(mark) > 0 ? true : undefined));
      child.kill("SIGTERM");
      await untilDead(doomed, () => post(url, LIST, idle));
      await slow;
    },
    async check(url) {
      for (const session of told) await expectAlive(url, session);
      expect(world.up.timesOf(mark)).toBeLessThanOrEqual(1);
    },
  };
};

const LIST = { id: 6, method: "tools/list" };

/** The one child that all processes share runs in one of them at a time; a call of it is made once. */
export const home: Scenario = ({ stores }) => {
  const call = async (url: string, mark: string) => await ask(url, callOf("child.add", { mark }), await open(url));
  return {
    async run({ url, child }) {
      const mark = newMark();
      await call(url, mark);
      expect(timesIn(stores.record, mark)).toBe(1);
      child.kill("SIGTERM");
    },
    async check(url) {
      const mark = newMark();
      // Until the lease of the dead one is over the child is nowhere, and its tools are not listed.
      await until(async () => {
        const { messages } = await call(url, mark);
        return JSON.stringify(messages).includes(mark) ? true : undefined;
      });
      expect(timesIn(stores.record, mark)).toBe(1);
    },
  };
};
