import type {
  Admission,
  Admitted,
  CallLedger,
  Charge,
  KeptRoom,
  Limited,
  OpenCall,
  Settlement,
} from "../../contract/index.ts";
import { chargeArgs, chargeKeys, isCharged, readLimited, TAKE_CHARGE } from "./redis-charge.ts";
import { KEEP_ANSWER, readCrowded, roomArgs } from "./redis-kept-answers.ts";
import type { RedisKeys } from "./redis-keys.ts";
import { wholeMs } from "./redis-keys.ts";
import type { RedisLink } from "./redis-link.ts";
import { redisScript } from "./redis-script.ts";

/** How long the record of a call outlives the time it may run: whoever comes back late can still be told. */
const AFTERLIFE_MS = 60_000;

// KEYS: the named call, the open calls of the session; '' where there is none; buckets and places. An open call is a field
// of a hash: when it ends, its member and its facts, on a line each.
// ARGV: prefix of members, call, member, facts, time of the open call, digest, time of the named call, how many buckets and
// how many places, and what is to be known of those.
const ADMIT = redisScript(
  "admit",
  `${TAKE_CHARGE}
   local buckets, places = tonumber(ARGV[8]), tonumber(ARGV[9])
   if KEYS[1] ~= '' then
     local named = redis.call('HMGET', KEYS[1], 'call', 'member', 'digest', 'answer')
     if named[1] then
       if named[3] ~= ARGV[6] then return { 'mismatch' } end
       if named[4] then return { 'done', named[4] } end
       -- The same call again: whoever admitted it has not heard that it was. A call without a member was told to be lost.
       if named[1] ~= ARGV[2] or named[2] == '' then
         local address = named[2] ~= '' and redis.call('GET', ARGV[1] .. named[2])
         if address then return { 'running', named[1], named[2], address } end
         redis.call('HSET', KEYS[1], 'member', '')
         return { 'lost', named[1] }
       end
       -- It was charged then.
       buckets, places = 0, 0
     end
     local limited = take_charge(3, 10, buckets, places, ARGV[2], ARGV[3], ARGV[1])
     if limited then return limited end
     redis.call('HSET', KEYS[1], 'call', ARGV[2], 'member', ARGV[3], 'digest', ARGV[6])
     redis.call('PEXPIRE', KEYS[1], ARGV[7])
   else
     local limited = take_charge(3, 10, buckets, places, ARGV[2], ARGV[3], ARGV[1])
     if limited then return limited end
   end
   if KEYS[2] ~= '' then
     local time = redis.call('TIME')
     local ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[5]
     redis.call('HSET', KEYS[2], ARGV[2], string.format('%.0f', ends) .. '\\n' .. ARGV[3] .. '\\n' .. ARGV[4])
     if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[5]) then redis.call('PEXPIRE', KEYS[2], ARGV[5]) end
   end
   return { 'open' }`,
);

// ARGV: prefix of members, call, member, how many buckets and places.
const CHARGE = redisScript(
  "charge",
  `${TAKE_CHARGE}
   return take_charge(1, 6, tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[2], ARGV[3], ARGV[1])`,
);

// KEYS: as of an admission, and the places.
// ARGV: call, '1' if there is an answer, the answer, its time, the member, its rooms.
const SETTLE = redisScript(
  "settle",
  `${KEEP_ANSWER}
   for i = 3, #KEYS do redis.call('SREM', KEYS[i] .. ':' .. ARGV[5], ARGV[1]) end
   if KEYS[2] ~= '' then redis.call('HDEL', KEYS[2], ARGV[1]) end
   if KEYS[1] == '' then return end
   local named = redis.call('HMGET', KEYS[1], 'call', 'member')
   -- Somebody was told that it is lost, and so it stays.
   if named[1] == ARGV[1] and named[2] ~= '' then
     if ARGV[2] == '1' then
       redis.call('HSET', KEYS[1], 'answer', ARGV[3])
       redis.call('PEXPIRE', KEYS[1], ARGV[4])
       return keep_answer(KEYS[1], #ARGV[3] + #KEYS[1], ARGV[4], 6)
     else
       redis.call('DEL', KEYS[1])
     end
   end`,
);

