import { looksSecret } from "../mechanisms/audit/index.ts";
import type { ServerConfig } from "./config/index.ts";

/**
 * What of all that a server is given nobody else may see: what its table refers to, and what is written there and is called, or
 * looks, like a secret. Everything else (a folder, a log level) may be read in what the server writes.
 */
export function secretsOf({ env, args }: Pick<ServerConfig, "env" | "args">): readonly string[] {
  const given = Object.entries(env).flatMap(([name, secret]) => {
    const value = secret.reveal();
    return isSecret(name, value) ? [value, ...secret.revealReferred()] : secret.revealReferred();
  });
  return [...given, ...args.flatMap((arg, index) => secretInArgument(arg, args[index - 1] ?? ""))];
}

/** `--token=…`, `--token …`, or a value that looks like one wherever it stands. */
function secretInArgument(arg: string, before: string): readonly string[] {
  const [, name = "", value = ""] = /^--?([\w-]+)=(.*)$/s.exec(arg) ?? [];
  if (name !== "") return looksSecret(name, value) ? [value] : [];
  const asked = /^--?([\w-]+)$/.exec(before)?.[1] ?? "";
  return !arg.startsWith("-") && looksSecret(asked, arg) ? [arg] : [];
}

/** Whether secrets stand in the config itself, instead of where it refers to. */
export function hasWrittenSecrets({
  servers,
}: {
  readonly servers: readonly Pick<ServerConfig, "env" | "headers">[];
}): boolean {
  return servers.some(({ env, headers }) =>
    [...Object.entries(env), ...Object.entries(headers)].some(
      ([name, secret]) => secret.revealReferred().length === 0 && isSecret(name, secret.reveal()),
    ),
  );
}

function isSecret(name: string, value: string): boolean {
  return value !== "" && (looksSecret(name, value) || /(^|_)(key|auth|pat)$/i.test(name));
}
