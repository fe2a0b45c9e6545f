import type { Entries, OwnedEntry } from "../../contract/index.ts";
import type { RedisKeys } from "./redis-keys.ts";
import { wholeMs } from "./redis-keys.ts";
import type { RedisLink } from "./redis-link.ts";
import { redisScript } from "./redis-script.ts";

const GET = redisScript(
  "get",
  `local entry = redis.call('HMGET', KEYS[1], 'value', 'owner', 'fence')
   if not entry[1] then return false end
   return { entry[1], entry[2], tonumber(entry[3]), redis.call('GET', ARGV[1] .. entry[2]) }`,
);

// ARGV: prefix of members, who claims, '1' if it may be created, its value, its time.
const CLAIM = redisScript(
  "claim",
  `local entry = redis.call('HMGET', KEYS[1], 'value', 'owner', 'fence')
   local value, owner, fence = entry[1], entry[2], tonumber(entry[3] or '0')
   if not value then
     if ARGV[3] ~= '1' then return false end
     value, owner, fence = ARGV[4], ARGV[2], 1
     redis.call('HSET', KEYS[1], 'value', value, 'owner', owner, 'fence', fence)
     redis.call('PEXPIRE', KEYS[1], ARGV[5])
   elseif owner ~= ARGV[2] and redis.call('EXISTS', ARGV[1] .. owner) == 0 then
     owner = ARGV[2]
     redis.call('HSET', KEYS[1], 'owner', owner)
     fence = redis.call('HINCRBY', KEYS[1], 'fence', 1)
   end
   return { value, owner, fence, redis.call('GET', ARGV[1] .. owner) }`,
);

const PUT = redisScript(
  "put",
  `if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
   redis.call('HSET', KEYS[1], 'value', ARGV[2])
   return redis.call('PEXPIRE', KEYS[1], ARGV[3])`,
);

const TOUCH = redisScript(
  "touch",
  `if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
   return redis.call('PEXPIRE', KEYS[1], ARGV[2])`,
);

const RELEASE = redisScript(
  "release",
  `if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
   redis.call('HSET', KEYS[1], 'owner', '')
   return 1`,
);

const DROP = redisScript(
  "drop",
  `if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
   return redis.call('DEL', KEYS[1])`,
);

export class RedisEntries implements Entries {
  readonly #link: RedisLink;
  readonly #keys: RedisKeys;

  constructor(link: RedisLink, keys: RedisKeys) {
    this.#link = link;
    this.#keys = keys;
  }

  async get(key: string): Promise<OwnedEntry | undefined> {
    return readEntry(await this.#link.run(GET, [this.#keys.entry(key)], [this.#keys.memberPrefix]));
  }

  async claim(
    key: string,
    by: string,
    created?: { readonly value: string; readonly ttlMs: number },
  ): Promise<OwnedEntry | undefined> {
    const making = created === undefined ? ["0"] : ["1", created.value, wholeMs(created.ttlMs)];
    return readEntry(await this.#link.run(CLAIM, [this.#keys.entry(key)], [this.#keys.memberPrefix, by, ...making]));
  }

  async put(key: string, by: string, value: string, ttlMs: number): Promise<boolean> {
    return (await this.#link.run(PUT, [this.#keys.entry(key)], [by, value, wholeMs(ttlMs)])) === 1;
  }

  async touch(key: string, by: string, ttlMs: number): Promise<boolean> {
    return (await this.#link.run(TOUCH, [this.#keys.entry(key)], [by, wholeMs(ttlMs)])) === 1;
  }

  async release(key: string, by: string): Promise<boolean> {
    return (await this.#link.run(RELEASE, [this.#keys.entry(key)], [by])) === 1;
  }

  async drop(key: string, by: string): Promise<boolean> {
    return (await this.#link.run(DROP, [this.#keys.entry(key)], [by])) === 1;
  }
}

function readEntry(answer: unknown): OwnedEntry | undefined {
  if (answer === null) return undefined;
  const [value, owner, fence, address] = answer as [string, string, number, string | null];
  return { value, owner, fence, home: address === null ? undefined : { id: owner, address } };
}
