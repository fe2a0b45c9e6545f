export { openRedisSharedState } from "./redis-shared-state.ts";
