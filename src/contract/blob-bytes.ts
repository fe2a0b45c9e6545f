/**
 * Where the bytes of blobs are; what is known of a blob stands in `Records`. Implemented on files and on PostgreSQL. Rejects
 * with STATE_UNAVAILABLE when it does not answer, and with BAD_CALL for what is no id.
 */
export interface BlobBytes {
  /** Resolves when they are durable. Where `chunks` throws, nothing is left and the same is thrown. */
  write(id: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** Undefined: they are not there. */
  read(id: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Also what an interrupted `write` left. */
  drop(id: string): Promise<void>;
  /** Ids of bytes that were begun at least so long ago, also of those that never became whole; in order, after `after`. */
  older(ageMs: number, limit: number, after?: string): Promise<readonly string[]>;
}

/** 128 bits in hex: nothing that could be a path or a part of a statement. */
export function isBlobId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}
