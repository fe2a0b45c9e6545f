/** A hook for tests: kills the process at one of the moments that `faultPoint` names, or writes down which are reached. */
import { appendFileSync } from "node:fs";
import { armFaultPoints } from "../contract/index.ts";

/** `point`: such as "sessions.create.after", or "redis.put.acknowledged#3" for the third time. `file`: gets each name. */
export function killAtFaultPoint(point = "", file = ""): void {
  const [name, times = "1"] = point.split("#");
  let left = Number(times);
  armFaultPoints((reached) => {
    if (file !== "") appendFileSync(file, `${reached}\n`);
    if (reached !== name) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
  });
}
