import { type Environment, ownEnvironment } from "../server/config/find-config.ts";

/** How a person calls this program: from a clone it is a script of npm, and what npx runs is on nobody's PATH. */
export function programName(env: Environment): string {
  const { npm_lifecycle_event: event, npm_package_name: owner = "isthmus" } = env;
  if (event === "npx") return ["npx", ...npxWords(env)].join(" ");
  // A script of somebody else's package has it on its PATH, and may be called the same.
  const isScript = owner === "isthmus" && (event === "isthmus" || event === "start");
  return isScript ? "npm run -s isthmus --" : "isthmus";
}

/** So every hint names it that says what to type. */
export const PROGRAM = programName(ownEnvironment());

/** What follows `npx`, for the package that runs now. */
export function npxWords({ npm_config_package: given }: Environment): string[] {
  return [...(given ? [`--package=${given}`] : []), "isthmus"];
}
