/** Messages that must reach somebody outside: kept until they do, tried again while they do not, at least once each. */
import { randomUUID } from "node:crypto";
import type { Clock, Log, Meter, Records, Timers } from "../../contract/index.ts";
import { GatewayError } from "../../contract/index.ts";
import { DELIVERY_LIMITS, type DeliveryLimits } from "./delivery-limits.ts";
import { DeliveryWorker } from "./delivery-worker.ts";

/** What a sender gets. The id is the same with each try: the receiver can tell by it what it has got before. */
export type OutboundMessage = {
  readonly id: string;
  readonly target: string;
  readonly body: string;
  /** 1 with the first. */
  readonly attempt: number;
};

/** Resolves when the receiver has it; throws otherwise, a `SendFailure` where it knows more. Must end when it is aborted. */
export type Sender = (message: OutboundMessage, signal: AbortSignal) => Promise<void>;

export type DeliveryOrder = {
  readonly channel: string;
  readonly target: string;
  readonly body: string;
  /** Messages of one order go one after the other. */
  readonly order?: string;
  /** What it is worth nothing after. */
  readonly ttlMs: number;
  /** To add it again after an error whose effect is not known. */
  readonly id?: string;
};

export interface Deliveries {
  /** Resolves to the id when the message is durable: from then on it is sent whatever happens to this process. */
  add(order: DeliveryOrder): Promise<string>;
  /** Begins to send what waits. Without it messages are only added. */
  start(): void;
  /** Takes nothing more, lets running sends end for a while, then aborts them. Safe to call twice. */
  close(): Promise<void>;
}

export type DeliveryOptions = {
  readonly records: Pick<Records, "deliveries" | "isUp" | "onHealth">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly meter: Meter;
  /** By channel. A message whose channel has none waits for a process that knows it. */
  readonly senders: ReadonlyMap<string, Sender>;
  /** From 0 to below 1. */
  readonly random?: () => number;
  /** Everybody's time, in ms; read once. */
  readonly now?: () => number;
  readonly limits?: Partial<DeliveryLimits>;
};

/** How many may be added before it is counted again what waits: a bound need not be exact. */
const ADDS_PER_COUNT = 100;

export function createDelivery(options: DeliveryOptions): Deliveries {
  const limits = { ...DELIVERY_LIMITS, ...options.limits };
  // From here on the time only goes forward, however the machine's is set.
  const epoch = (options.now ?? Date.now)() - options.clock.now();
  const now = () => Math.round(epoch + options.clock.now());
  const worker = new DeliveryWorker({ ...options, random: options.random ?? Math.random, limits, now });
  const { deliveries } = options.records;
  let adds = 0;

  return {
    async add({ channel, target, body, order = "", ttlMs, id = randomUUID() }) {
      if (Buffer.byteLength(body) > limits.maxBytes) {
        throw new GatewayError("BAD_CALL", { message: `The message is larger than ${limits.maxBytes} bytes.` });
      }
      if (adds++ % ADDS_PER_COUNT === 0 && (await deliveries.count()) >= limits.maxWaiting) {
        adds = 0;
        throw new GatewayError("OVERLOADED", { message: "Too many messages wait to be delivered." });
      }
      const dueAt = now();
      const message = { id, channel, target, body, order, dueAt, expiresAt: dueAt + ttlMs };
      await deliveries.add({ ...message, attempts: 0, lastError: "" });
      worker.wake();
      return id;
    },
    start: () => worker.start(),
    close: () => worker.close(),
  };
}
