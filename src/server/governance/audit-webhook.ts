/** Gives blocks of the audit trail on to a receiver: each is kept with its block, and sent until it has arrived. */
import { randomUUID } from "node:crypto";
import type { AuditBlock, Change, Records } from "../../contract/index.ts";
import { wholeLines } from "../../mechanisms/audit/index.ts";
import { createDelivery, type Deliveries, type OutboundMessage, SendFailure } from "../../mechanisms/delivery/index.ts";
import type { Ports } from "../extensions.ts";

export type WebhookOptions = Ports & {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly records: Pick<Records, "deliveries" | "isUp" | "onHealth">;
};

const CHANNEL = "audit";
/** What could not be delivered in a week is given up. */
const TTL_MS = 7 * 24 * 60 * 60_000;
/** Time alone decides: a receiver that is away for hours is tried very often. */
const ANY_NUMBER = Number.POSITIVE_INFINITY;
/** Messages that wait, of all processes; beyond that new ones are dropped and counted. */
const MAX_WAITING = 50_000;
/** How many are added before it is counted again what waits: a bound need not be exact. */
const ADDS_PER_COUNT = 100;

export class AuditWebhook {
  readonly #options: WebhookOptions;
  readonly #deliveries: Deliveries;
  #adds = 0;
  #isFull = false;

  constructor(options: WebhookOptions) {
    this.#options = options;
    const senders = new Map([
      [CHANNEL, (message: OutboundMessage, signal: AbortSignal) => this.#send(message, signal)],
    ]);
    this.#deliveries = createDelivery({ ...options, senders, limits: { maxAttempts: ANY_NUMBER } });
  }

  /** What is written together with the block. */
  readonly beside = ({ writer, number, hash, lines }: AuditBlock): readonly Change[] => {
    if (this.#adds++ % ADDS_PER_COUNT === 0) void this.#count();
    if (this.#isFull) {
      this.#options.meter.count("isthmus_audit_dropped_total", "webhook");
      return [];
    }
    const head = JSON.stringify({ writer, block: number, hash }).slice(0, -1);
    const body = `${head},"events":[${wholeLines(lines).join(",")}]}`;
    const now = Date.now();
    const times = { dueAt: now, expiresAt: now + TTL_MS };
    const message = { id: randomUUID(), channel: CHANNEL, target: "", body, order: "" };
    return [{ table: "deliveries", type: "add", delivery: { ...message, ...times, attempts: 0, lastError: "" } }];
  };

  open(): void {
    this.#deliveries.start();
  }

  close(): Promise<void> {
    return this.#deliveries.close();
  }

  async #count(): Promise<void> {
    const waiting = await this.#options.records.deliveries.count().catch(() => 0);
    this.#isFull = waiting >= MAX_WAITING;
  }

  async #send({ id, body }: OutboundMessage, signal: AbortSignal): Promise<void> {
    const { url, headers } = this.#options;
    const sent = { ...headers, "content-type": "application/json", "idempotency-key": id };
    const response = await fetch(url, { method: "POST", headers: sent, body, redirect: "error", signal });
    await response.body?.cancel();
    if (response.ok) return;
    const seconds = Number(response.headers.get("retry-after") ?? 0);
    throw new SendFailure(`the receiver answered ${response.status}`, {
      isHopeless: response.status === 413 || response.status === 410,
      ...(seconds > 0 && { retryAfterMs: seconds * 1_000 }),
    });
  }
}
