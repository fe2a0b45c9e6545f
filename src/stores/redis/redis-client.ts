import { isIP } from "node:net";
import type { Redis } from "ioredis";
import type { RedisPlace } from "./redis-url.ts";

/** How long a start waits for Redis, and how long a reconnection may take. */
const CONNECT_MS = 3_000;

export async function createClient(place: RedisPlace): Promise<Redis> {
  const { Redis: Client } = await import("ioredis");
  const redis = new Client(clientOptions(place));
  // The client listens for one error of a socket; a TLS handshake that is broken off has two, and nobody to catch the second.
  redis.on("connecting", () => setImmediate(() => redis.stream?.on("error", () => undefined)));
  return redis;
}

function clientOptions(place: RedisPlace) {
  return {
    host: place.host,
    port: place.port,
    db: place.database,
    ...(place.username === undefined ? {} : { username: place.username }),
    ...(place.password === undefined ? {} : { password: place.password }),
    ...(place.isSecure ? { tls: isIP(place.host) === 0 ? { servername: place.host } : {} } : {}),
    protocol: 2 as const,
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    keepAlive: 10_000,
    // A peer that is silent does not say goodbye either.
    disconnectTimeout: 100,
    // Nobody waits for a Redis that is away, and nothing is sent twice: what was under way fails when the connection does.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    retryStrategy: (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 6), 1_000),
    // After a change of masters the old one refuses writes.
    reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
  };
}

/** The client's own promise says only that the connection was closed; why, it tells those who listen for errors. */
export async function connect(redis: Redis): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let reason: Error | undefined;
  const note = (error: Error) => {
    reason = error;
  };
  redis.once("error", note);
  try {
    await Promise.race([
      redis.connect(),
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error("no answer in time")), CONNECT_MS);
      }),
    ]);
  } catch (error) {
    throw reason ?? error;
  } finally {
    clearTimeout(timer);
    redis.off("error", note);
  }
}
