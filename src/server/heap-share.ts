/** What may be kept in memory depends on how much of it the process may have. */
import { getHeapStatistics } from "node:v8";

/** A part of that, in bytes. */
export function heapShare(part: number): number {
  return Math.floor(getHeapStatistics().heap_size_limit * part);
}
