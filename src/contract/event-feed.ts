/** What happens in this process, as it happens: nothing is kept for who does not listen. */
export interface EventFeed {
  /** `json`: the event, as it stands on the audit trail. Gives back how to stop. */
  listen(hear: (event: FeedEvent) => void): () => void;
}

export type FeedEvent = { readonly type: string; readonly tenant: string; readonly json: string };

/** What this process puts on the audit trail, once it is kept there: whole events, one a line of JSON, in MGP's words. */
export interface TrailFeed {
  /** Gives back how to stop. */
  listen(hear: (lines: readonly string[]) => void): () => void;
}
