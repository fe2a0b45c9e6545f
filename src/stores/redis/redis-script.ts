import { createHash } from "node:crypto";

/** A script that Redis runs in one piece, so in one trip. The points are those at which a test may kill the process. */
export type RedisScript = {
  readonly lua: string;
  readonly digest: string;
  readonly sending: string;
  readonly acknowledged: string;
};

export function redisScript(name: string, lua: string): RedisScript {
  return {
    lua,
    digest: createHash("sha1").update(lua).digest("hex"),
    sending: `redis.${name}.sending`,
    acknowledged: `redis.${name}.acknowledged`,
  };
}
