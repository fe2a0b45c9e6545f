import { dirname } from "node:path";
import { isInherited } from "./inherited-names.ts";
import { userPath } from "./user-path.ts";

/** The environment of a child: what it may know of the parent's, then what the config adds. */
export function childEnvironment(
  parent: Readonly<Record<string, string | undefined>>,
  added: Readonly<Record<string, string>>,
): Record<string, string> {
  const environment: Record<string, string> = {};
  // In any case of letters: who sets HTTPS_PROXY for a server means https_proxy, too, which most programs look at first.
  const replaced = new Set(Object.keys(added).map((name) => name.toUpperCase()));
  for (const [name, value] of Object.entries(parent)) {
    // A value that starts like this is an exported shell function, which some shells would run.
    if (value === undefined || value.startsWith("()") || !isInherited(name)) continue;
    if (replaced.has(name.toUpperCase())) continue;
    environment[name] = name.toUpperCase() === "PATH" ? userPath(value, dirname(process.execPath)) : value;
  }
  return { ...environment, ...added };
}
