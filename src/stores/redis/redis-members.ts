import type { Member, Membership } from "../../contract/index.ts";
import type { RedisKeys } from "./redis-keys.ts";
import { wholeMs } from "./redis-keys.ts";
import type { RedisLink } from "./redis-link.ts";
import { redisScript } from "./redis-script.ts";

const JOIN = redisScript(
  "join",
  `redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
   redis.call('SADD', KEYS[2], ARGV[1])`,
);

// What has expired is not there, so it cannot be renewed.
const RENEW = redisScript("renew", "return redis.call('PEXPIRE', KEYS[1], ARGV[1])");

const LEAVE = redisScript(
  "leave",
  `redis.call('DEL', KEYS[1])
   redis.call('SREM', KEYS[2], ARGV[1])`,
);

// Those whose lease is over leave the list with the first who looks.
const LIST = redisScript(
  "list",
  `local found = {}
   for _, id in ipairs(redis.call('SMEMBERS', KEYS[1])) do
     local address = redis.call('GET', ARGV[1] .. id)
     if address then
       found[#found + 1] = id
       found[#found + 1] = address
     else
       redis.call('SREM', KEYS[1], id)
     end
   end
   return found`,
);

export class RedisMembers implements Membership {
  readonly #link: RedisLink;
  readonly #keys: RedisKeys;

  constructor(link: RedisLink, keys: RedisKeys) {
    this.#link = link;
    this.#keys = keys;
  }

  async join(member: Member, leaseMs: number): Promise<void> {
    const keys = [this.#keys.member(member.id), this.#keys.members];
    await this.#link.run(JOIN, keys, [member.id, member.address, wholeMs(leaseMs)]);
  }

  async renew(id: string, leaseMs: number): Promise<boolean> {
    return (await this.#link.run(RENEW, [this.#keys.member(id)], [wholeMs(leaseMs)])) === 1;
  }

  async leave(id: string): Promise<void> {
    await this.#link.run(LEAVE, [this.#keys.member(id), this.#keys.members], [id]);
  }

  async find(id: string): Promise<Member | undefined> {
    const address = await this.#link.ask((redis) => redis.get(this.#keys.member(id)));
    return address === null ? undefined : { id, address };
  }

  async list(): Promise<readonly Member[]> {
    const found = (await this.#link.run(LIST, [this.#keys.members], [this.#keys.memberPrefix])) as string[];
    return Array.from({ length: found.length / 2 }, (_, index) => ({
      id: found[index * 2] ?? "",
      address: found[index * 2 + 1] ?? "",
    }));
  }
}