const OPEN_OF = redisScript(
  "open-of",
  `local time = redis.call('TIME')
   local now = time[1] * 1000 + math.floor(time[2] / 1000)
   local fields, found = redis.call('HGETALL', KEYS[1]), {}
   for i = 1, #fields, 2 do
     local ends, member, facts = string.match(fields[i + 1], '^(%d+)\\n([^\\n]*)\\n(.*)$')
     if tonumber(ends) <= now then
       redis.call('HDEL', KEYS[1], fields[i])
     else
       found[#found + 1] = { fields[i], member, redis.call('EXISTS', ARGV[1] .. member), facts }
     end
   end
   return found`,
);

export class RedisCalls implements CallLedger {
  readonly #link: RedisLink;
  readonly #keys: RedisKeys;

  constructor(link: RedisLink, keys: RedisKeys) {
    this.#link = link;
    this.#keys = keys;
  }

  async admit(admission: Admission): Promise<Admitted> {
    const { call, member, session, facts, once, ttlMs, debits, slots } = admission;
    // Without session and name there is nothing by which anybody could ask for it later.
    if (session === undefined && once === undefined && !isCharged(admission)) return { type: "open" };
    const lifeMs = wholeMs(ttlMs + AFTERLIFE_MS);
    const naming = once === undefined ? ["", ""] : [once.digest, Math.max(wholeMs(once.ttlMs), lifeMs)];
    const counts = [debits?.length ?? 0, slots?.length ?? 0];
    const keys = [...this.#places(session, once?.key), ...chargeKeys(admission, this.#keys)];
    const args = [
      this.#keys.memberPrefix,
      call,
      member,
      facts,
      lifeMs,
      ...naming,
      ...counts,
      ...chargeArgs(admission, this.#keys),
    ];
    return readAdmitted(admission, (await this.#link.run(ADMIT, keys, args)) as string[]);
  }

  async charge(charge: Charge): Promise<Limited | undefined> {
    const { call, member, debits, slots } = charge;
    if (!isCharged(charge)) return undefined;
    const counts = [debits?.length ?? 0, slots?.length ?? 0];
    const args = [this.#keys.memberPrefix, call, member, ...counts, ...chargeArgs(charge, this.#keys)];
    const answer = (await this.#link.run(CHARGE, chargeKeys(charge, this.#keys), args)) as string[] | null;
    return answer === null ? undefined : readLimited(charge, answer);
  }

  async settle(settlement: Settlement): Promise<readonly KeptRoom[] | undefined> {
    const { call, session, once, member = "", slots = [] } = settlement;
    if (session === undefined && once === undefined && slots.length === 0) return undefined;
    const { rooms = [] } = once ?? {};
    const answer = once?.answer === undefined ? ["0", "", 0] : ["1", once.answer, wholeMs(once.ttlMs)];
    const keys = [...this.#places(session, once?.key), ...chargeKeys({ slots }, this.#keys)];
    const crowded = await this.#link.run(SETTLE, keys, [call, ...answer, member, ...roomArgs(rooms, this.#keys)]);
    return readCrowded(rooms, crowded);
  }

  async openOf(session: string): Promise<readonly OpenCall[]> {
    const found = await this.#link.run(OPEN_OF, [this.#keys.openCalls(session)], [this.#keys.memberPrefix]);
    return (found as [string, string, number, string][]).map(([call, member, isAlive, facts]) => ({
      call,
      member,
      isLost: isAlive === 0,
      facts,
    }));
  }

  #places(session: string | undefined, name: string | undefined): [string, string] {
    return [
      name === undefined ? "" : this.#keys.namedCall(name),
      session === undefined ? "" : this.#keys.openCalls(session),
    ];
  }
}

function readAdmitted(admission: Admission, answer: readonly string[]): Admitted {
  const [type, first = "", second = "", third = ""] = answer;
  switch (type) {
    case "limited":
      return readLimited(admission, answer);
    case "done":
      return { type, answer: first };
    case "running":
      return { type, call: first, home: { id: second, address: third } };
    case "lost":
      return { type, call: first };
    case "mismatch":
      return { type };
    default:
      return { type: "open" };
  }
}
