import type { Log, SharedState } from "../../contract/index.ts";
import { RedisCalls } from "./redis-calls.ts";
import { RedisChannel } from "./redis-channel.ts";
import { connect, createClient } from "./redis-client.ts";
import { checkDurability } from "./redis-durability.ts";
import { RedisEntries } from "./redis-entries.ts";
import { describeError } from "./redis-errors.ts";
import { redisKeys } from "./redis-keys.ts";
import { RedisLink } from "./redis-link.ts";
import { RedisLogs } from "./redis-logs.ts";
import { RedisMembers } from "./redis-members.ts";
import { parseRedisUrl } from "./redis-url.ts";

export type RedisSharedStateOptions = {
  /** redis:// or rediss://, with user, password and database where there are any. */
  readonly url: string;
  /** Before every key and topic. */
  readonly prefix?: string;
  /** How long one command may take. */
  readonly timeoutMs?: number;
  readonly log: Log;
};

export interface RedisSharedState extends SharedState {
  /** How often Redis was asked something since the start. */
  readonly trips: number;
  /** See redis-durability.ts. */
  checkDurability(isVolatile: boolean): Promise<readonly string[]>;
}

/** Connects. Throws an error that names the place and the reason when Redis cannot be reached. */
export async function openRedisSharedState(options: RedisSharedStateOptions): Promise<RedisSharedState> {
  const { prefix = "isthmus:", timeoutMs = 1_000, log } = options;
  const place = parseRedisUrl(options.url);
  const [redis, hearing] = await Promise.all([createClient(place), createClient(place)]);
  const keys = redisKeys(prefix);
  const link = new RedisLink({ redis, timeoutMs, label: place.label, log });
  const channel = new RedisChannel({ redis: hearing, link, keys, timeoutMs });
  const close = async () => {
    channel.close();
    link.close();
  };
  try {
    await Promise.all([connect(redis), connect(hearing)]);
  } catch (error) {
    await close();
    throw new Error(`${place.label} cannot be reached: ${describeError(error)}`);
  }
  return {
    members: new RedisMembers(link, keys),
    entries: new RedisEntries(link, keys),
    logs: new RedisLogs(link, keys),
    channel,
    calls: new RedisCalls(link, keys),
    get isUp() {
      return link.isUp;
    },
    get trips() {
      return link.trips;
    },
    onHealth: (listener) => link.onHealth(listener),
    checkDurability: (isVolatile) => checkDurability(link, place.label, isVolatile),
    close,
  };
}
