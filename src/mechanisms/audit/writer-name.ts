import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

const MAX_HOST = 40;
const HOST =
  hostname()
    .replace(/[^A-Za-z0-9-]/g, "-")
    .slice(0, MAX_HOST) || "host";

/** A process in one of its lives: the machine, the process id, and something that no other has. */
export function newWriter(): string {
  return [HOST, process.pid, randomBytes(6).toString("hex")].join("_");
}

/**
 * Whether the process behind a writer is certainly gone. Its number means nothing on another machine, or in another container;
 * ours was somebody else's before.
 */
export function isGone(writer: string): boolean {
  const [host, number] = writer.split("_");
  if (host !== HOST) return false;
  const pid = Number(number);
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
