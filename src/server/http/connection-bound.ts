/**
 * How many connections a process may hold, from clients and to servers: some of the files that it may open are for children
 * and stores.
 */
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

/** How many to servers: the half of what connections of clients leave free. */
export function upstreamBound(limit: number, open: number): number {
  const free = limit - open - connectionBound(limit, open);
  return Math.max(1, Math.min(MOST, Math.floor(free / 2)));
}

/** Of this process. Where the system does not tell: as if there were no limit. */
export function ownConnectionBound(ports = 1): number {
  return ofThisProcess((limit, open) => connectionBound(limit, open, ports));
}

/** The same for those to servers. */
export function ownUpstreamBound(): number {
  return ofThisProcess(upstreamBound);
}

function ofThisProcess(bound: (limit: number, open: number) => number): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1")) ?? [];
    return limit === undefined ? MOST : bound(Number(limit), readdirSync("/proc/self/fd").length);
  } catch {
    return MOST;
  }
}
