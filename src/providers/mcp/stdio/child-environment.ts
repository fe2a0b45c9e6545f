/** What a child may know of our environment. Everything else, our credentials first, stays with us. */
const INHERITED = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"] as const;

/** The environment of a child: a few harmless variables of the parent, then what the config adds. */
export function childEnvironment(
  parent: Readonly<Record<string, string | undefined>>,
  added: Readonly<Record<string, string>>,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = parent[name];
    // A value that starts like this is an exported shell function, which some shells would run.
    if (value !== undefined && !value.startsWith("()")) environment[name] = value;
  }
  return { ...environment, ...added };
}
