export { MemoryApprovals } from "./memory-approvals.ts";
export { MemoryCounters } from "./memory-counters.ts";
export { createMemorySharedState } from "./memory-shared-state.ts";
