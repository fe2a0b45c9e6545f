import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll } from "vitest";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { startRedis } from "../../../tests/kit/servers/redis.ts";
import type { TestServer } from "../../../tests/kit/servers/test-server.ts";
import { describeSharedState } from "../../../tests/kit/shared-state/shared-state-suite.ts";
import { openRedisSharedState } from "./redis-shared-state.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

describeSharedState("Redis", async () => {
  const open = () => openRedisSharedState({ url: server.url, log: new KeptLog() });
  const [here, there] = await Promise.all([open(), open()]);
  return {
    here,
    there,
    // Redis' own time: there is no other way than to let it pass.
    elapse: (ms) => wait(ms),
    close: async () => void (await Promise.all([here.close(), there.close()])),
  };
});
