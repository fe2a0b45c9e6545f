/**
 * Every few seconds one process signs where all chains stand: what a checkpoint has seen cannot be taken away unnoticed. What is
 * older than it is kept goes with a checkpoint that says so, in one transaction.
 */
import {
  type AuditChange,
  type AuditCheckpoint,
  type AuditHead,
  faultPoint,
  GatewayError,
  type Log,
  type Records,
  type Timer,
  type Timers,
} from "../../contract/index.ts";
import { type CheckpointText, checkpointHash, checkpointText } from "./checkpoint-text.ts";
import type { RemovedText } from "./removed-blocks.ts";
import { findOld, type Removal } from "./retention.ts";
import type { Signer } from "./signing.ts";

export type CheckpointOptions = {
  readonly records: Pick<Records, "audit" | "write">;
  readonly signer: Signer;
  readonly timers: Timers;
  readonly log: Log;
  /** Everybody's time, in ms. */
  readonly now: () => number;
  /** How long events are kept; unset: for good. */
  readonly keepMs?: number | undefined;
  /** Done with each turn, before the chains are looked at. */
  readonly before: () => Promise<void>;
  /** And after it. */
  readonly after: () => Promise<void>;
  /** Keeps the newest one outside the store, too. */
  readonly kept?: { settle(): Promise<void> } | undefined;
};

export const CHECKPOINT_MS = 10_000;
/** Chains in one checkpoint: those that have moved since the last one. */
const MAX_HEADS = 1_000;
/** Of what is old, in one turn; what is left goes with the next ones. */
const MAX_REMOVALS = 32;

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
    if (!last || !isFresh(last, now())) await this.#signAndRemove(last);
    await this.#options.kept?.settle();
    await after();
  }

  async #signAndRemove(before: AuditCheckpoint | undefined): Promise<void> {
    const { records, now, keepMs } = this.#options;
    let last = before;
    for (let count = 0; count < MAX_REMOVALS && !this.#isClosed; count++) {
      const old = keepMs === undefined ? undefined : await findOld(records.audit, now() - keepMs);
      last = await this.#signAfter(last, old);
      if (!last || !old?.isFull) return;
      // Others have their turn in between.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #signAnyway(): Promise<void> {
    await this.#signAfter(await this.#options.records.audit.lastCheckpoint());
    await this.#options.kept?.settle();
  }

  /** Undefined where there was nothing to sign, or another process was faster. */
  async #signAfter(last: AuditCheckpoint | undefined, old?: Removal): Promise<AuditCheckpoint | undefined> {
    const { records, now, signer, log } = this.#options;
    const heads = await records.audit.uncovered(MAX_HEADS);
    if (heads.length === 0 && !old) return undefined;
    const checkpoint = makeCheckpoint({ last, heads, old, at: Math.round(now()), signer });
    const changes: AuditChange[] = [{ table: "audit", type: "checkpoint", checkpoint, heads }];
    if (old) changes.push({ table: "audit", type: "remove", edges: old.edges, sequence: old.sequence });
    faultPoint("audit.checkpoint.writing");
    // Missed where another process has written the same number: it has seen the same chains.
    const isWritten = await records.write(changes);
    faultPoint("audit.checkpoint.written");
    if (isWritten && old) log.debug("old audit events removed", { until: new Date(old.until).toISOString() });
    return isWritten ? checkpoint : undefined;
  }
}

/** By what was signed: whoever can write to the store could put off all further ones with another time. */
function isFresh({ text }: AuditCheckpoint, now: number): boolean {
  const age = now - Date.parse(checkpointText(text)?.at ?? "");
  return age >= 0 && age < CHECKPOINT_MS / 2;
}

type Making = {
  readonly last: AuditCheckpoint | undefined;
  readonly heads: readonly AuditHead[];
  /** What is removed together with it. */
  readonly old?: Removal | undefined;
  readonly at: number;
  readonly signer: Signer;
};

export function makeCheckpoint({ last, heads, old, at, signer }: Making): AuditCheckpoint {
  const number = (last?.number ?? 0) + 1;
  const said: CheckpointText = {
    number,
    at: new Date(at).toISOString(),
    previous: last ? checkpointHash(last) : "",
    heads: heads.map(({ writer, number: block, hash }) => ({ writer, block, hash })),
    ...(old && { removed: removedText(old) }),
  };
  const text = JSON.stringify(said);
  return { number, at, text, signature: signer.sign(text) };
}

function removedText({ until, edges }: Removal): RemovedText {
  const chains = edges.map(({ writer, number: block, hash }) => ({ writer, block, hash }));
  return { until: new Date(until).toISOString(), chains };
}
