export type { KeptTask, TaskStatus } from "./kept-task.ts";
export { KeptTasks } from "./kept-tasks.ts";
