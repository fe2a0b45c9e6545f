export { createMemorySharedState } from "./memory-shared-state.ts";
