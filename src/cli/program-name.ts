import type { Environment } from "../server/config/index.ts";

/** How a person calls this program: from a clone it is a script of npm. */
export function programName(env: Environment): string {
  return env.npm_lifecycle_event === "isthmus" || env.npm_lifecycle_event === "start"
    ? "npm run -s isthmus --"
    : "isthmus";
}
