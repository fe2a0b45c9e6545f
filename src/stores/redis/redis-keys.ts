/** The names under which things are kept; all begin with the configured prefix. */
export type RedisKeys = ReturnType<typeof redisKeys>;

export function redisKeys(prefix: string) {
  const memberPrefix = `${prefix}member:`;
  return {
    memberPrefix,
    members: `${prefix}members`,
    member: (id: string) => `${memberPrefix}${id}`,
    entry: (key: string) => `${prefix}entry:${key}`,
    log: (log: string) => `${prefix}log:${log}`,
    logBytes: (log: string) => `${prefix}log-bytes:${log}`,
    openCalls: (session: string) => `${prefix}open:${session}`,
    namedCall: (key: string) => `${prefix}once:${key}`,
    keptPrefix: `${prefix}kept:`,
    keptBytesPrefix: `${prefix}kept-bytes:`,
    bucket: (key: string) => `${prefix}bucket:${key}`,
    ownBuckets: (tenant: string) => `${prefix}own-buckets:${tenant}`,
    places: (key: string) => `${prefix}places:${key}`,
    topic: (topic: string) => `${prefix}topic:${topic}`,
  };
}

/** Redis takes whole milliseconds, and takes 0 for an end that is past. */
export function wholeMs(ms: number): number {
  return Math.max(1, Math.ceil(ms));
}
