/** How many connections a process may hold: some of the files that it may open are for children, stores and servers. */
import { readdirSync, readFileSync } from "node:fs";

const MOST = 20_000;
/** Of a process that has others beside it: one for clients, one for the others. */
export const PORTS_OF_MEMBER = 2;
/** Of what is left when the gateway starts, the half is kept free, and no more than so many. */
const MAX_RESERVE = 1_024;

/** `limit`: of open files; `open`: those that are open already; `ports`: so many share what there is, and each has its part. */
export function connectionBound(limit: number, open: number, ports = 1): number {
  const left = limit - open;
  const room = left - Math.min(MAX_RESERVE, Math.ceil(left / 2));
  return Math.max(1, Math.min(MOST, Math.floor(room / ports)));
}

/** Of this process. Where the system does not tell: as if there were no limit. */
export function ownConnectionBound(ports = 1): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1")) ?? [];
    return limit === undefined ? MOST : connectionBound(Number(limit), readdirSync("/proc/self/fd").length, ports);
  } catch {
    return MOST;
  }
}
