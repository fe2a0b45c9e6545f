import { readFileSync } from "node:fs";
import type { Environment } from "../server/config/index.ts";

const LOOK_EVERY_MS = 250;
/** As the kernel names them; npm calls itself "npm start". */
const SHELL = /^(?:ba|da|a|k|z)?sh$/;

/**
 * npm starts a program through a shell, which ends by a signal without handing it on: a `kill` of `npm start` or of `npx
 * isthmus up` would leave the gateway with its port. So it ends, as it does on SIGTERM, when that shell is gone; and where
 * `/proc` tells, when npm is: killed by -9 it leaves its shell behind. A script of another package may mean it to stay
 * (`isthmus up & …`), and Windows tells nobody that a parent has ended.
 */
export function endWithNpm(env: Environment): void {
  if (!isStartedByNpm(env) || process.platform === "win32") return;
  const parent = process.ppid;
  const above = processOf(parent);
  // Without a shell npm is our parent, and whoever started that may end: `nohup npm start &`.
  const npm = typeof above === "object" && SHELL.test(above.name) ? above.parent : undefined;
  const timer = setInterval(() => {
    if (process.ppid === parent && (npm === undefined || isChildOf(npm, processOf(parent)))) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, LOOK_EVERY_MS).unref();
}

export function isStartedByNpm({ npm_lifecycle_event: event, npm_package_name: owner }: Environment): boolean {
  return event === "npx" || (owner === "isthmus" && (event === "start" || event === "isthmus"));
}

/** What nobody can tell just now, because no file can be opened, say, is no reason to end. */
export function isChildOf(parent: number, found: FoundProcess): boolean {
  return found === "unknown" || (found !== "gone" && found.parent === parent);
}

export type FoundProcess = { readonly name: string; readonly parent: number } | "gone" | "unknown";

export function processOf(pid: number, read = (file: string) => readFileSync(file, "latin1")): FoundProcess {
  try {
    // "<pid> (<name>) <state> <parent> …", and the name may have brackets of its own.
    const [, name = "", parent] = /^\d+ \((.*)\) \S (\d+) /s.exec(read(`/proc/${pid}/stat`)) ?? [];
    return parent === undefined ? "unknown" : { name, parent: Number(parent) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // It may end between the opening of the file and the reading.
    return code === "ENOENT" || code === "ESRCH" ? "gone" : "unknown";
  }
}
