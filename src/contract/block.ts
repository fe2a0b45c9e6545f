import type { Principal } from "./principal.ts";

/** Whom a block is about; "upstream": a token with which servers are called, "everybody": a switch. */
export type BlockSubject = "client" | "user" | "principal" | "upstream" | "everybody";

/** Somebody, or everybody, may not any more. What of tenant, server, protocol and primitive is "" is not asked for. */
export type Block = {
  /** The same for the same subject and scope: a second one takes the place of the first. */
  readonly id: string;
  readonly subject: BlockSubject;
  /** A token's hash, a user, or the id of a principal; "" for everybody. */
  readonly key: string;
  readonly tenant: string;
  readonly server: string;
  readonly protocol: string;
  readonly primitive: string;
  readonly reason: string;
  /** Times are everybody's, in ms. */
  readonly createdAt: number;
  readonly createdBy: string;
  /** It is over then. */
  readonly until: number;
};

/** A block that takes another's place makes no difference to anybody but the reader of the list. */
export type BlockChange = { readonly table: "blocks" } & (
  | { readonly type: "put"; readonly block: Block }
  | { readonly type: "remove"; readonly id: string }
);

/** What leads from one version to another: those that are as told, and those that are there no more. */
export type BlocksChanged = {
  readonly version: number;
  readonly blocks: readonly Block[];
  readonly gone: readonly string[];
};

/** Every process has all of them in memory. */
export interface BlockRows {
  /** Those that are not over, oldest first, at most so many. */
  load(now: number, limit: number): Promise<{ readonly version: number; readonly blocks: readonly Block[] }>;
  /** Undefined: that is not known any more, or is so much that all can be read as well. */
  changes(since: number): Promise<BlocksChanged | undefined>;
  /** Cheap: asked every few seconds by each process, because a message about a block may be lost. */
  version(): Promise<number>;
  /** Forgets those that are over; resolves to how many. */
  expire(now: number): Promise<number>;
}

/** Who may not any more, as this process knows it: at most some seconds old. */
export interface Blocks {
  /** How many there are, with some that may be over. */
  readonly size: number;
  /** All that are about this caller, whatever of theirs they are about. */
  of(principal: Principal): readonly Block[];
  /** Grows whenever it may answer otherwise than before, but for blocks that are over. */
  readonly version: number;
  /** Asked before any other rule. `server`, `protocol` and `primitive` may be "": then only blocks without them are meant. */
  isBlocked(principal: Principal, server: string, protocol: string, primitive: string): Block | undefined;
  /** Nothing that this caller proves is worth anything: no scope is asked for. */
  isRevoked(principal: Principal): Block | undefined;
  /** For a token with which servers are called, by its hash. */
  isUpstreamRevoked(hash: string): boolean;
}

/** Forgets what it holds of somebody, and takes it back where it was issued. Bounded, and tried again by itself. */
export interface TokenRevoker {
  revokeTokensOf(block: Block): Promise<void>;
}
