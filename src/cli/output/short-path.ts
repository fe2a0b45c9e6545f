import { homedir } from "node:os";
import { join } from "node:path";

/** For people: paths below the home folder begin with ~, as they would type them. */
export function shortPath(text: string, home = homedir()): string {
  return home.length > 1 ? text.replaceAll(join(home, "/"), "~/") : text;
}
