import type { LogBounds, LogItem, Logs } from "../../contract/index.ts";
import type { RedisKeys } from "./redis-keys.ts";
import { wholeMs } from "./redis-keys.ts";
import type { RedisLink } from "./redis-link.ts";
import { redisScript } from "./redis-script.ts";

// A log is a sorted set: the number is the score, the member is `number:text`. Beside it stands the sum of its bytes.
// A number that is there already is the same item, given again by somebody who heard nothing the first time.
const APPEND = redisScript(
  "append",
  `local maxItems, maxBytes, ttl = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
   local bytes = tonumber(redis.call('GET', KEYS[2]) or '0')
   for i = 4, #ARGV, 2 do
     if redis.call('ZCOUNT', KEYS[1], ARGV[i], ARGV[i]) == 0 then
       redis.call('ZADD', KEYS[1], ARGV[i], ARGV[i] .. ':' .. ARGV[i + 1])
       bytes = bytes + #ARGV[i + 1]
     end
   end
   local items = redis.call('ZCARD', KEYS[1])
   while items > 0 and (items > maxItems or bytes > maxBytes) do
     local oldest = redis.call('ZPOPMIN', KEYS[1])[1]
     bytes = bytes - (#oldest - string.find(oldest, ':', 1, true))
     items = items - 1
   end
   if items == 0 then
     redis.call('DEL', KEYS[2])
   else
     redis.call('PEXPIRE', KEYS[1], ttl)
     redis.call('SET', KEYS[2], bytes, 'PX', ttl)
   end`,
);

const REMOVE = redisScript(
  "remove",
  `for _, item in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], ARGV[1])) do
     redis.call('ZREM', KEYS[1], item)
     redis.call('DECRBY', KEYS[2], #item - string.find(item, ':', 1, true))
   end
   if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('DEL', KEYS[2]) end`,
);

export class RedisLogs implements Logs {
  readonly #link: RedisLink;
  readonly #keys: RedisKeys;

  constructor(link: RedisLink, keys: RedisKeys) {
    this.#link = link;
    this.#keys = keys;
  }

  async append(log: string, items: readonly LogItem[], bounds: LogBounds): Promise<void> {
    const limits = [bounds.maxItems, bounds.maxBytes, wholeMs(bounds.ttlMs)];
    const args = items.flatMap(({ sequence, text }) => [sequence, text]);
    await this.#link.run(APPEND, [this.#keys.log(log), this.#keys.logBytes(log)], [...limits, ...args]);
  }

  async read(log: string, after: number): Promise<readonly LogItem[]> {
    const items = await this.#link.ask((redis) => redis.zrangebyscore(this.#keys.log(log), `(${after}`, "+inf"));
    return items.map((item) => {
      const colon = item.indexOf(":");
      return { sequence: Number(item.slice(0, colon)), text: item.slice(colon + 1) };
    });
  }

  async remove(log: string, sequence: number): Promise<void> {
    await this.#link.run(REMOVE, [this.#keys.log(log), this.#keys.logBytes(log)], [sequence]);
  }

  async drop(log: string): Promise<void> {
    await this.#link.ask((redis) => redis.del(this.#keys.log(log), this.#keys.logBytes(log)));
  }
}
