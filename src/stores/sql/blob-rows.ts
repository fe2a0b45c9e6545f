import type { Selectable } from "kysely";
import { type BlobFacts, type BlobRows, faultPoint } from "../../contract/index.ts";
import type { BlobTable } from "../migrations/index.ts";
import { refuseNul, type SqlEngine } from "./sql-engine.ts";

export class SqlBlobRows implements BlobRows {
  readonly #engine: SqlEngine;

  constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  async add(facts: BlobFacts): Promise<void> {
    refuseNul(facts);
    const { id, bytes, digest, type, createdAt } = facts;
    faultPoint("records.blob.adding");
    await this.#engine.run(() =>
      this.#database
        .insertInto("blobs")
        .values({ id, bytes, digest, type, created_at: Math.round(createdAt) })
        .onConflict((conflict) => conflict.column("id").doNothing())
        .execute(),
    );
    faultPoint("records.blob.added");
  }

  async get(id: string): Promise<BlobFacts | undefined> {
    const found = await this.#engine.run(() =>
      this.#database.selectFrom("blobs").selectAll().where("id", "=", id).executeTakeFirst(),
    );
    return found && factsOf(found);
  }

  async drop(id: string): Promise<boolean> {
    faultPoint("records.blob.dropping");
    const { numDeletedRows } = await this.#engine.run(() =>
      this.#database.deleteFrom("blobs").where("id", "=", id).executeTakeFirstOrThrow(),
    );
    faultPoint("records.blob.dropped");
    return numDeletedRows > 0n;
  }

  async list(limit: number, after = ""): Promise<readonly BlobFacts[]> {
    const found = await this.#engine.run(() =>
      this.#database.selectFrom("blobs").selectAll().where("id", ">", after).orderBy("id").limit(limit).execute(),
    );
    return found.map(factsOf);
  }

  get #database() {
    return this.#engine.database;
  }
}

function factsOf({ id, bytes, digest, type, created_at }: Selectable<BlobTable>): BlobFacts {
  return { id, bytes, digest, type, createdAt: created_at };
}
