import { performance } from "node:perf_hooks";
import type { Clock } from "../contract/index.ts";

/** Monotonic: setting the machine's time changes nothing. */
export const systemClock: Clock = { now: () => performance.now() };
