/** How people call the program that this gateway is, for texts that tell them what to type. */
import { formatListen, type ListenAddress, reachableAt } from "../config/index.ts";

export type CalledAs = {
  /** From a clone it is a script of npm, say. */
  readonly program: string;
  /** Whether verbs read the address that this gateway was given, without being told where it stands. */
  readonly isFound: boolean;
};

/** What `--url` must say for a verb to reach a gateway that listens there; undefined: it finds it without. */
export function urlToType(
  { isFound = true }: Partial<CalledAs> = {},
  { listen: configured, tls }: { readonly listen: ListenAddress; readonly tls?: object },
  listen: ListenAddress | undefined,
): string | undefined {
  // A config with any free port, or with another one since it listens, leads verbs elsewhere.
  if (!listen || (isFound && configured.port === listen.port)) return undefined;
  return `${tls ? "https" : "http"}://${formatListen(reachableAt(listen))}`;
}
