export type { Child, ChildExit } from "./spawn-child.ts";
export { spawnChild } from "./spawn-child.ts";
export type { Watchdog } from "./watchdog.ts";
export { createWatchdog } from "./watchdog.ts";
