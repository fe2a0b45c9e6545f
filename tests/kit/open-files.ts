/** The command that runs `command` where it may open only so many files; unset: as many as here. */
export function withOpenFiles(
  limit: number | undefined,
  [program, ...args]: readonly [program: string, ...args: string[]],
): { readonly program: string; readonly args: readonly string[] } {
  if (limit === undefined) return { program, args };
  return { program: "/bin/sh", args: ["-c", `ulimit -n ${limit}; exec "$0" "$@"`, program, ...args] };
}
