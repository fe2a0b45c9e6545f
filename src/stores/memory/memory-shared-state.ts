import type { Clock, SharedState } from "../../contract/index.ts";
import { MemoryCalls } from "./memory-calls.ts";
import { MemoryChannel } from "./memory-channel.ts";
import { MemoryEntries } from "./memory-entries.ts";
import { MemoryLogs } from "./memory-logs.ts";
import { MemoryMembers } from "./memory-members.ts";

/** Shared state of a gateway that keeps nothing: it ends with the process. */
export function createMemorySharedState(options: { readonly clock: Clock }): SharedState {
  const { clock } = options;
  const members = new MemoryMembers(clock);
  return {
    members,
    entries: new MemoryEntries(clock, members),
    logs: new MemoryLogs(clock),
    channel: new MemoryChannel(),
    calls: new MemoryCalls(clock, members),
    isUp: true,
    onHealth: () => () => undefined,
    close: async () => undefined,
  };
}
