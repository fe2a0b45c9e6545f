import type { Clock, Counters, SharedState } from "../../contract/index.ts";
import { MemoryCalls } from "./memory-calls.ts";
import { MemoryChannel } from "./memory-channel.ts";
import { MemoryCounters } from "./memory-counters.ts";
import { MemoryEntries } from "./memory-entries.ts";
import { MemoryLogs } from "./memory-logs.ts";
import { MemoryMembers } from "./memory-members.ts";

export interface MemorySharedState extends SharedState {
  /** Further ones, for whoever knows which members are alive. */
  countersFor(isAlive: (member: string) => boolean): Counters;
}

/** Shared state of a gateway that keeps nothing: it ends with the process. */
export function createMemorySharedState(options: { readonly clock: Clock }): MemorySharedState {
  const { clock } = options;
  const members = new MemoryMembers(clock);
  return {
    members,
    entries: new MemoryEntries(clock, members),
    logs: new MemoryLogs(clock),
    channel: new MemoryChannel(),
    calls: new MemoryCalls(clock, members),
    countersFor: (isAlive) => new MemoryCounters({ clock, isAlive }),
    isUp: true,
    onHealth: () => () => undefined,
    close: async () => undefined,
  };
}
