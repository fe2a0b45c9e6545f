import { setTimeout as wait } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll } from "vitest";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { startRedis } from "../../../tests/kit/servers/redis.ts";
import type { TestServer } from "../../../tests/kit/servers/test-server.ts";
import { describeSharedState } from "../../../tests/kit/shared-state/shared-state-suite.ts";
import { openRedisSharedState } from "./redis-shared-state.ts";

/** To set a clock forward is, to those who count from it, to have counted earlier. */
const JUMP = `for _, key in ipairs(redis.call('KEYS', 'isthmus:bucket:*')) do
  local taken, since = string.match(redis.call('GET', key), '^(%d+):(%d+)$')
  redis.call('SET', key, string.format('%.0f:%.0f', taken, since - ARGV[1]), 'KEEPTTL')
end`;

let server: TestServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

describeSharedState("Redis", async () => {
  const open = () => openRedisSharedState({ url: server.url, log: new KeptLog() });
  const [here, there] = await Promise.all([open(), open()]);
  const client = new Redis(server.url);
  return {
    here,
    there,
    // Redis' own time: there is no other way than to let it pass.
    elapse: (ms) => wait(ms),
    jump: async (ms) => void (await client.eval(JUMP, 0, ms)),
    async close() {
      client.disconnect();
      await Promise.all([here.close(), there.close()]);
    },
  };
});
