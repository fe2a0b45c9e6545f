import type { Delivery, Timer } from "../../contract/index.ts";
import { faultPoint, GatewayError } from "../../contract/index.ts";
import type { DeliveryOptions } from "./delivery.ts";
import { type DeliveryLimits, waitMs } from "./delivery-limits.ts";
import { reasonOf, SendFailure } from "./send-failure.ts";

export type WorkerOptions = Required<Omit<DeliveryOptions, "limits">> & { readonly limits: DeliveryLimits };

type Outcome = "sent" | "retried" | "failed" | "expired";

/** A send that runs here. */
type Send = { readonly abort: AbortController; readonly end: Promise<void> };

/** Why a send was broken off, or never begun. */
const ENDING = { error: new Error("the gateway ended before it was sent") };

/** Another process may know the channel, so this is no try; it is left to that one for a while. */
const STRANGE = { error: new SendFailure("no process here sends on this channel", { retryAfterMs: 1_000 }) };

// Invariants:
//  1. `#running` has what was taken here and whose outcome is not durable yet; it is never larger than `concurrency`.
//  2. At most one `take` is under way, in `#taking`.
//  3. While started and not taking, a timer is set: what others left, or became due, wakes nobody.
export class DeliveryWorker {
  readonly #options: WorkerOptions;
  readonly #running = new Map<string, Send>();
  #state: "new" | "started" | "closed" = "new";
  #taking: Promise<void> | undefined;
  #wasWoken = false;
  #look: { readonly timer: Timer; readonly at: number } | undefined;
  #closing: Promise<void> | undefined;
  #endHealth: () => void = () => undefined;
  readonly #closed = new AbortController();

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#state !== "new") return;
    this.#state = "started";
    this.#endHealth = this.#options.records.onHealth((isUp) => isUp && this.wake());
    this.wake();
  }

  /** Something may be due. */
  wake(): void {
    if (this.#state !== "started") return;
    this.#wasWoken = true;
    this.#taking ??= this.#work().finally(() => {
      this.#taking = undefined;
      if (this.#wasWoken && this.#running.size < this.#options.limits.concurrency) this.wake();
      else this.#lookAfter(this.#options.limits.lookEveryMs);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #work(): Promise<void> {
    const { limits, records } = this.#options;
    while (this.#wasWoken && this.#state === "started") {
      this.#wasWoken = false;
      const room = limits.concurrency - this.#running.size;
      // A send that ends wakes us again, and so does a store that is back.
      if (room <= 0 || !records.isUp) return;
      const taken = await this.#take(room);
      for (const delivery of taken) this.#begin(delivery);
      if (taken.length === room) this.#wasWoken = true;
    }
  }

  async #take(room: number): Promise<readonly Delivery[]> {
    const { records, limits, now, log } = this.#options;
    try {
      return await records.deliveries.take(now(), room, limits.leaseMs);
    } catch (error) {
      log.warn("deliveries wait for their store", { code: GatewayError.from(error).code });
      return [];
    }
  }

  #lookAfter(ms: number): void {
    const { clock, timers } = this.#options;
    const at = clock.now() + ms;
    if (this.#state !== "started" || (this.#look && this.#look.at <= at)) return;
    this.#look?.timer.cancel();
    const timer = timers.after(ms, () => {
      this.#look = undefined;
      this.wake();
    });
    this.#look = { timer, at };
  }

  #begin(delivery: Delivery): void {
    // Its lease ran out while its outcome could not be made durable. It is still on its way: it is not sent twice at once.
    if (this.#running.has(delivery.id)) return;
    const abort = new AbortController();
    const end = this.#deliver(delivery, abort).finally(() => {
      this.#running.delete(delivery.id);
      this.wake();
    });
    this.#running.set(delivery.id, { abort, end });
  }

  async #deliver(delivery: Delivery, abort: AbortController): Promise<void> {
    const { now, limits, records } = this.#options;
    const { id, attempts } = delivery;
    if (now() >= delivery.expiresAt) return this.#giveUp(delivery, "expired", delivery.lastError || "it expired");
    // More tries than have failed: they ended their processes. Those that were left to others do not count.
    if (attempts > limits.maxAttempts && delivery.lastError !== STRANGE.error.message) {
      return this.#giveUp(delivery, "failed", delivery.lastError || "no process survived sending it");
    }
    const failure = this.#state === "closed" ? ENDING : await this.#send(delivery, abort);
    if (failure === undefined) {
      faultPoint("delivery.message.sent");
      return this.#settle("sent", delivery, () => records.deliveries.done(id));
    }
    const reason = reasonOf(failure.error);
    const said = failure.error instanceof SendFailure ? failure.error : undefined;
    const isSpent = attempts >= limits.maxAttempts && failure !== STRANGE;
    if (said?.isHopeless || isSpent) return this.#giveUp(delivery, "failed", reason);
    // What our own end broke off is for the others at once.
    const wait =
      failure.error === ENDING.error ? 0 : waitMs(attempts, limits, this.#options.random, said?.retryAfterMs);
    const dueAt = now() + wait;
    if (dueAt >= delivery.expiresAt) return this.#giveUp(delivery, "expired", reason);
    await this.#settle("retried", delivery, () => records.deliveries.retry(id, dueAt, reason, attempts));
    this.#lookAfter(wait);
  }

  /** What went wrong, or undefined. Ends when it is aborted, whatever the sender does. */
  async #send(delivery: Delivery, abort: AbortController): Promise<{ error: unknown } | undefined> {
    const { senders, timers, limits } = this.#options;
    const sender = senders.get(delivery.channel);
    if (!sender) return STRANGE;
    const { id, target, body, attempts } = delivery;
    const limit = timers.after(limits.sendMs, () => abort.abort(new Error("the receiver took too long")));
    const aborted = new Promise<never>((_resolve, reject) => {
      abort.signal.addEventListener("abort", () => reject(abort.signal.reason), { once: true });
    });
    aborted.catch(() => undefined);
    try {
      faultPoint("delivery.message.sending");
      await Promise.race([sender({ id, target, body, attempt: attempts }, abort.signal), aborted]);
      return undefined;
    } catch (error) {
      return { error };
    } finally {
      limit.cancel();
    }
  }

  #giveUp(delivery: Delivery, outcome: "failed" | "expired", reason: string): Promise<void> {
    const { id, channel, attempts } = delivery;
    this.#options.log.warn("delivery given up", { deliveryId: id, channel, attempts, outcome });
    return this.#settle(outcome, delivery, () => this.#options.records.deliveries.fail(id, reason, attempts));
  }

  /**
   * Makes the outcome durable, however long the store is away: a message that has arrived would otherwise be sent again.
   * Only the end of the process leaves that to whoever takes it next.
   */
  async #settle(outcome: Outcome, { id, channel }: Delivery, write: () => Promise<void>): Promise<void> {
    const { meter, log, limits } = this.#options;
    meter.count("isthmus_deliveries_total", outcome);
    for (;;) {
      try {
        return await write();
      } catch (error) {
        const { code } = GatewayError.from(error);
        if (code !== "STATE_UNAVAILABLE" || this.#closed.signal.aborted) {
          return log.error("outcome of a delivery is not kept", { deliveryId: id, channel, outcome, code });
        }
        await this.#pause(limits.lookEveryMs);
      }
    }
  }

  #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { signal } = this.#closed;
    const timer = this.#options.timers.after(ms, resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    return promise.finally(() => timer.cancel());
  }

  async #close(): Promise<void> {
    this.#state = "closed";
    this.#endHealth();
    this.#look?.timer.cancel();
    const { timers, limits } = this.#options;
    const limit = timers.after(limits.closeMs, () => {
      this.#closed.abort();
      for (const { abort } of this.#running.values()) abort.abort(ENDING.error);
    });
    // What is just being taken goes back as soon as it is here.
    await this.#taking;
    await Promise.all([...this.#running.values()].map(({ end }) => end));
    limit.cancel();
    this.#closed.abort();
  }
}
