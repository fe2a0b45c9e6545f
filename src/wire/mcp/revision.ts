/** What sets one dated revision of MCP apart from its neighbours. */
export type Revision = {
  readonly version: string;
  /** Methods a client may send. Any other is unknown to this revision, and relayed as such where that is possible. */
  readonly methods: ReadonlySet<string>;
  /** Several messages in one array. */
  readonly hasBatches: boolean;
  /** An SSE stream starts with an event that has an id and no data, so that it can be resumed before anything happened. */
  readonly primesStreams: boolean;
};

/** A revision made from an earlier one. */
export function revise(
  from: Revision,
  change: Omit<Partial<Revision>, "methods"> & { version: string; add?: string[] },
): Revision {
  const { add = [], ...rest } = change;
  return { ...from, ...rest, methods: new Set([...from.methods, ...add]) };
}
