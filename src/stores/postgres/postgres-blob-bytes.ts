import { type BlobBytes, faultPoint, GatewayError, isBlobId } from "../../contract/index.ts";
import type { SqlEngine } from "../sql/index.ts";
import { regroup } from "./regroup.ts";

/** Large enough that a trip to the server is worth it, small enough that a few at once cost no memory. */
const CHUNK_BYTES = 256 * 1024;

/**
 * Bytes as rows of one table, a chunk each. Not PostgreSQL's large objects: those are named by numbers of their own, belong to
 * a role, stay behind when a row is deleted, are left out by logical replication, and the driver cannot stream them either.
 */
export class PostgresBlobBytes implements BlobBytes {
  readonly #engine: SqlEngine;

  constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  async write(id: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    refuse(id);
    try {
      let number = 0;
      for await (const content of regroup(chunks, CHUNK_BYTES)) await this.#insert(id, number++, content);
      // Also nothing at all leaves a trace, so that it can be told from what is not there.
      if (number === 0) await this.#insert(id, 0, new Uint8Array());
    } catch (error) {
      // What stays behind when this fails, too, is swept.
      await this.drop(id).catch(() => undefined);
      throw error;
    }
    faultPoint("blobs.bytes.written");
  }

  async read(id: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    refuse(id);
    const first = await this.#chunk(id, 0);
    return first && this.#chunks(id, first);
  }

  async drop(id: string): Promise<void> {
    refuse(id);
    await this.#engine.run(() => this.#database.deleteFrom("blob_chunks").where("blob", "=", id).execute());
  }

  async older(ageMs: number, limit: number, after = ""): Promise<readonly string[]> {
    const found = await this.#engine.run(() =>
      this.#database
        .selectFrom("blob_chunks")
        .select("blob")
        .where("number", "=", 0)
        .where("blob", ">", after)
        .where(({ eb }) => eb(eb("written_at", "+", Math.round(ageMs)), "<=", this.#engine.leaseClock()))
        .orderBy("blob")
        .limit(limit)
        .execute(),
    );
    return found.map(({ blob }) => blob);
  }

  get #database() {
    return this.#engine.database;
  }

  async #insert(blob: string, number: number, content: Uint8Array): Promise<void> {
    const written_at = this.#engine.leaseClock();
    const row = { blob, number, content: Buffer.from(content), written_at };
    await this.#engine.run(() => this.#database.insertInto("blob_chunks").values(row).execute());
  }

  async *#chunks(id: string, first: Uint8Array): AsyncGenerator<Uint8Array> {
    let chunk: Uint8Array | undefined = first;
    for (let number = 1; chunk; number++) {
      yield chunk;
      chunk = chunk.length < CHUNK_BYTES ? undefined : await this.#chunk(id, number);
    }
  }

  async #chunk(id: string, number: number): Promise<Uint8Array | undefined> {
    const found = await this.#engine.run(() =>
      this.#database
        .selectFrom("blob_chunks")
        .select("content")
        .where("blob", "=", id)
        .where("number", "=", number)
        .executeTakeFirst(),
    );
    return found?.content;
  }
}

function refuse(id: string): void {
  if (!isBlobId(id)) throw new GatewayError("BAD_CALL", { message: "That is not the id of a blob." });
}
