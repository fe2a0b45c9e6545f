/** The rooms of answers in Redis: the part of a script that makes place for an answer, and what goes in and comes out of it. */
import type { KeptRoom } from "../../contract/index.ts";
import type { RedisKeys } from "./redis-keys.ts";

// A room is a sorted set: the score is when an answer ends, in microseconds, the member is `bytes:key`. Beside it stands the
// sum of its bytes. The named call itself knows its rooms. Those whose time is over are gone by themselves, and are taken out
// of a room by the next that comes, some at a time.
//
// keep_answer(name, bytes, ttl, at): from that argument on the beginning of the names of rooms and of their sums, then for each
// room its name, how many answers and how many bytes. Gives back the numbers of those in which older answers had to go.
export const KEEP_ANSWER = `
local function keep_answer(name, bytes, ttl, at)
  local time = redis.call('TIME')
  local now = time[1] * 1000000 + time[2]
  local own, lists, sums, names = string.format('%.0f:', bytes) .. name, ARGV[at], ARGV[at + 1], {}
  for i = at + 2, #ARGV, 3 do
    local list, sum = lists .. ARGV[i], sums .. ARGV[i]
    names[#names + 1] = ARGV[i]
    if redis.call('ZADD', list, string.format('%.0f', now + ttl * 1000), own) == 1 then redis.call('INCRBY', sum, bytes) end
    if redis.call('PTTL', list) < tonumber(ttl) then
      redis.call('PEXPIRE', list, ttl)
      redis.call('PEXPIRE', sum, ttl)
    end
  end
  if #names > 0 then redis.call('HSET', name, 'rooms', table.concat(names, '\\n')) end
  local function leave(room, member)
    if redis.call('ZREM', lists .. room, member) == 1 then
      redis.call('DECRBY', sums .. room, string.match(member, '^%d+'))
    end
  end
  local crowded = {}
  for i = at + 2, #ARGV, 3 do
    local list, sum, is_full = lists .. ARGV[i], sums .. ARGV[i], false
    for _, old in ipairs(redis.call('ZRANGEBYSCORE', list, '-inf', string.format('%.0f', now), 'LIMIT', 0, 100)) do
      leave(ARGV[i], old)
    end
    while redis.call('ZCARD', list) > tonumber(ARGV[i + 1])
      or tonumber(redis.call('GET', sum) or '0') > tonumber(ARGV[i + 2]) do
      local oldest = redis.call('ZRANGE', list, 0, 0)[1]
      if oldest == own or not oldest then break end
      local forgotten = string.match(oldest, '^%d+:(.*)$')
      leave(ARGV[i], oldest)
      for room in string.gmatch(redis.call('HGET', forgotten, 'rooms') or '', '[^\\n]+') do leave(room, oldest) end
      -- Never one that runs.
      if redis.call('HEXISTS', forgotten, 'answer') == 1 then
        redis.call('DEL', forgotten)
        is_full = true
      end
    end
    if is_full then crowded[#crowded + 1] = (i - at - 2) / 3 + 1 end
  end
  return crowded
end
`;

export function roomArgs(rooms: readonly KeptRoom[], keys: RedisKeys): (string | number)[] {
  const bounds = rooms.flatMap(({ name, maxItems, maxBytes }) => [name, maxItems, maxBytes]);
  return [keys.keptPrefix, keys.keptBytesPrefix, ...bounds];
}

export function readCrowded(rooms: readonly KeptRoom[], answer: unknown): readonly KeptRoom[] {
  return Array.isArray(answer) ? rooms.filter((_room, index) => answer.includes(index + 1)) : [];
}
