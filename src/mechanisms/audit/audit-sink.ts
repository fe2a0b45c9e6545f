/** Where events go beside the store. Takes them when they are kept; never waits and never throws: what does not fit is counted. */
export interface AuditSink {
  /** False: nothing is made for it just now. Absent: it always wants everything. */
  readonly isWanted?: boolean;
  /** One event a line. */
  take(lines: string): void;
  close(): Promise<void>;
}
