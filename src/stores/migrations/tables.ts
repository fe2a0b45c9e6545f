/** The tables as the newest migration leaves them. Times are in ms; truth is 0 or 1, because SQLite has no booleans. */
import type { Generated } from "kysely";

export interface Tables {
  audit_blocks: AuditBlockTable;
  audit_heads: AuditHeadTable;
  audit_runs: AuditRunTable;
  audit_terms: AuditTermTable;
  audit_checkpoints: AuditCheckpointTable;
  tasks: TaskTable;
  deliveries: DeliveryTable;
  blobs: BlobTable;
  /** PostgreSQL only: one process keeps its blobs in files. */
  blob_chunks: BlobChunkTable;
  policy: PolicyTable;
  approvals: ApprovalTable;
  /** One row. */
  gateway_identity: GatewayTable;
  tokens: TokenTable;
  /** One row. */
  policy_version: PolicyVersionTable;
  blocks: BlockTable;
  /** One row. */
  block_version: BlockVersionTable;
  block_changes: BlockChangeTable;
  upstream_tokens: UpstreamTokenTable;
}

/** 0 in a time, "" in the role: there is none. */
export interface TokenTable {
  hash: string;
  id: string;
  tenant: string;
  user_name: string;
  client: string;
  /** JSON arrays, as are the scopes. */
  group_names: string;
  scopes: string;
  role: string;
  created_at: number;
  created_by: string;
  /** A JSON array. */
  makers: string;
  /** "" of those that are older than it. */
  named_by: string;
  /** A JSON array. */
  maker_names: string;
  expires_at: number;
  last_used_at: number;
}

export interface UpstreamTokenTable {
  id: string;
  server: string;
  tenant: string;
  client: string;
  user_id: string;
  principal: string;
  session_id: string;
  risk_class: number;
  scope_list: string;
  audience: string;
  expires_at: number;
  ciphertext: string;
  wrapped_key: string;
  nonce: string;
  /** Which key wrapped the data key. */
  kms_key_url: string;
  version: number;
  leased_until: number;
}

export interface ApprovalTable {
  /** Tells the older of two rows. */
  sequence: Generated<number>;
  id: string;
  tenant: string;
  principal: string;
  user_name: string;
  client: string;
  server: string;
  name: string;
  tool: string;
  digest: string;
  input: string;
  definition: string;
  key: string;
  /** The key while it is open. */
  open_key: string | null;
  policy_version: string;
  reason: string;
  capability: string;
  evidence: string;
  nonce: string;
  created_at: number;
  expires_at: number;
  state: string;
  decided_by: string;
  given: string;
  called_as: string;
  /** JSON; "" for nobody, and where a process of an older program has written it. */
  decider: string;
}

export interface GatewayTable {
  id: string;
}

export interface PolicyTable {
  tenant: string;
  kind: string;
  key: string;
  value: string;
  updated_at: number;
  updated_by: string;
}

export interface BlockTable {
  id: string;
  subject: string;
  key: string;
  tenant: string;
  server: string;
  protocol: string;
  primitive: string;
  reason: string;
  created_at: number;
  created_by: string;
  until: number;
}

export interface BlockVersionTable {
  version: number;
}

/** One row for each of the last versions. */
export interface BlockChangeTable {
  version: number;
  /** Of the block. */
  id: string;
}

export interface PolicyVersionTable {
  version: number;
}

export interface TaskTable {
  /** Tells the older of two rows. */
  sequence: Generated<number>;
  id: string;
  principal: string;
  member: string;
  is_over: number;
  state: string;
  expires_at: number;
  /** In characters. */
  result_size: Generated<number>;
  /** "" where there is none. */
  result: Generated<string>;
}

export interface DeliveryTable {
  /** Of one order, the smaller one goes first. */
  sequence: Generated<number>;
  id: string;
  channel: string;
  target: string;
  body: string;
  order_key: string;
  attempts: number;
  due_at: number;
  expires_at: number;
  last_error: string;
  /** On the store's own clock: whoever took it has it until then. 0: nobody. */
  leased_until: number;
  /** 0: it waits. */
  failed_at: number;
}

export interface BlobTable {
  id: string;
  bytes: number;
  digest: string;
  type: string;
  created_at: number;
}

export interface BlobChunkTable {
  blob: string;
  number: number;
  content: Uint8Array;
  /** On the store's own clock. */
  written_at: number;
}

export interface AuditBlockTable {
  sequence: Generated<number>;
  writer: string;
  number: number;
  count: number;
  spooled: number;
  at: number;
  until: number;
  previous: string;
  hash: string;
  signature: string;
  marks: string;
  /** SQLite: JSON. */
  terms: string | readonly number[];
  lines: string;
}

export interface AuditHeadTable {
  writer: string;
  number: number;
  hash: string;
  spooled: number;
  /** The number of the checkpoint that has seen it; 0: none has. */
  covered: number;
}

/** Blocks in the order of their sequence, up to `last`; the first run begins with the first block. */
export interface AuditRunTable {
  number: number;
  last: number;
  /** Of the earliest event in it, and of the latest. */
  at: number;
  until: number;
}

export interface AuditTermTable {
  run: number;
  term: number;
  /** The sequence of the block. */
  block: number;
}

export interface AuditCheckpointTable {
  number: number;
  at: number;
  text: string;
  signature: string;
}

/** What has been done to the database; in every version of it the same. */
export interface VersionTable {
  version: number;
  name: string;
}
