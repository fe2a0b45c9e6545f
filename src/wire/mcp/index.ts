export {
  ASK_METHODS,
  CALL_ROUTES,
  type CallRoute,
  COMPLETE_REFS,
  LIST_CHANGED,
  LIST_ROUTES,
  type ListRoute,
  LOG_LEVELS,
  RELATED_TASK,
  TASK_METHODS,
} from "./model.ts";
export type { Revision } from "./revision.ts";
export { ASSUMED_REVISION, LATEST_REVISION, revisionOf, VERSIONS } from "./revisions.ts";
