export type { EndOrError } from "./call-end.ts";
export { callDigest, callName, ledgerKey } from "./call-name.ts";
export { CrowdedRooms } from "./kept-rooms.ts";
export type { KeptTask } from "./kept-task.ts";
export { KeptTasks } from "./kept-tasks.ts";
export { forgetLostCalls, type LostCall, lostCalls } from "./lost-calls.ts";
export { NamedCalls, ONCE_TTL_MS } from "./named-calls.ts";
export type { TaskFacts, TaskStatus } from "./task-facts.ts";
