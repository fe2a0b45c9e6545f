/** Whether a Redis keeps what it has acknowledged. Sessions and answers that a caller was told of depend on it. */
import type { RedisLink } from "./redis-link.ts";

const ACCEPT = "or set shared.volatile = true to accept that sessions and answers may be lost";

/**
 * Throws when it does not, unless that is accepted. Resolves to what the operator should know all the same.
 *
 * `appendfsync everysec` is accepted: Redis hands what it acknowledges to the kernel, so a kill loses nothing unless its disk
 * is too slow to keep up, and a power cut loses the last second or two. Whoever cannot have that sets `always`.
 * `appendfsync no` leaves it to the kernel how much is lost, and is refused.
 */
export async function checkDurability(link: RedisLink, label: string, isVolatile: boolean): Promise<readonly string[]> {
  const notes: string[] = [];
  const demand = (problem: string, cure: string) => {
    if (!isVolatile) throw new Error(`${label} ${problem}: ${cure}, ${ACCEPT}`);
    notes.push(`${label} ${problem}; shared.volatile accepts it`);
  };
  const info = await readInfo(link);
  if (info === undefined) {
    demand("forbids INFO, so it is not known whether it keeps what it acknowledges", "allow INFO to this user");
    return notes;
  }
  if (info.get("aof_enabled") !== "1")
    demand("does not write what it has to disk (appendonly no)", 'set "appendonly yes"');
  const policy = info.get("maxmemory_policy") ?? "unknown";
  if (policy !== "noeviction")
    demand(`may throw away entries when it is full (maxmemory-policy ${policy})`, 'set "maxmemory-policy noeviction"');
  const sync = await readSetting(link, "appendfsync");
  if (sync === undefined)
    notes.push(`${label} forbids CONFIG, so appendfsync is not known: a power cut may lose more than the last second`);
  else if (sync === "no")
    demand("syncs its file when it likes (appendfsync no)", 'set "appendfsync everysec" or "always"');
  else if (sync !== "always") notes.push(`${label} has appendfsync ${sync}: a power cut may lose the last second`);
  return notes;
}

async function readInfo(link: RedisLink): Promise<Map<string, string> | undefined> {
  const text = await unlessForbidden(link.ask((redis) => redis.info()));
  if (text === undefined) return undefined;
  const lines = text.split("\r\n").filter((line) => line.includes(":"));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
}

async function readSetting(link: RedisLink, name: string): Promise<string | undefined> {
  const answer = await unlessForbidden(link.ask((redis) => redis.config("GET", name)));
  return Array.isArray(answer) ? String(answer[1]) : undefined;
}

/** Some Redis do not let their users ask, or have renamed the command. Undefined then; what else went wrong is thrown. */
async function unlessForbidden<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : "";
    if (/NOPERM|unknown command/i.test(reason)) return undefined;
    throw error;
  }
}
