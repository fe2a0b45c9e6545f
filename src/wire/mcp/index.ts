export {
  ASK_METHODS,
  asksForPages,
  CALL_ROUTES,
  type CallRoute,
  COMPLETE_REFS,
  LIST_CHANGED,
  LIST_ROUTES,
  type ListRoute,
  LOG_LEVELS,
  RELATED_TASK,
  ROOTS_CHANGED,
} from "./model.ts";
export { ASSUMED_REVISION, isMethodOfProtocol, LATEST_REVISION, revisionOf, VERSIONS } from "./revisions.ts";
