import { type Entries, faultPoint, type UpstreamMemory, type UpstreamRecall } from "../../contract/index.ts";

export type UpstreamMemoryOptions = {
  readonly entries: Entries;
  /** The id of this process; it changes when the process had to join anew. */
  readonly member: () => string;
  /** How long what is remembered outlives its last writing. */
  readonly ttlMs?: number;
};

const TTL_MS = 3_600_000;

/** Upstream sessions of clients as entries of shared state: whoever takes over the client's session may take them over. */
export function createUpstreamMemory({ entries, member, ttlMs = TTL_MS }: UpstreamMemoryOptions): UpstreamMemory {
  const keyOf = (provider: string, session: string) => `upstream:${session}:${provider}`;
  // An id that never joins: whoever has the client's session may always claim what belongs to it, also from a process that
  // lives and has given the session up; the former one writes in vain all the same.
  const owner = () => `${member()}/upstream`;

  async function create(key: string, by: string, value: string): Promise<boolean> {
    const entry = await entries.claim(key, by, { value, ttlMs });
    return entry?.owner === by && (entry.value === value || (await entries.put(key, by, value, ttlMs)));
  }

  return {
    async remember(provider, session, state, isNew): Promise<boolean> {
      const key = keyOf(provider, session);
      const by = owner();
      faultPoint("upstream.session.remembering");
      // Only what is new is claimed: a process that was taken for dead shall take nothing back from its heirs.
      const isOurs = isNew ? await create(key, by, state) : await entries.put(key, by, state, ttlMs);
      faultPoint("upstream.session.remembered");
      return isOurs;
    },

    async recall(provider, session): Promise<UpstreamRecall | undefined> {
      const by = owner();
      const entry = await entries.claim(keyOf(provider, session), by);
      if (entry?.owner !== by) return undefined;
      faultPoint("upstream.session.recalled");
      return { state: entry.value, turn: entry.fence };
    },

    async forget(provider, session): Promise<void> {
      await entries.drop(keyOf(provider, session), owner());
      faultPoint("upstream.session.forgotten");
    },
  };
}
