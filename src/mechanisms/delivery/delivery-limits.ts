export type DeliveryLimits = {
  /** Sends at one time, in this process. */
  readonly concurrency: number;
  readonly maxAttempts: number;
  /** How long one send may take. */
  readonly sendMs: number;
  /** How long nobody else gets what was taken: a send, and time for its outcome to become durable. */
  readonly leaseMs: number;
  /** How often it is looked for what others have left, and for what has become due. */
  readonly lookEveryMs: number;
  /** The longest wait before the second try; it doubles with each. */
  readonly firstWaitMs: number;
  readonly maxWaitMs: number;
  /** A receiver that asks for more gets this. */
  readonly maxRetryAfterMs: number;
  /** How long `close` lets sends end. */
  readonly closeMs: number;
  readonly maxBytes: number;
  /** Messages that wait, of all processes. */
  readonly maxWaiting: number;
};

export const DELIVERY_LIMITS: DeliveryLimits = {
  concurrency: 16,
  maxAttempts: 12,
  sendMs: 30_000,
  leaseMs: 60_000,
  lookEveryMs: 1_000,
  firstWaitMs: 1_000,
  maxWaitMs: 300_000,
  maxRetryAfterMs: 3_600_000,
  closeMs: 5_000,
  maxBytes: 1_048_576,
  maxWaiting: 100_000,
};

/** Anything between nothing and the bound, so that many which failed together do not come together again. */
export function waitMs(attempts: number, limits: DeliveryLimits, random: () => number, retryAfterMs = 0): number {
  const bound = Math.min(limits.maxWaitMs, limits.firstWaitMs * 2 ** Math.min(attempts - 1, 30));
  return Math.max(random() * bound, Math.min(Math.max(retryAfterMs, 0), limits.maxRetryAfterMs));
}
