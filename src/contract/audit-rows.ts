/**
 * The trail as it is kept: events in blocks, blocks in one chain for each writer, and signed checkpoints over the heads of all
 * chains. An index of terms finds the blocks that may hold what is asked for.
 */
export type AuditBlock = {
  /** The process that wrote it, in one of its lives. */
  readonly writer: string;
  /** In its chain, from 0 without a gap. */
  readonly number: number;
  readonly count: number;
  /** How many events of the writer's spool are in the chain up to here: what comes after them is not kept yet. */
  readonly spooled: number;
  /** When the first and the last of its events happened, in ms of everybody's clock. */
  readonly at: number;
  readonly until: number;
  /** The hash of the block before it; "" for the first. */
  readonly previous: string;
  readonly hash: string;
  /** Of the hash: the key's id, a dot, and Ed25519 as base64url. */
  readonly signature: string;
  /** Eight hex digits for each line: they tell which one was altered, where the hash tells that one was. */
  readonly marks: string;
  /** Its events, with what they have in common written once. */
  readonly lines: string;
};

export type AuditHead = {
  readonly writer: string;
  readonly number: number;
  readonly hash: string;
  readonly spooled: number;
};

export type AuditCheckpoint = {
  /** From 1 without a gap. */
  readonly number: number;
  readonly at: number;
  /** JSON: the number, the time, the hash of the checkpoint before it, the heads it has seen, and what was removed with it. */
  readonly text: string;
  /** Of the text, as with blocks. */
  readonly signature: string;
};

/** A part of the index: the blocks after those of the run before, up to the sequence `last`. */
export type AuditRun = { readonly number: number; readonly last: number; readonly at: number; readonly until: number };

/** A block that is in no run yet. */
export type UnindexedBlock = AuditPlace & { readonly count: number; readonly until: number };

/** The last block of a chain that was removed: it, and all before it, were older than they are kept. */
export type AuditEdge = { readonly writer: string; readonly number: number; readonly hash: string };

/** One of the first blocks of all that are kept. */
export type OldBlock = AuditEdge & { readonly sequence: number; readonly count: number; readonly until: number };

/** Missed where the chain, or the row of checkpoints, does not end where it is to be continued. */
export type AuditChange = { readonly table: "audit" } & (
  | { readonly type: "block"; readonly block: AuditBlock; readonly terms: readonly number[] }
  | { readonly type: "run"; readonly run: AuditRun; readonly after: number }
  | { readonly type: "checkpoint"; readonly checkpoint: AuditCheckpoint; readonly heads: readonly AuditHead[] }
  /** With the checkpoint that says so. `sequence`: of the last of them; parts of the index that hold nothing else go, too. */
  | { readonly type: "remove"; readonly edges: readonly AuditEdge[]; readonly sequence: number }
);

/** A block by its place among all. */
export type AuditPlace = { readonly at: number; readonly sequence: number };

export type AuditSearch = {
  /** Blocks that have all of them, and blocks that are not in the index yet; none: every block. */
  readonly terms: readonly number[];
  /** Of the events, both inclusive. */
  readonly from: number;
  readonly to: number;
  /** Only what is older than this one. */
  readonly before?: AuditPlace;
  readonly limit: number;
};

export interface AuditRows {
  head(writer: string): Promise<AuditHead | undefined>;
  /** Ordered by writer. */
  heads(after: string, limit: number): Promise<readonly AuditHead[]>;
  /** Heads that no checkpoint has seen. */
  uncovered(limit: number): Promise<readonly AuditHead[]>;
  /** Every writer that has blocks, whatever the heads say; ordered. */
  writers(after: string, limit: number): Promise<readonly string[]>;
  /** The blocks of a chain from this number on. */
  chain(writer: string, from: number, limit: number): Promise<readonly AuditBlock[]>;
  /** With terms the last one that was written comes first, without the one whose events are the latest. */
  search(search: AuditSearch): Promise<readonly (AuditPlace & { readonly lines: string })[]>;
  lastRun(): Promise<AuditRun | undefined>;
  /** The first ones, in the order of their sequence. */
  unindexed(after: number, limit: number): Promise<readonly UnindexedBlock[]>;
  /** The first ones that are kept, in the order of their sequence. */
  oldest(limit: number): Promise<readonly OldBlock[]>;
  lastCheckpoint(): Promise<AuditCheckpoint | undefined>;
  /** From this number on, in order. */
  checkpoints(from: number, limit: number): Promise<readonly AuditCheckpoint[]>;
}
