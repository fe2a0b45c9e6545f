/**
 * The connection for commands. It never keeps anybody waiting: while Redis is away or silent, a command fails at once.
 * Recovers by itself: reconnects when the connection is lost, and asks a silent Redis once whether it is back.
 */
import type { Redis } from "ioredis";
import { faultPoint, type Log } from "../../contract/index.ts";
import { describeError, stateUnavailable } from "./redis-errors.ts";
import type { RedisScript } from "./redis-script.ts";

/** A connection that is silent for so many time limits is given up for a new one: the other side may be gone without a word. */
const GIVE_UP_AFTER = 3;

export class RedisLink {
  readonly #redis: Redis;
  readonly #timeoutMs: number;
  readonly #label: string;
  readonly #log: Log;
  readonly #listeners = new Set<(isUp: boolean) => void>();
  #wasAway = false;
  #isUp = false;
  #giveUp: NodeJS.Timeout | undefined;
  #trips = 0;

  constructor(options: { redis: Redis; timeoutMs: number; label: string; log: Log }) {
    this.#redis = options.redis;
    this.#timeoutMs = options.timeoutMs;
    this.#label = options.label;
    this.#log = options.log;
    this.#redis.on("ready", () => this.#tell(true, "connected"));
    this.#redis.on("close", () => this.#tell(false, "the connection was closed"));
    this.#redis.on("error", (error: Error) => this.#tell(false, describeError(error)));
    this.#isUp = this.#redis.status === "ready";
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** How often it was asked something. */
  get trips(): number {
    return this.#trips;
  }

  onHealth(listener: (isUp: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async run(script: RedisScript, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    faultPoint(script.sending);
    const answer = await this.ask((redis) =>
      redis.evalsha(script.digest, keys.length, ...keys, ...args).catch((error: Error) => {
        // A Redis that was restarted has forgotten its scripts.
        if (!error.message.startsWith("NOSCRIPT")) throw error;
        this.#trips += 1;
        return redis.eval(script.lua, keys.length, ...keys, ...args);
      }),
    );
    faultPoint(script.acknowledged);
    return answer;
  }

  ask<T>(send: (redis: Redis) => Promise<T>): Promise<T> {
    if (!this.#isUp) return Promise.reject(stateUnavailable("it is away"));
    this.#trips += 1;
    this.#gather();
    return new Promise<T>((resolve, reject) => {
      let isAnswered = false;
      const giveUp = () => {
        if (isAnswered) return;
        this.#suspect();
        reject(stateUnavailable(`it did not answer within ${this.#timeoutMs} ms`));
      };
      // After a process was busy or stopped, timers fire before sockets are read: the answer may be there already.
      const timer = setTimeout(() => setImmediate(giveUp), this.#timeoutMs);
      send(this.#redis).then(
        (answer) => {
          isAnswered = true;
          clearTimeout(timer);
          resolve(answer);
        },
        (error: unknown) => {
          isAnswered = true;
          clearTimeout(timer);
          reject(stateUnavailable(describeError(error)));
        },
      );
    });
  }

  /** Sends what may be lost. */
  tell(send: (redis: Redis) => Promise<unknown>): void {
    if (!this.#isUp) return;
    this.#trips += 1;
    this.#gather();
    send(this.#redis).catch(() => undefined);
  }

  close(): void {
    this.#listeners.clear();
    clearInterval(this.#giveUp);
    this.#redis.removeAllListeners("close");
    this.#redis.disconnect();
    this.#isUp = false;
  }

  /**
   * Commands of one turn leave together: a write of its own costs as much as all else of a command. Where the connection is
   * lost before, they fail with it, as all that is under way there.
   */
  #gather(): void {
    const { stream } = this.#redis;
    if (!stream || stream.writableCorked > 0) return;
    stream.cork();
    setImmediate(() => stream.uncork());
  }

  /** It answers in order: when it answers this, it has answered all that went before. */
  #suspect(): void {
    if (!this.#isUp) return;
    this.#tell(false, `no answer within ${this.#timeoutMs} ms`);
    this.#redis.ping().then(
      () => this.#tell(true, "it answers again"),
      () => undefined,
    );
  }

  #tell(isUp: boolean, reason: string): void {
    if (this.#isUp === isUp) return;
    this.#isUp = isUp;
    clearInterval(this.#giveUp);
    if (isUp) {
      // It begins with a connection, which is no news.
      if (this.#wasAway) this.#log.info("redis is back", { store: this.#label, reason });
    } else {
      this.#wasAway = true;
      this.#log.warn("redis is away", { store: this.#label, reason });
      const isSilent = () => this.#redis.status === "ready" || this.#redis.status === "connect";
      const giveUp = () => isSilent() && this.#redis.disconnect(true);
      this.#giveUp = setInterval(giveUp, this.#timeoutMs * GIVE_UP_AFTER).unref();
    }
    for (const listener of this.#listeners) listener(isUp);
  }
}
