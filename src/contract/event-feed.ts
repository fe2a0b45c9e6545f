/** What happens in this process, as it happens: nothing is kept for who does not listen. */
export interface EventFeed {
  /** `json`: the event, as it stands on the audit trail. Gives back how to stop. */
  listen(hear: (event: FeedEvent) => void): () => void;
}

export type FeedEvent = { readonly type: string; readonly tenant: string; readonly json: string };
