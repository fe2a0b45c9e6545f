/** Every few seconds one process signs where all chains stand: what a checkpoint has seen cannot be taken away unnoticed. */
import { createHash } from "node:crypto";
import {
  type AuditCheckpoint,
  type AuditHead,
  faultPoint,
  GatewayError,
  type Log,
  type Records,
  type Timer,
  type Timers,
} from "../../contract/index.ts";
import type { Signer } from "./signing.ts";

export type CheckpointOptions = {
  readonly records: Pick<Records, "audit" | "write">;
  readonly signer: Signer;
  readonly timers: Timers;
  readonly log: Log;
  /** Everybody's time, in ms. */
  readonly now: () => number;
  /** Done with each turn, before the chains are looked at. */
  readonly before: () => Promise<void>;
  /** And after it. */
  readonly after: () => Promise<void>;
};

export const CHECKPOINT_MS = 10_000;
/** Chains in one checkpoint: those that have moved since the last one. */
const MAX_HEADS = 1_000;

export class Checkpoints {
  readonly #options: CheckpointOptions;
  #timer: Timer | undefined;
  #signing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: CheckpointOptions) {
    this.#options = options;
  }

  /** From the first thing that is written on. */
  start(): void {
    if (this.#isClosed || this.#timer) return;
    this.#timer = this.#options.timers.after(CHECKPOINT_MS, () => {
      this.#timer = undefined;
      void this.#turn().finally(() => this.start());
    });
  }

  /** A last one: what is kept by then is covered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#signing;
    await this.#signAnyway().catch(() => undefined);
  }

  #turn(): Promise<void> {
    this.#signing = this.#sign().catch((error: unknown) => {
      this.#options.log.warn("no checkpoint of the audit trail", { code: GatewayError.from(error).code });
    });
    return this.#signing;
  }

  async #sign(): Promise<void> {
    const { records, now, before, after } = this.#options;
    await before();
    const last = await records.audit.lastCheckpoint();
    // Somebody else may just have done it.
    if (!last || now() - last.at >= CHECKPOINT_MS / 2) await this.#signAfter(last);
    await after();
  }

  async #signAnyway(): Promise<void> {
    await this.#signAfter(await this.#options.records.audit.lastCheckpoint());
  }

  async #signAfter(last: AuditCheckpoint | undefined): Promise<void> {
    const { records, now, signer } = this.#options;
    const heads = await records.audit.uncovered(MAX_HEADS);
    if (heads.length === 0) return;
    const checkpoint = makeCheckpoint({ last, heads, at: Math.round(now()), signer });
    faultPoint("audit.checkpoint.writing");
    // Missed where another process has written the same number: it has seen the same chains.
    await records.write([{ table: "audit", type: "checkpoint", checkpoint, heads }]);
    faultPoint("audit.checkpoint.written");
  }
}

type Making = {
  readonly last: AuditCheckpoint | undefined;
  readonly heads: readonly AuditHead[];
  readonly at: number;
  readonly signer: Signer;
};

export function makeCheckpoint({ last, heads, at, signer }: Making): AuditCheckpoint {
  const number = (last?.number ?? 0) + 1;
  const text = JSON.stringify({
    number,
    at: new Date(at).toISOString(),
    previous: last ? checkpointHash(last) : "",
    heads: heads.map(({ writer, number: block, hash }) => ({ writer, block, hash })),
  });
  return { number, at, text, signature: signer.sign(text) };
}

export function checkpointHash({ text }: AuditCheckpoint): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
