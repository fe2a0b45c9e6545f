export type { Child, ChildExit } from "./spawn-child.ts";
export { spawnChild } from "./spawn-child.ts";
export { StderrLines } from "./stderr-lines.ts";
export { createTellingFilter } from "./telling-lines.ts";
export { WaitingLines } from "./waiting-lines.ts";
export type { Watchdog } from "./watchdog.ts";
export { createWatchdog } from "./watchdog.ts";
