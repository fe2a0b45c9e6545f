/**
 * A server that runs is not stopped because a file with one of its secrets is away: whoever writes or mounts it anew may have
 * taken it away for a moment. It goes on with what it has.
 */
import { comparable } from "./check-reload.ts";
import type { Config, ServerConfig } from "./config.ts";
import { type Problem, valueAt } from "./problem.ts";

/** The server with the secrets of the one that runs, where nothing but files is missing and its table is otherwise the same. */
export function withFormerSecrets(
  next: ServerConfig,
  faults: readonly Problem[],
  where: { readonly table: unknown; readonly running: Config | undefined },
): ServerConfig {
  const { fault, ...rest } = next;
  const former = where.running?.servers.find(({ id }) => id === next.id);
  if (fault === undefined || !former || former.fault !== undefined) return next;
  const isOnlyFiles = faults.every(({ path }) => Object.hasOwn(Object(valueAt(where.table, path)), "fromFile"));
  if (!isOnlyFiles || comparable(withoutSecrets(rest)) !== comparable(withoutSecrets(former))) return next;
  const { env, headers, auth } = former;
  return { ...rest, env, headers, ...(auth && { auth }), kept: fault };
}

function withoutSecrets({ env: _a, headers: _b, auth, kept: _c, ...rest }: ServerConfig): object {
  const { secrets: _d, ...ways } = auth ?? {};
  return { ...rest, ways };
}
