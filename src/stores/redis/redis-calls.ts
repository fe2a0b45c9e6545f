import type { Admission, Admitted, CallLedger, OpenCall, Settlement } from "../../contract/index.ts";
import type { RedisKeys } from "./redis-keys.ts";
import { wholeMs } from "./redis-keys.ts";
import type { RedisLink } from "./redis-link.ts";
import { redisScript } from "./redis-script.ts";

/** How long the record of a call outlives the time it may run: whoever comes back late can still be told. */
const AFTERLIFE_MS = 60_000;

// KEYS: the named call, the open calls of the session; '' where there is none. An open call is a field of a hash:
// when it ends, its member and its facts, on a line each.
// ARGV: prefix of members, call, member, facts, time of the open call, digest, time of the named call.
const ADMIT = redisScript(
  "admit",
  `if KEYS[1] ~= '' then
     local named = redis.call('HMGET', KEYS[1], 'call', 'member', 'digest', 'answer')
     if named[1] then
       if named[3] ~= ARGV[6] then return { 'mismatch' } end
       if named[4] then return { 'done', named[4] } end
       -- The same call again: whoever admitted it has not heard that it was.
       if named[1] ~= ARGV[2] then
         local address = redis.call('GET', ARGV[1] .. named[2])
         if address then return { 'running', named[1], named[2], address } end
         return { 'lost', named[1] }
       end
     end
     redis.call('HSET', KEYS[1], 'call', ARGV[2], 'member', ARGV[3], 'digest', ARGV[6])
     redis.call('PEXPIRE', KEYS[1], ARGV[7])
   end
   if KEYS[2] ~= '' then
     local time = redis.call('TIME')
     local ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[5]
     redis.call('HSET', KEYS[2], ARGV[2], string.format('%.0f', ends) .. '\\n' .. ARGV[3] .. '\\n' .. ARGV[4])
     if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[5]) then redis.call('PEXPIRE', KEYS[2], ARGV[5]) end
   end
   return { 'open' }`,
);

// ARGV: call, '1' if there is an answer, the answer, its time.
const SETTLE = redisScript(
  "settle",
  `if KEYS[2] ~= '' then redis.call('HDEL', KEYS[2], ARGV[1]) end
   if KEYS[1] ~= '' and redis.call('HGET', KEYS[1], 'call') == ARGV[1] then
     if ARGV[2] == '1' then
       redis.call('HSET', KEYS[1], 'answer', ARGV[3])
       redis.call('PEXPIRE', KEYS[1], ARGV[4])
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

  async admit({ call, member, session, facts, once, ttlMs }: Admission): Promise<Admitted> {
    // Without session and name there is nothing by which anybody could ask for it later.
    if (session === undefined && once === undefined) return { type: "open" };
    const lifeMs = wholeMs(ttlMs + AFTERLIFE_MS);
    const naming = once === undefined ? [] : [once.digest, Math.max(wholeMs(once.ttlMs), lifeMs)];
    const args = [this.#keys.memberPrefix, call, member, facts, lifeMs, ...naming];
    return readAdmitted((await this.#link.run(ADMIT, this.#places(session, once?.key), args)) as string[]);
  }

  async settle({ call, session, once }: Settlement): Promise<void> {
    if (session === undefined && once === undefined) return;
    const answer = once?.answer === undefined ? ["0"] : ["1", once.answer, wholeMs(once.ttlMs)];
    await this.#link.run(SETTLE, this.#places(session, once?.key), [call, ...answer]);
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

function readAdmitted([type, first = "", second = "", third = ""]: readonly string[]): Admitted {
  switch (type) {
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
