/** How much stays alive of what was made. A short string that was cut from a long one keeps the long one. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes that are alive after `work` and were not before; what it made and nobody keeps does not count. */
export async function bytesHeldAfter(work: () => Promise<void> | void): Promise<number> {
  const before = bytesAlive();
  await work();
  // What only the last turn of the loop still held is let go.
  await new Promise((resolve) => setImmediate(resolve));
  return bytesAlive() - before;
}

function bytesAlive(): number {
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
