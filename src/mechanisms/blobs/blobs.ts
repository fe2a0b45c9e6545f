/**
 * Large things that somebody will ask for later. First the bytes become durable, then the facts; when it is dropped, first
 * the facts go. So a crash leaves bytes that nobody knows, which the sweep removes, and never facts without bytes.
 */
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import type { BlobBytes, BlobFacts, BlobRows, Clock, Log } from "../../contract/index.ts";
import { faultPoint, GatewayError, isBlobId } from "../../contract/index.ts";
import { check, type Gauge, measure } from "./gauge.ts";

export type BlobSource = Uint8Array | AsyncIterable<Uint8Array>;

export type BlobTerms = { readonly type: string; readonly maxBytes: number };

export interface Blobs {
  /** Reads the source to its end. BAD_CALL when it is larger than it may be; nothing is left of it then. */
  put(source: BlobSource, terms: BlobTerms): Promise<BlobFacts>;
  /** The stream fails when what is there is not what was put. Undefined: there is no such blob. */
  get(id: string): Promise<{ readonly facts: BlobFacts; readonly stream: Readable } | undefined>;
  /** False: there was none. */
  drop(id: string): Promise<boolean>;
  /** Removes bytes that nobody knows; resolves to how many. */
  sweep(): Promise<number>;
}

export type BlobsOptions = {
  readonly rows: BlobRows;
  readonly bytes: BlobBytes;
  readonly clock: Clock;
  readonly log: Log;
  /** Everybody's time, in ms. */
  readonly now?: () => number;
  /** Bytes that nobody knows are left alone for so long: they may be about to be known. Nobody may put for half of it. */
  readonly graceMs?: number;
};

const GRACE_MS = 3_600_000;
const SWEPT_AT_ONCE = 500;

export function createBlobs(options: BlobsOptions): Blobs {
  return new BlobStore(options);
}

class BlobStore implements Blobs {
  readonly #options: BlobsOptions;
  readonly #graceMs: number;
  /** A sweep here leaves them alone whatever their age looks like: files are aged by a clock that can be set. */
  readonly #writing = new Set<string>();

  constructor(options: BlobsOptions) {
    this.#options = options;
    this.#graceMs = options.graceMs ?? GRACE_MS;
  }

  async put(source: BlobSource, { type, maxBytes }: BlobTerms): Promise<BlobFacts> {
    const id = randomBytes(16).toString("hex");
    const begun = this.#options.clock.now();
    this.#writing.add(id);
    try {
      const gauge: Gauge = { bytes: 0, digest: "" };
      await this.#options.bytes.write(id, measure(source, maxBytes, gauge));
      this.#refuseLate(begun);
      const facts = { id, ...gauge, type, createdAt: (this.#options.now ?? Date.now)() };
      faultPoint("blobs.facts.adding");
      await this.#options.rows.add(facts);
      faultPoint("blobs.facts.added");
      // A process that stood still meanwhile may have been taken for dead, and its bytes for nobody's.
      this.#refuseLate(begun);
      return facts;
    } catch (error) {
      await this.#forget(id);
      throw error;
    } finally {
      this.#writing.delete(id);
    }
  }

  async get(id: string): Promise<{ facts: BlobFacts; stream: Readable } | undefined> {
    if (!isBlobId(id)) return undefined;
    const facts = await this.#options.rows.get(id);
    if (!facts) return undefined;
    const chunks = await this.#options.bytes.read(id);
    if (!chunks) return undefined;
    return { facts, stream: Readable.from(check(chunks, facts), { objectMode: false }) };
  }

  async drop(id: string): Promise<boolean> {
    if (!isBlobId(id)) return false;
    const wasThere = await this.#options.rows.drop(id);
    faultPoint("blobs.facts.dropped");
    await this.#options.bytes.drop(id);
    return wasThere;
  }

  async sweep(): Promise<number> {
    const { rows, bytes, log } = this.#options;
    let count = 0;
    for (let after: string | undefined = ""; after !== undefined; ) {
      const ids: readonly string[] = await bytes.older(this.#graceMs, SWEPT_AT_ONCE, after);
      for (const id of ids) {
        if (this.#writing.has(id) || (await rows.get(id))) continue;
        await bytes.drop(id);
        count++;
      }
      after = ids.length < SWEPT_AT_ONCE ? undefined : ids.at(-1);
    }
    if (count > 0) log.info("blobs swept", { count });
    return count;
  }

  #refuseLate(begun: number): void {
    if (this.#options.clock.now() - begun < this.#graceMs / 2) return;
    throw new GatewayError("DEADLINE_PASSED", { message: "The blob took too long to come." });
  }

  /** As far as it goes: what stays behind is swept. Facts go first, as with any drop. */
  async #forget(id: string): Promise<void> {
    try {
      await this.#options.rows.drop(id);
      await this.#options.bytes.drop(id);
    } catch (error) {
      this.#options.log.warn("blob left to the sweep", { code: GatewayError.from(error).code });
    }
  }
}
