/** Buckets and places in Redis: the part of a script that takes what a call takes, and what goes in and comes out of it. */
import { type Charge, LIMIT_LEVELS, type Limited, MAX_OWN_BUCKETS } from "../../contract/index.ts";
import type { RedisKeys } from "./redis-keys.ts";
import { wholeMs } from "./redis-keys.ts";

// A bucket is what was taken and has not come back, and when that was counted, as "<taken>:<ms>". In units of which a token
// has as many as its period has ms, so that all are whole numbers and the clock's ms are exact. A clock that was set back
// gives nothing, and takes nothing away.
//
// Places are a set of members under the key itself, and for each member a set of its calls. Those of a member whose lease is
// over are free: they go with the first who looks.
//
// take_charge(at_key, at, buckets, places, call, member, members): from that key and that argument on. For a bucket: its
// capacity, what is taken, what comes back in a ms, its time; all in units; and the set of those of a tenant's own, by when
// they were last used, or ''. For a place: how many there are, its time.
// Gives back nothing, or 'limited', the number of the first empty bucket (0: none), its ms, that of the first full place.
export const TAKE_CHARGE = `
local function take_charge(at_key, at, buckets, places, call, member, members)
  if buckets + places == 0 then return nil end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local taken, empty, wait, full = {}, 0, '', 0
  for i = 1, buckets do
    local capacity, amount = tonumber(ARGV[at + i * 5 - 5]), tonumber(ARGV[at + i * 5 - 4])
    local refill = tonumber(ARGV[at + i * 5 - 3])
    local before, since = string.match(redis.call('GET', KEYS[at_key + i - 1]) or '0:0', '^(%d+):(%d+)$')
    local left = math.max(0, before - math.max(0, now - since) * refill)
    local missing = left + amount - capacity
    if missing > 0 and empty == 0 then
      empty = i
      if refill > 0 then wait = string.format('%.0f', math.ceil(missing / refill)) end
    end
    taken[i] = string.format('%.0f:%.0f', left + amount, now)
  end
  local first = at + buckets * 5
  for i = 1, places do
    local key, held = KEYS[at_key + buckets + i - 1], 0
    for _, one in ipairs(redis.call('SMEMBERS', key)) do
      if one == member or redis.call('EXISTS', members .. one) == 1 then
        held = held + redis.call('SCARD', key .. ':' .. one)
      else
        redis.call('DEL', key .. ':' .. one)
        redis.call('SREM', key, one)
      end
    end
    local is_in = held > 0 and redis.call('SISMEMBER', key .. ':' .. member, call) == 1
    if not is_in and held >= tonumber(ARGV[first + i * 2 - 2]) and full == 0 then full = i end
  end
  if empty + full > 0 then return { 'limited', tostring(empty), wait, tostring(full) } end
  for i = 1, buckets do
    local key, ms, own = KEYS[at_key + i - 1], ARGV[at + i * 5 - 2], ARGV[at + i * 5 - 1]
    redis.call('SET', key, taken[i], 'PX', ms)
    if own ~= '' then
      redis.call('ZADD', own, now, key)
      if redis.call('PTTL', own) < tonumber(ms) then redis.call('PEXPIRE', own, ms) end
      if redis.call('ZCARD', own) > ${MAX_OWN_BUCKETS} then redis.call('DEL', redis.call('ZPOPMIN', own)[1]) end
    end
  end
  for i = 1, places do
    local key, ms = KEYS[at_key + buckets + i - 1], ARGV[first + i * 2 - 1]
    redis.call('SADD', key, member)
    redis.call('SADD', key .. ':' .. member, call)
    redis.call('PEXPIRE', key, ms)
    redis.call('PEXPIRE', key .. ':' .. member, ms)
  end
  return nil
end
`;

/** A place is held for longer than any call may run. */
const PLACE_MS = 26 * 60 * 60_000;
const NONE: readonly never[] = [];

type Taken = Pick<Charge, "debits" | "slots">;

export function chargeKeys({ debits = NONE, slots = NONE }: Taken, keys: RedisKeys): string[] {
  return [...debits.map(({ key }) => keys.bucket(key)), ...slots.map(({ key }) => keys.places(key))];
}

export function chargeArgs({ debits = NONE, slots = NONE }: Taken, keys: RedisKeys): (number | string)[] {
  const buckets = debits.flatMap(({ capacity, amount = 1, refill, periodMs, ttlMs, tenant, isOwn }) => [
    capacity * periodMs,
    amount * periodMs,
    refill,
    wholeMs(ttlMs),
    isOwn === true && tenant !== undefined ? keys.ownBuckets(tenant) : "",
  ]);
  return [...buckets, ...slots.flatMap(({ max }) => [max, PLACE_MS])];
}

export function isCharged({ debits = NONE, slots = NONE }: Taken): boolean {
  return debits.length > 0 || slots.length > 0;
}

/** Of what refuses by its rate and what refuses by its places, the one whose level comes first. */
export function readLimited({ debits = NONE, slots = NONE }: Taken, answer: readonly string[]): Limited {
  const [, empty = "0", wait = "", full = "0"] = answer;
  const debit = debits[Number(empty) - 1];
  const slot = slots[Number(full) - 1];
  const isPlace = slot && (!debit || LIMIT_LEVELS.indexOf(slot.level) < LIMIT_LEVELS.indexOf(debit.level));
  if (isPlace) return { type: "limited", of: "places", level: slot.level, key: slot.key };
  if (!debit) throw new Error("Redis names no limit that refuses");
  const { level, key } = debit;
  return { type: "limited", of: "bucket", level, key, ...(wait !== "" && { retryMs: Number(wait) }) };
}
