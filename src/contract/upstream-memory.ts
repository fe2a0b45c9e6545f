/** `turn`: grows with each process that takes the session over, so that two of them never number things alike. */
export type UpstreamRecall = { readonly state: string; readonly turn: number };

/**
 * What a process must know to go on with the upstream session that another opened for a client: state at the server
 * survives the death of a gateway process. `state` is JSON that only its provider reads. Kept for an hour after it was
 * last remembered. Every method makes a trip, rarely two, and rejects with STATE_UNAVAILABLE.
 */
export interface UpstreamMemory {
  /**
   * Resolves when it is durable. False: it is not ours (any more), and nothing was written. `isNew`: nothing is remembered
   * of it so far, as `recall` has said.
   */
  remember(provider: string, session: string, state: string, isNew: boolean): Promise<boolean>;
  /** What was remembered last; it is ours from then on, whoever had it. For whoever has the client's session. */
  recall(provider: string, session: string): Promise<UpstreamRecall | undefined>;
  /** The upstream session is over. Does nothing where it is another process's. */
  forget(provider: string, session: string): Promise<void>;
}
