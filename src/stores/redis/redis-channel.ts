/** Words between processes, on a connection of its own: one that listens cannot ask for anything else. */
import type { Redis } from "ioredis";
import type { Channel } from "../../contract/index.ts";
import { describeError, stateUnavailable } from "./redis-errors.ts";
import type { RedisKeys } from "./redis-keys.ts";
import type { RedisLink } from "./redis-link.ts";

/** It is made sure once in so many time limits that the other side is still there: it need not have anything to say. */
const CHECK_EVERY = 5;

export class RedisChannel implements Channel {
  readonly #redis: Redis;
  readonly #link: RedisLink;
  readonly #keys: RedisKeys;
  readonly #timeoutMs: number;
  readonly #hearers = new Map<string, Set<(text: string) => void>>();
  readonly #check: NodeJS.Timeout;

  constructor(options: { redis: Redis; link: RedisLink; keys: RedisKeys; timeoutMs: number }) {
    this.#redis = options.redis;
    this.#link = options.link;
    this.#keys = options.keys;
    this.#timeoutMs = options.timeoutMs;
    // The link tells of the same server's troubles.
    this.#redis.on("error", () => undefined);
    this.#redis.on("ready", () => this.#listenAgain());
    this.#redis.on("message", (key: string, text: string) => {
      for (const hear of this.#hearers.get(key) ?? []) hear(text);
    });
    this.#check = setInterval(() => this.#reconnectWhenSilent(), this.#timeoutMs * CHECK_EVERY).unref();
  }

  publish(topic: string, text: string): void {
    this.#link.tell((redis) => redis.publish(this.#keys.topic(topic), text));
  }

  async subscribe(topic: string, hear: (text: string) => void): Promise<() => Promise<void>> {
    const key = this.#keys.topic(topic);
    // A function of its own, so that one `hear` may be given twice and taken back once.
    const own = (text: string) => hear(text);
    const leave = async () => {
      const hearers = this.#hearers.get(key);
      if (!hearers?.delete(own) || hearers.size > 0) return;
      this.#hearers.delete(key);
      if (this.#redis.status === "ready") this.#redis.unsubscribe(key).catch(() => undefined);
    };
    const hearers = this.#hearers.get(key) ?? new Set();
    this.#hearers.set(key, hearers.add(own));
    try {
      // Also when others listen to it already: that may be on its way only.
      await this.#within(this.#redis.subscribe(key));
    } catch (error) {
      await leave();
      throw stateUnavailable(describeError(error));
    }
    return leave;
  }

  close(): void {
    clearInterval(this.#check);
    this.#hearers.clear();
    this.#redis.disconnect();
  }

  #listenAgain(): void {
    if (this.#hearers.size > 0) this.#redis.subscribe(...this.#hearers.keys()).catch(() => undefined);
  }

  #reconnectWhenSilent(): void {
    const { status } = this.#redis;
    if (status !== "ready" && status !== "connect") return;
    this.#within(this.#redis.ping()).catch(() => this.#redis.disconnect(true));
  }

  async #within<T>(answer: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${this.#timeoutMs} ms`)), this.#timeoutMs);
    });
    return Promise.race([answer, late]).finally(() => clearTimeout(timer));
  }
}
